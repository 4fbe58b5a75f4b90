"""xprobe2019, section 6, table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_odd_man_out_chance",
    paper="xprobe2019",
    where="section 6, table 1",
    sentence="The odd man out is not found by any encoder in any language: within five points of chance.",
    statistic=Difference(
        Models("encoders", "{encoder}"), 0.5, tasks=("odd_man_out",), table="4", expect="equal", margin=0.05
    ),
)
