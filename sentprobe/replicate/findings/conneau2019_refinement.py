"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_refinement",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence="Refining an adversarial map makes word translation better in every pair of languages.",
    statistic=Difference(
        Models("refined", "Adv - Refine - CSLS"),
        Models("adversarial", "Adv - CSLS"),
        tasks=("word_translation",),
        table="4.1",
    ),
)
