import pytest

from sentprobe.core.arguments import resolve_jobs
from sentprobe.errors import UsageError
from sentprobe.make.filters import ExcludedSentences
from sentprobe.make.request import parse_length, parse_sizes, read_excluded, select_tasks
from sentprobe.tasks import SUITES


def test_papers_can_be_followed():
    def policies(suite, **options):
        return {task.name: policy for _, task, policy in select_tasks(suite, **options)}

    ours, paper = policies("xprobe2019"), policies("xprobe2019", as_published=True)
    targets = ("past_present", "subj_number", "obj_number", "odd_man_out")
    assert all(ours[name].disjoint and not paper[name].disjoint for name in targets)
    assert (paper["past_present"].tense, paper["coordination_inversion"].clauses) == ("root", "none")
    assert ours["bigram_shift"] == paper["bigram_shift"]
    back = policies("xprobe2019", as_published=True, settings="subj_number.disjoint=true")
    assert back["subj_number"].disjoint
    assert policies("conneau2018", as_published=True)["sentence_length"].bins[-1] == (25, 28)
    with pytest.raises(UsageError, match="--as-published: it would have no effect"):
        select_tasks("conneau2018", "bigram_shift", as_published=True)


def test_the_default_is_universal2019():
    assert [(s, t.name) for s, t, _ in select_tasks([], [])] == [("universal2019", t) for t in SUITES["universal2019"]]


def test_a_task_alone_and_a_task_out_of_a_suite():
    assert [(s, t.name) for s, t, _ in select_tasks([], ["passive"])] == [("universal2019", "passive")]
    both = select_tasks(["conneau2018", "xprobe2019"], ["tree_depth"])
    assert [(s, t.name) for s, t, _ in both] == [("conneau2018", "tree_depth"), ("xprobe2019", "tree_depth")]


def test_sizes_length_and_settings_change_the_policy():
    ((_, _, policy),) = select_tasks(
        [], ["tree_depth"], sizes="100/10/10", length="6-20", settings=["decorrelate=gaussian", "min_classes=3"]
    )
    assert (policy.sizes, policy.length) == ((100, 10, 10), (6, 20))
    assert (policy.decorrelate, policy.min_classes) == ("gaussian", 3)


def test_a_setting_may_be_for_one_task():
    found = {t.name: p for _, t, p in select_tasks(["xprobe2019"], [], settings=["odd_man_out.tolerance=0.5"])}
    assert found["odd_man_out"].tolerance == 0.5
    assert found["bigram_shift"].tolerance == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["tolerence=1"], "Did you mean tolerance"),
        (["tolerance"], "expected .task..field=value"),
        (["decorrelate=maybe"], "decorrelate=maybe: Invalid enum value 'maybe'"),
        (["sizes=[1,2]"], "--set sizes"),
        (["nonsense.tolerance=1"], "nonsense is not among the tasks"),
    ],
)
def test_bad_settings_say_what_was_typed(settings, message):
    with pytest.raises(UsageError, match=message):
        select_tasks([], ["tree_depth"], settings=settings)


@pytest.mark.parametrize("typed", ["100", "100/10", "a/b/c", "0/1/1", "1/2/3/4", "-1/2/3"])
def test_bad_sizes(typed):
    with pytest.raises(UsageError, match="three positive numbers"):
        parse_sizes(typed)


def test_sizes_in_several_spellings():
    assert parse_sizes("10_000/1000/1000") == parse_sizes("10000,1000,1000") == (10_000, 1000, 1000)


@pytest.mark.parametrize("typed", ["5", "9-5", "a-b", "0-3"])
def test_bad_length(typed):
    with pytest.raises(UsageError, match="such as 5-28"):
        parse_length(typed)


def test_unknown_names_get_a_suggestion():
    with pytest.raises(UsageError, match="Did you mean conneau2018"):
        select_tasks(["conneau2017"], [])
    with pytest.raises(UsageError, match="Did you mean subj_number"):
        select_tasks([], ["subj_nummer"])


def test_withheld_sentences_of_a_file(tmp_path):
    path = tmp_path / "held.txt"
    path.write_text("One sentence.\n\nAnother one!\n")
    assert read_excluded(path) == ExcludedSentences.of(["one sentence", "another one"])


def test_all_cores():
    assert resolve_jobs(3) == 3
    assert resolve_jobs(0) >= 1


def test_names_become_folders_and_must_be_plain(tmp_path):
    path = tmp_path / "escape.py"
    path.write_text(
        "from sentprobe import Policy, Task\n"
        "task = Task(name='t', version=1, question='?', paper='', propose=lambda s, c: None, labels=('A', 'B'),\n"
        "            policies={'../../up': Policy()})\n"
    )
    with pytest.raises(UsageError, match="plain names"):
        select_tasks([], [str(path)])
