"""xprobe2019, read from table 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_max_pooling",
    paper="xprobe2019",
    where="read from table 4",
    sentence="Max pooling of a recurrent encoder beats its last state on all tasks that it learns.",
    statistic=Difference(
        Models("max pooling", "RNN (maxpool)"),
        Models("last state", "RNN (last)"),
        tasks=(
            "coordination_inversion",
            "obj_number",
            "past_present",
            "sentence_length",
            "subj_number",
            "word_content",
            "tree_depth",
        ),
        table="4",
    ),
)
