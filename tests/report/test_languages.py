"""One language beside another."""

from dataclasses import replace

import msgspec
import pytest
from scipy.stats import pearsonr, spearmanr

from sentprobe.errors import UsageError
from sentprobe.published import published
from sentprobe.report import Report, summarise
from sentprobe.report.charts import CHARTS
from sentprobe.report.drawing.chart import Options
from sentprobe.report.figure import write
from sentprobe.report.languages import TASK_ALIASES, class_note, languages, task_means
from sentprobe.report.overview import overview_tables, task_spreads
from sentprobe.report.tables import latex, markdown
from sentprobe.report.types import LanguageComparison, ProfilePoint
from sentprobe.tasks import SUITES
from tests.report.runs import result, written
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
    a, b = task_means(found, [make_set("a", [0.5])])
    assert (a.task, a.mean, a.n) == ("a", pytest.approx(0.7), 3), "the second set of a task and language is left out"
    assert a.spread == pytest.approx(((0.1**2 + 0.1**2) / 3) ** 0.5)
    assert a.by_language == pytest.approx((0.7, 0.7))
    assert b.by_language == (None, 0.5)


def uneven(folders=("en/conneau2018", "fr/conneau2018")):
    """Tree depth with seven classes in English and three in French, as after --relax; passive with two in both."""
    sets = [
        replace(make_set(f"{folder}/{task}", values, folder[:2]), task=task, classes=classes)
        for folder, scores in zip(
            folders,
            (
                {"tree_depth": (7, [0.3, 0.25]), "passive": (2, [0.8, 0.6])},
                {"tree_depth": (3, [0.78, 0.6]), "passive": (2, [0.6, 0.66])},
            ),
            strict=True,
        )
        for task, (classes, values) in scores.items()
    ]
    found = make_summary(sets, [column("st:a"), column("st:b")])
    return replace(found, languages=languages(found))


NOTE = "tree_depth has 7 classes in en and 3 classes in fr. Chance levels differ"


@pytest.mark.parametrize("kind", ["heatmap", "profiles"])
@pytest.mark.parametrize("folders", [("en/conneau2018", "fr/conneau2018"), ("en", "fr")])
def test_ratios_are_of_the_same_task_wherever_its_sets_are_and_of_as_many_classes(kind, folders, tmp_path):
    summary = uneven(folders)
    chart = CHARTS.get(kind)
    rows = chart.rows(summary, Options(mode="relative", relative_to="en"))
    ratios = {(row["task"], row["encoder_name"]): row["ratio"] for row in rows if row["language"] == "fr"}
    assert ratios == {
        ("passive", "st:a"): 0.75, ("passive", "st:b"): 1.1, ("tree_depth", "st:a"): None, ("tree_depth", "st:b"): None,
    }  # fmt: skip
    caption = write(summary, kind, tmp_path / "figure.csv", mode="relative", relative_to="en")
    assert NOTE in caption
    assert NOTE in write(summary, kind, tmp_path / "figure.csv")


@pytest.mark.parametrize("kind", ["heatmap", "profiles"])
def test_a_figure_of_ratios_with_nothing_in_it_is_refused(kind, tmp_path):
    with pytest.raises(UsageError, match=f"--mode relative has nothing to draw.*{NOTE}"):
        write(uneven(), kind, tmp_path / "a.csv", mode="relative", relative_to="en", sets=["tree_depth"])
    found = uneven()
    apart = [replace(s, cells=(s.cells[0], None) if s.language == "en" else (None, s.cells[1])) for s in found.sets
             if s.task == "passive"]  # fmt: skip
    apart = replace(found, sets=tuple(apart))  # each language has an encoder of its own
    apart = replace(apart, languages=languages(apart))
    with pytest.raises(UsageError, match=r"nothing to draw.*[nN]o encoder has a score on a task in en and"):
        write(apart, kind, tmp_path / "a.csv", mode="relative", relative_to="en")
    assert not list(tmp_path.iterdir())


def test_ratios_to_an_encoder_with_nothing_to_compare_are_refused(tmp_path):
    found = uneven()
    alone = replace(found, sets=tuple(replace(s, cells=(s.cells[0], None)) for s in found.sets))
    with pytest.raises(UsageError, match="no other encoder has a score on a set of a"):
        write(alone, "heatmap", tmp_path / "a.csv", mode="relative", relative_to="st:a")


def test_there_are_no_means_over_different_numbers_of_classes():
    summary = uneven()
    means = {row.task: row for row in task_means(summary.languages, summary.sets)}
    assert (means["tree_depth"].mean, means["tree_depth"].spread) == (None, None)
    assert means["tree_depth"].by_language == pytest.approx((0.275, 0.69))
    assert means["passive"].mean == pytest.approx(0.665)
    spreads = {row.task: row for row in task_spreads(summary)}
    assert (spreads["tree_depth"].mean, spreads["tree_depth"].sd) == (None, None)
    assert spreads["passive"].mean == pytest.approx(0.665)
    table = next(overview_tables(summary))
    title, columns = table.title, table.columns
    assert NOTE in title
    cells = {c.heading[0]: [cell.text for cell in c.cells] for c in columns}
    assert dict(zip(cells["task"], cells["mean"], strict=True)) == {"tree_depth": "–", "passive": "66.5"}


def test_the_table_and_the_page_say_so(tmp_path):
    records = []
    for language, labels in (("en", ("1", "2", "3")), ("fr", ("1", "2"))):
        record, arrays = result("st:a", f"{language}/tree_depth", language=language)
        records.append((replace(record, labels=labels), arrays))
    run = written(tmp_path / "run", *records)
    says = "tree_depth has 3 classes in en and 2 classes in fr. Chance levels differ"
    summary = summarise(run)
    assert any(says in note for note in summary.notes)
    assert says.partition(" ")[2] in markdown(summary)  # the name is escaped
    assert says in latex(summary)
    page = Report.of(run).html()
    assert page.count(says) >= 2  # below the table, and with the languages
    even = written(tmp_path / "even", *(result("st:a", f"{code}/tree_depth", language=code) for code in ("en", "fr")))
    assert class_note(summarise(even).sets) == ""
