"""conneau2019, section 3.2, table 3.7."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_inference_above_untrained",
    paper="conneau2019",
    where="section 3.2, table 3.7",
    sentence="Training on inference makes a BiLSTM with max pooling better at every transfer task.",
    statistic=Difference(
        Models("trained on SNLI", "BiLSTM-Max (on SNLI)"),
        Models("untrained", "BiLSTM-Max (untrained)"),
        tasks=("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC", "SICKEntailment", "SICKRelatedness"),
        table="3.7",
    ),
)
