"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_architecture_prior",
    paper="conneau2018",
    where="section 4, table 2",
    sentence=(
        "Untrained, a BiLSTM with max pooling is a better encoder than a gated convolutional network, "
        "but for sentence length."
    ),
    statistic=Difference(
        Models("untrained BiLSTM", "BiLSTM-max Untrained"),
        Models("untrained convolutions", "GatedConvNet Untrained"),
        tasks=(
            "word_content",
            "tree_depth",
            "top_constituents",
            "bigram_shift",
            "past_present",
            "subj_number",
            "obj_number",
            "odd_man_out",
            "coordination_inversion",
        ),
        table="2",
    ),
)
