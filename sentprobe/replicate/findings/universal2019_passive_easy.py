"""universal2019, read from table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="universal2019_passive_easy",
    paper="universal2019",
    where="read from table 1",
    sentence="Every encoder knows whether a sentence is passive, with more than 80 % accuracy.",
    statistic=Difference(Models("encoders", "{encoder}"), 0.8, tasks=("passive",), table="1"),
)
