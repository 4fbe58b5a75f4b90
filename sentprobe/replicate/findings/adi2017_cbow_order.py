"""adi2017, section 6, figure 1c."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_cbow_order",
    paper="adi2017",
    where="section 6, figure 1c",
    sentence=(
        "The mean of word vectors, which cannot have any order, predicts word order well above chance, "
        "by ten points and more."
    ),
    statistic=Difference(Models("CBOW", "CBOW"), 0.5, tasks=("word_order",), table="text", margin=0.1),
)
