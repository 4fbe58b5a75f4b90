"""xprobe2019, section 7, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope

finding = Claim(
    name="xprobe2019_probing_against_xnli",
    paper="xprobe2019",
    where="section 7, figure 3",
    sentence="How well encoders are probed goes against their XNLI accuracy.",
    statistic=Correlated(
        Models("encoders", ("{encoder}, {mapping}", "{encoder}")),
        Scope(
            tasks=(
                "bigram_shift",
                "coordination_inversion",
                "obj_number",
                "odd_man_out",
                "past_present",
                "sentence_length",
                "subj_number",
                "word_content",
                "tree_depth",
            ),
            table="4",
        ),
        Scope(tasks=("XNLI",), table="3"),
        expect="below",
        cells="mean",
    ),
    note="Six encoders in six settings.",
)
