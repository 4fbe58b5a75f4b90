"""One language beside another."""

import msgspec
import pytest
from scipy.stats import pearsonr, spearmanr

from sentprobe.published import published
from sentprobe.report.languages import TASK_ALIASES, languages, task_means
from sentprobe.report.types import LanguageComparison, ProfilePoint
from sentprobe.tasks import SUITES
from tests.report.summaries import column
from tests.report.test_correlations import make_set, make_summary

TASKS = SUITES["universal2019"]


def of_universal():
    """Table 1 of Krasnowska-Kieraś and Wróblewska (2019) as a summary: relatedness by its row of Spearman's."""
    rows = [
        r
        for task in (*TASKS, *TASK_ALIASES)
        for r in published(task)
        if r.paper == "universal2019" and r.metric == ("spearman" if task.endswith("Relatedness") else "accuracy")
    ]
    models = list(dict.fromkeys(r.model for r in rows))
    places = list(dict.fromkeys((r.task, r.language) for r in rows))
    value = {(r.task, r.language, r.model): r.value for r in rows}
    sets = [
        make_set(
            f"{language}/universal2019/{task}" if task in TASKS else task,
            [value.get((task, language, m)) for m in models],
            None if task.startswith("SICK") else language,  # its folder does not tell
        )
        for task, language in places
    ]
    return make_summary(sets, [column(m, probe="mlp") for m in models]), models


# Spearman and Pearson between English and Polish over the 8 models of both, recomputed from table 1 with other code.
BY_TASK = {
    "sentence_length": (0.98, 0.98),
    "word_content": (0.93, 0.91),
    "tree_depth": (1.0, 0.97),
    "top_dependencies": (0.95, 0.97),
    "passive": (0.90, 0.97),
    "past_present": (0.98, 0.98),
    "subj_number": (0.93, 0.96),
    "obj_number": (0.98, 0.99),
    "sentence_type": (0.26, 0.51),
    "Relatedness": (0.64, 0.72),
    "Entailment": (0.17, 0.35),
}


def test_the_table_of_krasnowska_and_wroblewska_2019_correlates_as_it_does():
    summary, models = of_universal()
    found = languages(summary)
    assert found.languages == ("en", "pl")
    assert set(found.tasks) == set(BY_TASK)
    by_task = {c.task: (round(c.spearman, 2), round(c.pearson, 2)) for c in found.by_task}
    assert by_task == BY_TASK
    assert {c.n for c in found.by_task} == {8}
    # all values by model lie between .81 and .98
    assert len(found.by_encoder) == 8
    values = [getattr(c, kind) for c in found.by_encoder for kind in ("spearman", "pearson")]
    assert (round(min(values), 2), round(max(values), 2)) == (0.81, 0.98)
    assert {c.n for c in found.by_encoder} == {len(BY_TASK)}
    # two models are English only, and in the profiles still
    assert len(found.profiles) == (len(models) + 8) * len(BY_TASK)
    assert msgspec.json.decode(msgspec.json.encode(found), type=LanguageComparison) == found


def test_a_profile_says_where_its_number_is():
    sets = [make_set("tree_depth", [0.2], "de"), make_set("MR", [0.3], "en"), make_set("tree_depth", [None], "fr")]
    assert languages(make_summary(sets)) == LanguageComparison(
        languages=("de", "fr"),
        tasks=("tree_depth",),
        profiles=(ProfilePoint(language="de", task="tree_depth", set=0, column=0, value=0.2, low=0.2, high=0.2),),
        by_encoder=(),
        by_task=(),
    )


def test_every_two_languages_are_correlated():
    one, two, three = [0.1, 0.2, 0.4], [0.3, 0.2, 0.1], [0.5, 0.9, 0.7]
    sets = [make_set("passive", v, name) for v, name in ((one, "de"), (two, "fr"), (three, "cs"))]
    found = {(c.one, c.two): c for c in languages(make_summary(sets)).by_task}
    assert set(found) == {("de", "fr"), ("de", "cs"), ("fr", "cs")}
    for (x, y), pair in zip(((one, two), (one, three), (two, three)), found.values(), strict=True):
        assert pair.spearman == pytest.approx(spearmanr(x, y).statistic)
        assert pair.pearson == pytest.approx(pearsonr(x, y).statistic)
        assert pair.n == 3


def test_the_suite_is_named_where_two_have_the_task():
    sets = [make_set(f"{lang}/{name}", [0.5], lang) for lang in ("de", "fr") for name in (
        "conneau2018/tree_depth", "universal2019/tree_depth", "conneau2018/bigram_shift", "passive",
    )]  # fmt: skip
    assert languages(make_summary(sets)).tasks == (
        "conneau2018/tree_depth",
        "universal2019/tree_depth",
        "bigram_shift",
        "passive",
    )


def test_other_probes_have_profiles_and_are_not_mixed_into_a_task():
    columns = [column(f"st:{i}", probe=probe) for i in range(3) for probe in ("linear", "mlp")]
    sets = [make_set(task, [0.1 * i + j for i in range(6)], lang)
            for j, task in enumerate(TASKS[:3]) for lang in ("de", "fr")]  # fmt: skip
    found = languages(make_summary(sets, columns))
    assert {c.n for c in found.by_task} == {3}
    assert [c.column for c in found.by_encoder] == list(range(6))


def test_of_two_sets_of_one_task_and_language_the_first_with_a_number_counts():
    german = [make_set("ewt/passive", [None, 0.2, 0.3], "de"), make_set("gum/passive", [0.4, 0.9, 0.9], "de")]
    french = make_set("passive", [0.5, 0.2, 0.3], "fr")
    found = languages(make_summary([*german, french]))
    assert found.by_task[0].spearman == pytest.approx(1)
    assert len(found.profiles) == 8


def test_the_same_number_everywhere_has_no_correlation():
    sets = [make_set("passive", [0.5, 0.5, 0.5], "de"), make_set("passive", [0.1, 0.2, 0.3], "fr")]
    assert languages(make_summary(sets)).by_task == ()


@pytest.mark.parametrize("second", ["en", None], ids=["one language", "no language"])
def test_there_may_be_one_language_only(second):
    assert languages(make_summary([make_set("passive", [0.5], "en"), make_set("x/passive", [0.5], second)])) is None
    assert languages(make_summary()) is None


def test_means_are_over_encoders_and_languages():
    def point(language, task, column, value):
        return ProfilePoint(language=language, task=task, set=0, column=column, value=value, low=None, high=None)

    found = LanguageComparison(
        languages=("en", "fr"), tasks=("a", "b"), by_encoder=(), by_task=(),
        profiles=(
            point("en", "a", 0, 0.8), point("en", "a", 1, 0.6), point("fr", "a", 0, 0.7), point("fr", "a", 0, 0.1),
            point("fr", "b", 0, 0.5),
        ),
    )  # fmt: skip
    a, b = task_means(found)
    assert (a.task, a.mean, a.n) == ("a", pytest.approx(0.7), 3), "the second set of a task and language is left out"
    assert a.spread == pytest.approx(((0.1**2 + 0.1**2) / 3) ** 0.5)
    assert a.by_language == pytest.approx((0.7, 0.7))
    assert b.by_language == (None, 0.5)
