"""universal2019, section 5, table 1."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import WITHOUT_TREES

finding = Claim(
    name="universal2019_laser_best",
    paper="universal2019",
    where="section 5, table 1",
    sentence="Of encoders that were not trained on trees, LASER is the best on most tasks in both languages.",
    statistic=BestOf(
        Models("LASER", "LASER"), Models("encoders without trees", WITHOUT_TREES), table="1", cells="most"
    ),
)
