"""universal2019, section 5, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope

finding = Claim(
    name="universal2019_languages_rank_alike",
    paper="universal2019",
    where="section 5, figure 3",
    sentence="English and Polish rank encoders alike on each probing task but sentence type.",
    statistic=Correlated(
        Models("encoders", "{encoder}"),
        Scope(languages=("en",)),
        Scope(languages=("pl",)),
        tasks=(
            "sentence_length",
            "word_content",
            "tree_depth",
            "top_dependencies",
            "passive",
            "past_present",
            "subj_number",
            "obj_number",
        ),
        table="1",
    ),
)
