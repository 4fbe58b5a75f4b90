"""conneau2019, section 3.2, table 3.8."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_infersent_captions",
    paper="conneau2019",
    where="section 3.2, table 3.8",
    sentence=(
        "With the same image features, an encoder trained on inference retrieves captions and images "
        "better than SkipThought."
    ),
    statistic=(
        Difference(
            Models("inference", "BiLSTM-Max (on AllNLI), ResNet101 (113k)"),
            Models("SkipThought", "SkipThought, ResNet101 (113k)"),
            tasks=("ImageCaptionRetrieval",),
            table="3.8",
            metric="caption recall@1",
        ),
        Difference(
            Models("inference", "BiLSTM-Max (on AllNLI), ResNet101 (113k)"),
            Models("SkipThought", "SkipThought, ResNet101 (113k)"),
            tasks=("ImageCaptionRetrieval",),
            table="3.8",
            metric="image recall@1",
        ),
    ),
)
