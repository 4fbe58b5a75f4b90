"""xprobe2019, section 8, table 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_convolutions_worst",
    paper="xprobe2019",
    where="section 8, table 4",
    sentence=(
        "Convolutional encoders are worse than recurrent and attentive ones on all tasks that any of them learns."
    ),
    statistic=Difference(
        Models("convolutions", "CNN ({pooling})"),
        Models("recurrence and attention", ("RNN ({state})", "Attention ({state})")),
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
        expect="below",
    ),
)
