"""adi2017, section 7, table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_skip_thought_natural",
    paper="adi2017",
    where="section 7, table 1",
    sentence="Skip-thought relies on natural word order: all three scores fall if words are permuted.",
    statistic=Difference(Models("natural", "skip-thought"), Models("permuted", "skip-thought, permuted"), table="1"),
    note="One digit of the word order of natural sentences was restored from a damaged copy of the paper.",
)
