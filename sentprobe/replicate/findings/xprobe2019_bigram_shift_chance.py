"""xprobe2019, section 6, table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_bigram_shift_chance",
    paper="xprobe2019",
    where="section 6, table 1",
    sentence="Bigram shift is within ten points of chance for all encoders in all languages.",
    statistic=Difference(
        Models("encoders", "{encoder}"), 0.5, tasks=("bigram_shift",), table="4", expect="equal", margin=0.1
    ),
)
