"""universal2019, section 5, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope
from sentprobe.replicate.findings._shared import UNIVERSAL_TASKS

finding = Claim(
    name="universal2019_languages_rank_alike",
    paper="universal2019",
    where="section 5, figure 3",
    sentence="English and Polish rank encoders alike on each probing task but sentence type.",
    statistic=Correlated(
        Models("encoders", "{encoder}"),
        Scope(languages=("en",)),
        Scope(languages=("pl",)),
        tasks=UNIVERSAL_TASKS[:-1],
        table="1",
    ),
)
