"""xprobe2019, section 7, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope
from sentprobe.replicate.findings._shared import MAPPED_OR_NOT, XPROBE_TASKS

finding = Claim(
    name="xprobe2019_probing_against_xnli",
    paper="xprobe2019",
    where="section 7, figure 3",
    sentence="How well encoders are probed goes against their XNLI accuracy.",
    statistic=Correlated(
        Models("encoders", MAPPED_OR_NOT),
        Scope(tasks=XPROBE_TASKS, table="4"),
        Scope(tasks=("XNLI",), table="3"),
        expect="below",
        cells="mean",
    ),
    note="Six encoders in six settings.",
)
