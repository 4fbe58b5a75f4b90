"""conneau2019, section 4.3, table 4.12."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_translation_modelling",
    paper="conneau2019",
    where="section 4.3, table 4.12",
    sentence="With translation language modelling, XLM is better at XNLI than without it, on average.",
    statistic=Difference(
        Models("MLM+TLM", "XLM (MLM+TLM)"), Models("MLM", "XLM (MLM)"), tasks=("XNLI",), table="4.12", cells="mean"
    ),
)
