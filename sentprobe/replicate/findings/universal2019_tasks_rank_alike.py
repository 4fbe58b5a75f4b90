"""universal2019, section 5, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope
from sentprobe.replicate.findings._shared import UNIVERSAL_TASKS

finding = Claim(
    name="universal2019_tasks_rank_alike",
    paper="universal2019",
    where="section 5, figure 3",
    sentence="Each encoder finds the same probing tasks hard in English and in Polish.",
    statistic=Correlated(
        Models("encoders", "{encoder}"),
        Scope(languages=("en",)),
        Scope(languages=("pl",)),
        tasks=UNIVERSAL_TASKS,
        table="1",
        over="tasks",
    ),
)
