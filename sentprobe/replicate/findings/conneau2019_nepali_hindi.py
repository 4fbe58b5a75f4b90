"""conneau2019, section 4.3, table 4.15."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_nepali_hindi",
    paper="conneau2019",
    where="section 4.3, table 4.15",
    sentence="A Nepali language model gains more from Hindi than from English.",
    statistic=Difference(
        Models("with Hindi", "Nepali + Hindi"),
        Models("with English", "Nepali + English"),
        table="4.15",
        expect="below",
        unit="number",
    ),
    note="One perplexity each, printed without an error.",
)
