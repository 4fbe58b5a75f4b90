"""Results of words in a run: saved, resumed, shown, compared and reported."""

import json

import numpy as np
import pytest

from sentprobe.cli import app
from sentprobe.errors import UsageError
from sentprobe.lab.words import evaluate as loop
from sentprobe.lab.words import systems
from sentprobe.lab.words.evaluate import evaluate_words
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.report.charts import chart
from sentprobe.report.page.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.tables import json_text, markdown
from sentprobe.results.compare import compare, ties
from sentprobe.results.sides import non_baseline_encoders, untested_sets
from sentprobe.run import Run
from tests.command_line import sentprobe as run_sentprobe
from tests.lab.words.material import alignment, files, rotation, vectors, write_vectors
from tests.lab.words.test_evaluations import write


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An alignment, another that is worse, and files to evaluate them on."""
    folder = tmp_path_factory.mktemp("words")
    en, fr = files(folder, noise=1.0)
    blurred = rotation() + 0.35 * rotation(seed=8)
    alignment(folder / "good", en, fr, rotation(), [("epoch", 1, 0.3, blurred), ("epoch", 2, 0.9, rotation())])
    alignment(folder / "worse", en, fr, blurred, criterion=0.4)
    write(folder / "en-fr.txt", *(f"en{i} fr{i}" for i in range(55)), "en1 unheard", "same same")
    rng = np.random.default_rng(0)
    write(folder / "sim.tsv", *(f"en{i}\tfr{rng.integers(0, 60)}\t{rng.random():.2f}" for i in range(20)))
    lines = [rng.integers(0, 60, 6).tolist() for _ in range(20)]
    write(folder / "c.en", *(" ".join(f"en{w}" for w in line) for line in lines))
    write(folder / "c.fr", *(" ".join(f"fr{w}" for w in line) for line in lines))
    return folder


def requests(place):
    texts = (str(place / "c.en"), str(place / "c.fr"))
    return [
        EvaluationRequest(evaluation="translation", files=(str(place / "en-fr.txt"),)),
        EvaluationRequest(evaluation="closeness", files=(str(place / "en-fr.txt"),)),
        EvaluationRequest(evaluation="similarity", files=(str(place / "sim.tsv"),)),
        EvaluationRequest(evaluation="retrieval", files=texts),
        EvaluationRequest(evaluation="word_by_word", files=texts),
    ]


@pytest.fixture(scope="module")
def made(place):
    systems = [str(place / "good"), str(place / "worse")]
    return evaluate_words(systems, requests(place), place / "run", command="sentprobe words")


def of(run, task, encoder="good", probe="csls"):
    (found,) = [
        r for r in run if r.cell.task == task and r.cell.encoder.endswith(encoder) and r.cell.probe in (probe, None)
    ]
    return found


def test_every_evaluation_has_its_results(made, place):
    pytest.importorskip("sacrebleu")
    assert not made.failures
    assert {(r.cell.task, r.cell.probe) for r in made if r.cell.encoder != "copy"} == {
        ("word_translation", "nn"), ("word_translation", "csls"), ("translation_closeness", None),
        ("word_similarity", None), ("sentence_retrieval", "nn"), ("sentence_retrieval", "csls"),
        ("word_by_word", "nn"), ("word_by_word", "csls"),
    }  # fmt: skip
    found = of(made, "word_translation")
    assert (found.metric, found.language, found.n["te"], found.scores["pairs left out"]) == (
        "precision@1",
        "en-fr",
        55,
        2,
    )
    assert found.scores["criterion"] == 0.9
    assert made.rows(found)[3].text == "en3"
    assert made.correct(found).mean() == found.score
    arrays = made.predictions(found)
    assert (arrays["rank"] == 0).tolist() == made.correct(found).tolist()
    assert arrays["frequency"].tolist() == list(range(55))
    assert of(made, "word_by_word").metric == "bleu"
    assert found.signature.startswith("task=word_translation.v1|data=translation/en-fr#")


def test_a_saved_score_that_does_not_fit_its_rows_is_refused(made):
    from dataclasses import replace

    from sentprobe.errors import RunError

    found = of(made, "word_translation")
    with pytest.raises(RunError, match=r"expected precision@1 0.1000, got"):
        made.predictions(replace(found, score=0.1))


def test_the_same_command_computes_nothing(made, place, monkeypatch):
    pytest.importorskip("sacrebleu")

    def refuse(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(systems, "nearest", refuse)
    monkeypatch.setattr(systems, "CslsIndex", refuse)
    again = evaluate_words([str(place / "good"), str(place / "worse")], requests(place), place / "run")
    assert [r.key for r in again] == [r.key for r in made]


def test_what_is_finished_is_kept_when_it_is_interrupted(place, tmp_path, monkeypatch):
    computed = []
    own = loop._result

    def stop(cell, *args):
        if len(computed) == 4:
            raise KeyboardInterrupt
        computed.append(cell.key)
        return own(cell, *args)

    asked = requests(place)[:3]
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_result", stop)
        with pytest.raises(KeyboardInterrupt):
            evaluate_words([str(place / "good"), str(place / "worse")], asked, tmp_path / "run")
    assert {r.key for r in Run.load(tmp_path / "run")} == set(computed)
    monkeypatch.setattr(loop, "_result", lambda cell, *args: computed.append(cell.key) or own(cell, *args))
    whole = evaluate_words([str(place / "good"), str(place / "worse")], asked, tmp_path / "run")
    assert sorted(computed) == sorted(r.key for r in whole)  # each once


def test_a_system_has_one_translator_for_each_direction(place, tmp_path, monkeypatch):
    calls = []
    own = systems.CslsIndex
    monkeypatch.setattr(systems, "CslsIndex", lambda *args: calls.append(1) or own(*args))
    asked = [
        EvaluationRequest(evaluation=name, files=(str(place / "en-fr.txt"),), reverse=way)
        for name in ("translation", "closeness") for way in (False, True)
    ]  # fmt: skip
    texts = (str(place / "c.en"), str(place / "c.fr"))
    asked.append(EvaluationRequest(evaluation="word_by_word", files=texts))
    evaluate_words([str(place / "good")], asked, tmp_path / "run")
    assert len(calls) == 2


def test_a_failure_is_recorded_and_the_rest_continues(place, tmp_path):
    other = write(tmp_path / "de-it.txt", "hund cane")
    asked = [EvaluationRequest(evaluation="translation", files=(str(path),)) for path in (place / "en-fr.txt", other)]
    found = evaluate_words([str(place / "good")], asked, tmp_path / "run")
    assert len(found.results) == 3
    assert {f.kind for f in found.failures} == {"TooFewError"}
    assert "knows none of the 1 pairs" in found.failures[0].error
    assert "failed" in markdown(summarise(found))
    only = [EvaluationRequest(evaluation="translation", files=(str(other),))]
    with pytest.raises(UsageError, match="knows none of the 1 pairs"):
        evaluate_words([str(place / "good")], only, tmp_path / "other")


def test_systems_with_other_words_are_asked_the_same_if_that_is_requested(place, tmp_path):
    few = write_vectors(tmp_path / "few.vec", [f"fr{i}" for i in range(20)], vectors(20))
    systems = [f"{place / 'en.vec'},{place / 'fr.vec'}", f"{place / 'en.vec'},{few}"]
    asked = [EvaluationRequest(evaluation="translation", files=(str(place / "en-fr.txt"),))]
    apart = evaluate_words(systems, asked, tmp_path / "apart", scorings=["nn"])
    assert len({r.cell.data for r in apart}) == 2
    with pytest.raises(UsageError, match="have no set in common"):
        compare(apart, *systems)
    same = evaluate_words(systems, asked, tmp_path / "same", scorings=["nn"], common=True)
    assert {r.n["te"] for r in same} == {20}
    assert len(compare(same, *systems)) == 1


def test_comparisons(made, place):
    assert len(non_baseline_encoders(made)) == 4
    found = ties(made, non_baseline_encoders(made))
    assert [t.dataset for t in found] == ["translation/en-fr", "retrieval/c.en-fr"]
    two = compare(made, "good|retrieval=csls", "worse|probe=csls")
    assert two[0].about == "system"
    assert two[0].first == of(made, "word_translation").score
    assert two[0].second == of(made, "word_translation", "worse").score
    assert compare(made, "good|retrieval=csls", "copy")[0].second == 0
    with pytest.raises(
        UsageError, match=r"has results with retrieval nn, csls; choose one, as in '.*good\|retrieval=csls'"
    ):
        compare(made, "good", "worse")


def test_sets_that_cannot_be_tested_are_named(made, place, tmp_path):
    pytest.importorskip("sacrebleu")
    left_out = ["closeness/en-fr (cosine)", "similarity/sim (Pearson)", "word_by_word/c.en-fr (BLEU)"]
    assert sorted(untested_sets(made, non_baseline_encoders(made))) == left_out
    found = run_sentprobe(
        "compare", str(place / "run"), "good|retrieval=csls", "worse|retrieval=csls", "--format", "csv"
    )
    assert found.returncode == 0
    assert "closeness" not in found.stdout
    assert "Not tested, since rows are not right or wrong:" in found.stderr
    assert all(each in found.stderr for each in left_out)
    asked = [request for request in requests(place) if request.evaluation in ("similarity", "word_by_word")]
    only = evaluate_words([str(place / "good"), str(place / "worse")], asked, tmp_path / "run")
    for call in (lambda names: compare(only, *names), lambda names: ties(only, names)):
        with pytest.raises(UsageError, match=r"that can be tested: .* precision@1 are.* \(Pearson\), .* \(BLEU\)\.$"):
            call(non_baseline_encoders(only))
    found = run_sentprobe("compare", str(tmp_path / "run"))
    assert found.returncode == 1
    assert "choose one" not in found.stderr


def test_a_part_of_the_name_of_a_baseline_is_not_its_name(made):
    with pytest.raises(UsageError, match=r"no results of 'cop'\. Did you mean copy\?"):
        compare(made, "good|retrieval=csls", "cop")


def test_the_table_shows_what_does_not_depend_on_retrieval_in_every_column(made):
    pytest.importorskip("sacrebleu")
    summary = summarise(made)
    assert [c.probe for c in summary.columns] == ["nn", "csls", "nn", "csls"]
    assert [c.encoder for c in summary.baselines] == ["copy"]
    rows = {s.task: s for s in summary.sets}
    assert all(cell is not None for s in summary.sets for cell in s.cells)
    assert rows["word_similarity"].cells[0].signatures == rows["word_similarity"].cells[1].signatures
    assert rows["word_translation"].cells[1].letters is not None
    assert rows["word_translation"].cells[1].against.verdict == "above"
    assert rows["word_by_word"].cells[1].against.verdict == "untested"
    text = markdown(summary)
    for said in ("the share of source words", "Retrieval: nn,", "at 10", "pairs left out", "BLEU", "rank, 1–1,000"):
        assert said in text
    for not_said in ("probe", "Accuracy", "encoder"):
        assert not_said not in text.split("Columns that share")[0]


def test_the_report(made):
    summary = full_summary(made)
    json.loads(json_text(summary))
    (errors,) = [e for e, s in zip(summary.errors, summary.sets, strict=True) if s.task == "word_translation"]
    shown = errors.columns[0].errors[0]
    assert shown.label == shown.tokens[0].replace("en", "fr") != shown.predicted
    assert "below-baseline" in {c.code for c in summary.checks}
    assert not {"one-seed", "unsound-data", "wide-vectors"} & {c.code for c in summary.checks}
    page = render(summary)
    for said in ("2 systems × 5 sets", "retrieval: nn and csls", "precision at 1, at 5 and at 10", "Words"):
        assert said in page
    for kind in ("heatmap", "intervals"):
        assert {row["metric"] for row in chart(kind, summary)[0]} >= {"precision@1"}


# the command line


def test_the_command(place, tmp_path):
    out = tmp_path / "run"
    given = (
        "words", str(place / "good?epoch=all"), "--dictionary", str(place / "en-fr.txt"), "--similarity",
        str(place / "sim.tsv"), "--sentences", f"{place / 'c.en'},{place / 'c.fr'}", "--scoring", "csls", "--both",
        "-o", str(out),
    )  # fmt: skip
    found = run_sentprobe(*given)
    assert found.returncode == 0, found.stderr
    assert "translation/en-fr (reversed)" in found.stdout
    assert "results, written to" in found.stderr
    run = Run.load(out)
    scored = [r for r in run if r.cell.dataset == "translation/en-fr" and r.cell.encoder != "copy"]
    criteria = [(r.cell.encoder[-7:], r.scores["criterion"]) for r in scored]
    assert criteria == [("epoch=1", 0.3), ("epoch=2", 0.9)]
    assert run_sentprobe(*given).stdout == found.stdout
    assert run_sentprobe("show", str(out)).stdout == found.stdout
    assert run_sentprobe("compare", str(out)).returncode == 0


def test_a_dictionary_of_other_languages_is_said(place, tmp_path):
    # the few words that are spelled alike would be scored without a word
    write(tmp_path / "en-de.txt", *(f"en{i} de{i}" for i in range(30)), "en1 fr1", "en2 fr2")
    shared = f"{place / 'en.vec'},{place / 'fr.vec'}"
    result = run_sentprobe("words", shared, "-d", str(tmp_path / "en-de.txt"), "-o", str(tmp_path / "run"))
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert "translation/en-de is in en and de, and" in said
    assert "what it knows of de are words of other languages that are spelled alike" in said
    assert "knows only 6 % of the pairs: is it of these languages?" in said
    named = run_sentprobe(
        "words", shared, "-d", str(place / "en-fr.txt"), "--languages", "fr-en", "-o", str(tmp_path / "named")
    )
    assert "of other languages" not in named.stderr
    assert "is it of these languages" not in named.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "Name a system"),
        (("good",), "Name what to evaluate on"),
        (("good", "--sentences", "c.en"), "--sentences c.en: expected two files, separated by a comma"),
        (("good", "--dictionary", "en-fr.txt", "--scoring", "cosine"), "There is no scoring 'cosine'"),
        (("good", "--similarity", "sim.tsv", "--pos", "x"), "--pos is for --dictionary"),
        (("good", "--dictionary", "en-fr.txt", "--idf", "c.en,c.fr"), "--idf is for --sentences"),
        (("good", "--dictionary", "en-fr.txt", "--weights", "muse"), "--weights is for --sentences: leave it out"),
        (("good", "--word-by-word", "c.en,c.fr", "--unit"), "--unit is for --sentences: leave it out"),
        (("good", "--dictionary", "en-fr.txt", "--tokenise", "space"), "is for --sentences and --word-by-word"),
        (("good", "--sentences", "c.en,c.fr", "--weights", "idf"), "There are no weights 'idf'. Expected one of muse,"),
        (("good", "--sentences", "c.en,c.fr", "--tokenise", "gaps"), "There is no tokeniser 'gaps'. Expected one of"),
        (("good", "--evaluate", "analogy=x"), "There is no word evaluation 'analogy'"),
        (("good", "--dictionary", "nowhere.txt"), "nowhere.txt"),
        (("nowhere", "--dictionary", "en-fr.txt"), "there is no 'nowhere'"),
    ],
)
def test_wrong_commands(place, given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(place)
    found = run_sentprobe("words", *given, "-o", str(tmp_path / "run"))
    assert found.returncode == 1
    assert message in found.stderr
    assert not (tmp_path / "run").exists()


def test_a_result_of_words_is_not_repeated_alone(made):
    found = run_sentprobe("repeat", of(made, "word_translation").signature)
    assert found.returncode == 1
    assert "is of `sentprobe words`, whose results are not repeated alone" in found.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reverse", "--both"), "--both evaluates in both directions"),
        (("--queries", "0"), "--queries 0: expected an integer, 1 or more"),
        (("--limit", "1"), "--limit 1: expected an integer, 2 or more"),
    ],
)
def test_options_that_contradict_each_other_or_are_too_small(words, message):
    with pytest.raises(UsageError, match=message):
        app(["words", "en-fr", "-d", "en-fr.txt", *words], result_action="return_value", exit_on_error=False)
