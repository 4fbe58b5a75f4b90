"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_seq2tree_above_people",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Encoders trained to parse are above human performance on tasks whose labels come from a parser.",
    statistic=Difference(
        Models("parsing", "{architecture} Seq2Tree"),
        Models("people", "Hum. Eval."),
        tasks=("tree_depth", "top_constituents", "past_present", "subj_number", "obj_number"),
        table="2",
    ),
    note="People judged 200 sentences per task.",
)
