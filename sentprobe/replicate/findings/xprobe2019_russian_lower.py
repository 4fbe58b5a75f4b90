"""xprobe2019, read from table 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_russian_lower",
    paper="xprobe2019",
    where="read from table 4",
    sentence=(
        "Recurrent and attentive encoders know less of tense and number in Russian than in the other mapped languages."
    ),
    statistic=Difference(
        Models("Russian", ("RNN ({encoder})", "Attention ({encoder})"), languages=("ru",)),
        Models(
            "German, Spanish and French", ("RNN ({encoder})", "Attention ({encoder})"), languages=("de", "es", "fr")
        ),
        tasks=("past_present", "subj_number", "obj_number"),
        table="4",
        across="language",
        expect="below",
        cells="most",
    ),
)
