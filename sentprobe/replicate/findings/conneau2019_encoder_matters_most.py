"""conneau2019, section 4.3, table 4.13."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_encoder_matters_most",
    paper="conneau2019",
    where="section 4.3, table 4.13",
    sentence="For unsupervised translation, it matters more to pretrain the encoder than the decoder.",
    statistic=Difference(
        Models("encoder pretrained", "encoder MLM, decoder random"),
        Models("decoder pretrained", "encoder random, decoder MLM"),
        table="4.13",
    ),
)
