"""conneau2018, appendix, table 5."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="conneau2018_nli_transfer",
    paper="conneau2018",
    where="appendix, table 5",
    sentence="Natural language inference is the best objective for transfer tasks.",
    statistic=BestOf(
        Models("NLI", "BiLSTM-max NLI"),
        Models("other objectives", "BiLSTM-max {objective}", without=("BiLSTM-max NLI",)),
        tasks=(
            "MR",
            "CR",
            "SUBJ",
            "MPQA",
            "SST2",
            "SST5",
            "TREC",
            "MRPC",
            "SICKEntailment",
            "SICKRelatedness",
            "STSBenchmark",
        ),
        table="5",
    ),
)
