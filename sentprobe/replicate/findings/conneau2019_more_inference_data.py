"""conneau2019, section 3.2, table 3.7."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_more_inference_data",
    paper="conneau2019",
    where="section 3.2, table 3.7",
    sentence="With MultiNLI in addition to SNLI, an encoder transfers better on average.",
    statistic=Difference(
        Models("SNLI and MultiNLI", "BiLSTM-Max (on AllNLI)"),
        Models("SNLI", "BiLSTM-Max (on SNLI)"),
        tasks=("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC", "SICKEntailment"),
        table="3.7",
        cells="mean",
    ),
)
