"""All that a page needs: every part is there, as plain data, with the commands to have it again."""

import shlex
from dataclasses import replace

import msgspec
import pytest

from sentprobe.data.rows import Columns
from sentprobe.data.sources import find_sets
from sentprobe.report import Report, summarise
from sentprobe.report.reproduction import reproduction
from sentprobe.report.summary import full_summary
from sentprobe.report.types import VERSION, CheckResult, Curves, RunProvenance, Summary
from sentprobe.results.log import open_log
from sentprobe.results.result import FLOAT16_FACT
from sentprobe.run import Run, join
from tests.report.runs import SUBJ, beside, cell, failure, result, written

SENTEVAL = "tr\ta\tone two\nva\tb\ttwo one\nte\ta\ttwo\n"


def sources(found):
    """Sets as run.json has them."""
    return [
        {"name": s.name, "digest": f"{i:016x}", "source": msgspec.to_builtins(s)} for i, s in enumerate(found)
    ]  # fmt: skip


def asked(folder, datasets, *records, encoders=("static:",), **more):
    """A run of which run.json says what was asked for."""
    with open_log(folder) as log:
        log.describe(encoders=[*encoders, "baseline:random", "majority"], datasets=datasets, **more)
        for record, arrays in records:
            log.add(record, arrays)
    return Run.load(folder)


def commands(run):
    return [shlex.split(line) for line in reproduction(run, {}).commands]


def test_everything_is_there_and_survives_json(tmp_path):
    run = written(tmp_path / "run", result("st:a", forms=20), result("st:b"), *beside(), failure(cell("st:c")))
    found, plain = full_summary(run), summarise(run)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Summary) == found
    added = ("errors", "curves", "correlations", "languages", "reproduction", "checks", "notes")
    assert replace(found, **{name: getattr(plain, name) for name in added}) == plain
    assert found.version == VERSION == 6
    assert len(found.errors) == len(found.sets)
    assert found.curves == Curves()
    assert found.checks
    assert all(isinstance(each, CheckResult) for each in found.checks)


def test_a_run_without_results(tmp_path):
    found = full_summary(written(tmp_path / "run"))
    assert found.errors == ()
    assert found.reproduction == RunProvenance(commands=(), signatures=0, versions={}, folders=(str(tmp_path / "run"),))


def test_commands_that_were_kept_are_told_as_they_are(tmp_path):
    given = ["sentprobe run probes -e st:a -o run", "sentprobe run probes -e 'st:b c' -o run"]
    run = asked(tmp_path / "run", [], result("st:a"), result("st:a", seed=2), commands=given)
    found = full_summary(run).reproduction
    assert list(found.commands) == given
    assert found.signatures == 2
    assert found.versions == {"sentprobe": ("0.1.0",), "numpy": ("2.0",)}


def test_a_command_finds_the_same_sets_by_the_same_names(tmp_path):
    for place in ("sets/probing/one.txt", "sets/probing/two.v1.txt", "sets/three.txt"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SENTEVAL)
    for split in ("tr", "va", "te"):
        path = tmp_path / f"xprobe/en/four/{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one two\ta\n")
    typed = [str(tmp_path / "sets"), str(tmp_path / "xprobe/en/four")]
    before = find_sets(typed)
    assert len(before) == 4
    (words,) = commands(asked(tmp_path / "my run", sources(before)))
    assert words[:2] == ["sentprobe", "run"]
    assert words[-4:] == ["-e", "static:", "-o", str(tmp_path / "my run")]
    again = find_sets(words[2:-4])
    assert {s.name: (s.task, s.language) for s in again} == {s.name: (s.task, s.language) for s in before}


def test_sets_that_are_read_in_different_ways_need_several_commands(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("s,l,p\nword,a,train\nother,b,dev\nwords,a,test\n")
    first = find_sets([str(tmp_path / "one.csv")], Columns(("s",), "l", "p"), as_task="colour", as_language="pl")
    second = find_sets([str(tmp_path / "two.csv")], Columns(("1", "2"), "3", None, None, header=False))
    found = commands(asked(tmp_path / "run", sources([*first, *second])))
    assert [words[2:-4] for words in found] == [
        [str(tmp_path / "one.csv"), "--text", "s", "--label", "l", "--split", "p", "--as-language", "pl",
         "--as-task", "colour"],
        [str(tmp_path / "two.csv"), "--text", "1", "--text", "2", "--label", "3", "--no-header"],
    ]  # fmt: skip


def test_what_was_asked_of_the_encoders(tmp_path):
    datasets = [{"name": SUBJ, "digest": "0" * 16, "source": {
        "name": SUBJ, "kind": "made", "paths": [f"/data/{SUBJ}"], "task": "subj_number", "language": "en",
    }}]  # fmt: skip
    records = [
        result("st:a b", probe="mlp", seed=7, limit=50, device="cuda", identity=f"a?{FLOAT16_FACT}"),
        result("baseline:random", probe="linear", limit=50),
    ]
    run = asked(
        tmp_path / "run", datasets, *records, encoders=["st:a b"], probes=["mlp", "linear"], seeds=[7, 8, 9, 20]
    )
    same = "sentprobe run /data -e 'st:a b' -p mlp"
    rest = f"--limit 50 --device cuda --half -o {tmp_path / 'run'}"
    assert reproduction(run, {}).commands == (
        f"{same} --seeds 3 --seed 7 {rest}",
        f"{same} --seed 20 {rest}",
    )


def test_runs_that_were_joined_have_commands_of_their_own(tmp_path):
    runs = []
    for name, encoder, limit in (("one", "st:a", None), ("two", "st:b", 50)):
        (tmp_path / f"{name}.txt").write_text(SENTEVAL)
        (said,) = sources(find_sets([str(tmp_path / f"{name}.txt")]))
        record, arrays = result(encoder, name, limit=limit)
        said |= {"digest": record.cell.data}
        more = {"encoders": [encoder], "probes": ["linear"], "seeds": [1111]}
        runs.append(asked(tmp_path / name, [said], (record, arrays), **more))
    found = reproduction(join(runs), {})
    assert found.folders == (str(tmp_path / "one"), str(tmp_path / "two"))
    assert found.commands == (
        f"sentprobe run {tmp_path / 'one.txt'} -e st:a -o {tmp_path / 'one'}",
        f"sentprobe run {tmp_path / 'two.txt'} -e st:b --limit 50 -o {tmp_path / 'two'}",
    )


@pytest.mark.parametrize("encoders", [("mine",), ("mine", "static:")])
def test_what_no_command_can_ask_for_is_told(tmp_path, encoders):
    (tmp_path / "one.txt").write_text(SENTEVAL)
    there = sources(find_sets([str(tmp_path / "one.txt")]))
    run = asked(tmp_path / "run", [*there, {"name": "own", "digest": "f" * 16, "source": None}], encoders=encoders)
    *real, first, second = reproduction(run, {}).commands
    assert first == "# from Python, with your own encoders: mine"
    assert second == "# from Python, with your own sets: own"
    assert len(real) == ("static:" in encoders)


def test_a_comment_is_one_line(tmp_path):
    (line,) = reproduction(asked(tmp_path / "run", [], encoders=["mine\nrm x"]), {}).commands
    assert line.startswith("#")
    assert len(line.splitlines()) == 1


def test_a_report_prints_itself_on_one_line(tmp_path):
    run = written(tmp_path / "run", result("st:a"), result("st:b"), *beside([SUBJ]))
    assert repr(Report.of(run)) == "<Report 'run': 2 encoders on 1 set>"
    assert repr(Report.of(run, title="Two\nlines \x1b")) == "<Report 'Two lines \\\\u001b': 2 encoders on 1 set>"
