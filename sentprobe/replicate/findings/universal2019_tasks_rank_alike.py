"""universal2019, section 5, figure 3."""

from sentprobe.replicate import Claim, Correlated, Models, Scope

finding = Claim(
    name="universal2019_tasks_rank_alike",
    paper="universal2019",
    where="section 5, figure 3",
    sentence="Each encoder finds the same probing tasks hard in English and in Polish.",
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
            "sentence_type",
        ),
        table="1",
        over="tasks",
    ),
)
