"""conneau2019, section 4.1, table 4.2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_wikipedia_vectors",
    paper="conneau2019",
    where="section 4.1, table 4.2",
    sentence="With vectors of Wikipedia, words are translated better than with those of WaCky.",
    statistic=Difference(
        Models("Wikipedia", "{method} (Wiki)"),
        Models("WaCky", "{method} (WaCky)"),
        tasks=("word_translation",),
        table="4.2",
    ),
)
