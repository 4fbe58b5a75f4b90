"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_bag_of_vectors_syntax",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="A bag of word vectors knows a good deal of syntax: ten points or more above the majority.",
    statistic=Difference(
        Models("bag of vectors", "BoV-fastText"),
        Models("majority", "Majority vote"),
        tasks=("tree_depth", "top_constituents", "past_present", "subj_number", "obj_number"),
        table="2",
        margin=0.1,
    ),
)
