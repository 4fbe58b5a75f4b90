"""universal2019, section 5, table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="universal2019_mean_pooling",
    paper="universal2019",
    where="section 5, table 1",
    sentence="Mean pooling of word vectors beats max pooling.",
    statistic=Difference(
        Models("mean pooling", "{encoder}_mean"), Models("max pooling", "{encoder}_max"), table="1", cells="most"
    ),
    note="Of the two correlations of relatedness, Pearson's.",
)
