"""conneau2018, section 4, table 2."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="conneau2018_autoencoder_length",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Of all objectives, auto-encoding keeps sentence length best.",
    statistic=BestOf(
        Models("auto-encoder", "{architecture} AutoEncoder"),
        Models(
            "other objectives",
            (
                "{architecture} Untrained",
                "{architecture} NMT {target}",
                "{architecture} Seq2Tree",
                "{architecture} SkipThought",
                "{architecture} NLI",
            ),
        ),
        tasks=("sentence_length",),
        table="2",
    ),
)
