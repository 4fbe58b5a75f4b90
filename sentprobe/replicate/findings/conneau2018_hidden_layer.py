"""conneau2018, appendix, tables 2 and 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_hidden_layer",
    paper="conneau2018",
    where="appendix, tables 2 and 4",
    sentence=(
        "A hidden layer in the probe gains more than three points on tree depth, odd man out and "
        "coordination inversion only."
    ),
    statistic=(
        Difference(
            Models("MLP", "BiLSTM-max NMT En-Fr", table="2"),
            Models("logistic regression", "BiLSTM-max NMT En-Fr", table="4"),
            tasks=("tree_depth", "odd_man_out", "coordination_inversion"),
            margin=0.03,
        ),
        Difference(
            Models("MLP", "BiLSTM-max NMT En-Fr", table="2"),
            Models("logistic regression", "BiLSTM-max NMT En-Fr", table="4"),
            tasks=("sentence_length", "top_constituents", "bigram_shift", "past_present", "subj_number", "obj_number"),
            expect="below",
            margin=-0.03,
        ),
    ),
    note="Two of the gains are 3.3 and 3.6 points, too close to three for 10,000 test rows.",
)
