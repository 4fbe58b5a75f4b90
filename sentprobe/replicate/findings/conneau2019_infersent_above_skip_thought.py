"""conneau2019, section 3.2, table 3.7."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_infersent_above_skip_thought",
    paper="conneau2019",
    where="section 3.2, table 3.7",
    sentence="An encoder trained on inference transfers better than SkipThought on most tasks.",
    statistic=Difference(
        Models("inference", "BiLSTM-Max (on AllNLI)"),
        Models("SkipThought", "SkipThought-LN"),
        tasks=("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "SICKEntailment", "SICKRelatedness"),
        table="3.7",
        cells="most",
    ),
)
