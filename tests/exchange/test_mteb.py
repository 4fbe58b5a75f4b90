import importlib
import json
import sys

import numpy as np
import pytest

from sentprobe import Dataset, evaluate, load_encoder
from sentprobe.errors import UsageError
from sentprobe.exchange.mteb_results import is_mteb_folder, write_mteb_results
from sentprobe.exchange.mteb_tasks import write_mteb_tasks
from tests.command_line import sentprobe


@pytest.fixture(scope="module")
def number():
    """A set that word vectors can solve in part: the nouns of test are not in train."""
    nouns = [f"noun{i}" for i in range(60)]
    rows = [
        (f"{('A', 'Many')[(i + plural) % 2]} {noun} {('sits', 'sit')[plural]} {i % 7}", ("one", "many")[plural], split)
        for i, noun in enumerate(nouns)
        for plural in (0, 1)
        for split in (("train", "train", "train", "dev", "test")[i % 5],)
    ]
    return Dataset.from_rows(rows, split="split", name="my/number", task="subj_number", language="en")


def test_a_package_holds_no_code_of_the_sets(number, tmp_path):
    odd = Dataset.from_rows(
        [('"""\nimport os', "a", "train"), ("x\\", "b", "train"), ("y", "a", "test")], split="split", name="odd",
        task='x"; import os', language="en",
    )  # fmt: skip
    assert write_mteb_tasks([odd], tmp_path / "odd_tasks") == ["ProbingXImportOsEn"]
    written = (tmp_path / "odd_tasks" / "__init__.py").read_text()
    write_mteb_tasks([number], tmp_path / "tasks")
    assert (tmp_path / "tasks" / "__init__.py").read_text() == written
    compile(written, "__init__.py", "exec")
    rows = [
        json.loads(line) for line in (tmp_path / "odd_tasks/data/ProbingXImportOsEn.jsonl").read_text().splitlines()
    ]
    assert [row["text"] for row in rows] == ['"""\nimport os', "x\\", "y"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"language": None}, "its language is not known"), ({"text": ("a", "b")}, "other inputs than the sentence")],
)
def test_sets_that_are_no_classification_task_are_refused(tmp_path, options, reason):
    rows = [{"text": f"t{i}", "a": f"x{i}", "b": "y", "label": "ab"[i % 2]} for i in range(40)]
    dataset = Dataset.from_rows(rows, **{"name": "mine", "language": "en", **options})
    with pytest.raises(UsageError, match=reason):
        write_mteb_tasks([dataset], tmp_path / "tasks")


def test_a_folder_of_something_else_is_not_overwritten(number, tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "mine.py").write_text("")
    with pytest.raises(UsageError, match="did not write it"):
        write_mteb_tasks([number], tmp_path / "tasks")
    with pytest.raises(UsageError, match="no name of a Python module"):
        write_mteb_tasks([number], tmp_path / "my-tasks")


@pytest.fixture(scope="module")
def there_and_back(number, tmp_path_factory):
    """A set as a task of MTEB, run there and here with the same encoder."""
    folder = tmp_path_factory.mktemp("mteb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MTEB_CACHE", str(folder / "cache"))
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mteb = pytest.importorskip("mteb")
            from mteb.models.model_meta import ModelMeta

            write_mteb_tasks([number], folder / "probing_tasks_of_a_test")
            patch.syspath_prepend(folder)
            package = importlib.import_module("probing_tasks_of_a_test")
            encode = load_encoder("static:")

            class Model:
                mteb_model_meta = ModelMeta.create_empty({"name": "lab/static", "revision": "1"})

                def encode(self, inputs, **options):
                    return np.asarray(encode([text for batch in inputs for text in batch["text"]]))

                def similarity(self, first, second):
                    return first @ second.T

                def similarity_pairwise(self, first, second):
                    return (first * second).sum(1)

            by_name = mteb.get_tasks(tasks=["ProbingSubjNumberEn"])
            assert [type(task) for task in by_name] == [type(task) for task in package.tasks()]
            results = mteb.evaluate(
                Model(), tasks=by_name, cache=mteb.ResultCache(folder / "results"), co2_tracker=False
            )
        run = evaluate("static:", number, folder / "run", folds=0, resample=0)
        yield folder, results.task_results[0].get_score(), run
        sys.modules.pop("probing_tasks_of_a_test", None)


def test_mteb_and_sentprobe_agree(there_and_back):
    _, score, run = there_and_back
    (result,) = [r for r in run if r.cell.encoder == "static:"]
    assert abs(score - result.score) * result.n["te"] <= 2


def test_mteb_scores_stand_beside_ours(there_and_back):
    folder, score, _ = there_and_back
    assert is_mteb_folder(folder / "results")
    assert not is_mteb_folder(folder / "run")
    done = sentprobe("report", folder / "run", folder / "results", "-o", folder / "page.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text().replace("<wbr>", "")
    assert "lab/static" in page
    assert f"{100 * score:.1f}" in page
    refused = sentprobe("report", folder / "run", folder / "results", "-o", folder / "table.md")
    assert refused.returncode == 1
    assert "shown on the page" in refused.stderr


def test_results_are_read_by_mteb(there_and_back, tmp_path):
    _, _, run = there_and_back
    (path,) = write_mteb_results(run, tmp_path)
    from mteb import TaskResult

    (result,) = [r for r in run if r.cell.encoder == "static:"]
    read = TaskResult.from_disk(path)
    assert read.get_score() == pytest.approx(result.score)
    assert read.dataset_revision == result.cell.data
    assert read.languages == ["eng"]


def test_scores_in_folds_are_not_mtebs(tmp_path):
    rows = [(f"{chr(97 + i // 26)}{chr(97 + i % 26)} {i % 2 * 'not'}", ("yes", "no")[i % 2]) for i in range(120)]
    run = evaluate(
        "baseline:words", Dataset.from_rows(rows, name="negation"), tmp_path / "run", folds=3, resample=0, baselines=[]
    )
    with pytest.raises(UsageError, match="--folds 0"):
        write_mteb_results(run, tmp_path)
