"""Names in words, and the file that changes them."""

import pytest

from sentprobe import Report, write_figure
from sentprobe.errors import UsageError
from sentprobe.report.answer import answer
from sentprobe.report.names import brief_set_names, set_names
from sentprobe.report.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.titles import Names, encoder_titles, in_words, renamed, task_title, unused_names
from sentprobe.tasks import TASKS
from tests.command_line import sentprobe
from tests.report.runs import SETS, beside, result, written
from tests.report.summaries import column, set_summary, summary

FILE = """
caption = "Ours & theirs."
[tasks]
subj_number = "SubjNum"
[sets]
"conneau2018/bigram_shift" = "Shift"
[encoders]
"st:a" = "Model A"
nb-uni = "NB"
[blocks]
"Trained" = ["st:a"]
"""


@pytest.fixture
def run(tmp_path):
    records = [result(e, s, p=p) for s in SETS for e, p in (("st:a", 0.9), ("static:", 0.6))]
    return written(tmp_path / "run", *records, *beside())


@pytest.fixture
def names(tmp_path):
    (tmp_path / "names.toml").write_text(FILE, "utf-8")
    return Names.read(tmp_path / "names.toml")


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("subj_number", "Subject number"),
        ("past_present", "Tense"),
        ("tree_depth", "Tree depth"),
        ("morph.obj.Case", "Case of the object"),
        ("relation.acl-relcl", "Relation acl:relcl"),
        ("relation.negation", "Negation"),
        ("my_own_label", None),  # a user's own name is left alone
        ("os.path", None),  # and no module is loaded because of it
        ("tests.report", None),
    ],
)
def test_tasks_in_words(task, title):
    assert task_title(task) == title


def test_every_task_has_a_name_in_words():
    titles = [task_title(name) for name in TASKS]
    assert len(set(titles)) == len(titles)
    assert all(title[0].isupper() and "_" not in title for title in titles)


@pytest.mark.parametrize(
    ("labels", "titles"),
    [
        (["npy:char.npy?texts=some/sentences.txt"], ["char"]),
        (["static:", "use:", "baseline:words"], ["bag of word vectors", "Universal Sentence Encoder", "bag of words"]),
        (["static:", "static:?dim=64"], ["bag of word vectors", "bag of word vectors, dim 64"]),
        (["st:org/minilm", "hf:org/minilm"], ["minilm (st)", "minilm (hf)"]),
        (["hf:/home/me/minilm/model?layer=*", "hf:/home/me/minilm/model?layer=*&random=0"],
         ["minilm", "minilm, untrained"]),
        (["vec:one/glove.txt", "vec:two/glove.txt"], ["vec:one/glove.txt", "vec:two/glove.txt"]),
        (["mine", "unheard-of:thing"], ["mine", "unheard-of:thing"]),
    ],
)  # fmt: skip
def test_encoders_in_words(labels, titles):
    assert list(encoder_titles(labels).values()) == titles


def test_names_in_words_tell_sets_apart():
    sets = [set_summary(f"conneau2018/{task}", (), task=task, language=language, label=f"{task} #{language}")
            for task, language in (("subj_number", "de"), ("subj_number", "fr"), ("tree_depth", "de"))]  # fmt: skip
    words = in_words(summary(sets))
    assert set_names(words.sets) == ["Subject number (de)", "Subject number (fr)", "Tree depth (de)"]
    assert [s.label for s in words.sets] == set_names(words.sets)
    assert [(s.name, s.data) for s in words.sets] == [(s.name, s.data) for s in sets]  # what identifies a set stays
    assert brief_set_names(words.sets) == ["subject number (de)", "subject number (fr)", "tree depth"]
    assert in_words(words) == words
    one = summary([set_summary("MR", (), task="MR")], [column("st:a", label=("mine",))])
    assert in_words(one) == one  # an alias is a name in words


def test_the_names_of_a_file(run, names):
    shown = renamed(summarise(run), names)
    assert [s.label for s in shown.sets] == ["SubjNum", "Shift"]
    assert [c.name for c in shown.columns] == ["Model A", "static:"]
    assert [c.encoder for c in shown.columns] == ["st:a", "static:"]
    assert "nb-uni" not in {cell.against.baseline for s in shown.sets for cell in s.cells}
    assert [c.name for c in in_words(shown).columns] == ["Model A", "bag of word vectors"]
    before, after = (
        [(cell.accuracy, cell.letters, cell.against.p) for s in each.sets for cell in s.cells]
        for each in (summarise(run), shown)
    )
    assert before == after
    assert unused_names(summarise(run), names) == []


def test_show_figure_and_report_have_the_same_names(run, names, tmp_path):
    path = names.path
    out = sentprobe("show", run.folder, "--names", path, "--format", "md").stdout
    assert "| set | test | Model A | static: |" in out
    assert "| SubjNum |" in out
    sentprobe("figure", run.folder, "--names", path, "--kind", "heatmap", "-o", tmp_path / "fig.csv")
    text = (tmp_path / "fig.csv").read_text("utf-8")
    assert "SubjNum" in text
    assert "Model A" in text
    assert "bag of word vectors" in text
    sentprobe("report", run.folder, "--names", path, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<bdi class="name">Model A</bdi>' in page
    assert '<bdi class="name">SubjNum</bdi>' in page
    assert answer(in_words(renamed(full_summary(run), names)))[0].startswith("Model A is significantly better")
    assert "Model A is significantly better" in page


def test_from_python(run, names, tmp_path):
    report = Report.of(run, names=names.path)
    assert [c.name for c in report.summary.columns] == ["Model A", "static:"]
    write_figure(full_summary(run), "heatmap", tmp_path / "fig.csv", names=names.path)
    assert "Model A" in (tmp_path / "fig.csv").read_text("utf-8")


def test_a_name_that_names_nothing_is_reported(run, tmp_path):
    path = tmp_path / "names.toml"
    path.write_text('[encoders]\n"statik:" = "Static"\n[tasks]\nsubj_numbr = "Number"\n[blocks]\nX = ["st:b"]\n')
    err = sentprobe("show", run.folder, "--names", path).stderr
    said = " ".join(err.split())
    assert "'statik:' in [encoders] is not in this run. Did you mean static:" in said
    assert "'subj_numbr' in [tasks] is not in this run. Did you mean subj_number?" in said
    assert "'st:b' in the block 'X' is not in this run." in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[encodrs]\n", "'encodrs' is not known. Did you mean encoders"),
        ("sets = 3\n", "sets must be a table"),
        ("caption = 3\n", "caption must be a text, got 3"),
        ('[sets]\na = ""\n', "expected a = \"a name\", got ''"),
        ('[blocks]\nX = "st:a"\n', "the block 'X' must be a list of encoders, got 'st:a'"),
        ("[sets\n", "expected TOML"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path, text, message):
    path = tmp_path / "names.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as refused:
        Names.read(path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    with pytest.raises(UsageError, match="cannot be read"):
        Names.read(tmp_path / "nowhere.toml")


def test_names_of_a_file_are_text_on_the_page(run):
    hostile = Names(sets={"conneau2018/bigram_shift": "<b>x</b>"}, encoders={"st:a": "<script>y</script>"})
    page = render(renamed(full_summary(run), hostile))
    assert "<b>x</b>" not in page
    assert "<script>y" not in page
