"""conneau2019, section 4.3, table 4.12."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_xlm_above_laser",
    paper="conneau2019",
    where="section 4.3, table 4.12",
    sentence="XLM is better at XNLI than the encoder of Artetxe and Schwenk, by three points and more on average.",
    statistic=Difference(
        Models("XLM", "XLM (MLM+TLM)"),
        Models("LASER", "Artetxe and Schwenk (2018)"),
        tasks=("XNLI",),
        table="4.12",
        margin=0.03,
        cells="mean",
    ),
)
