"""universal2019, section 5, table 1."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="universal2019_laser_polish_pairs",
    paper="universal2019",
    where="section 5, table 1",
    sentence="LASER is the best on both tasks of pairs in Polish.",
    statistic=BestOf(
        Models("LASER", "LASER"),
        Models("other encoders", ("fastText_{pooling}", "BERT_{pooling}", "COMBO_{pooling}", "Sent2Vec_{variant}")),
        tasks=("CDSRelatedness", "CDSEntailment"),
        table="1",
    ),
    note="Two encoders are 0.4 points apart on 1,000 test rows of entailment.",
)
