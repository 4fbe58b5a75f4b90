"""How the vectors of two sentences are combined: the setting ``pairs`` of a probe."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from sentprobe import find_sets
from sentprobe.probes import Features
from sentprobe.results.result import Signature
from sentprobe.run import evaluate
from sentprobe.run.repeat import repeat
from sentprobe.tasks import Example
from sentprobe.transfer.relatedness import relate
from tests.command_line import sentprobe
from tests.run.sets import dataset
from tests.run.test_transfer import Counting, only, pair_set, related

RELATED = ("SICKRelatedness", "STSBenchmark", "CDSRelatedness")


def entailed(one, two):
    return str(int(one[0] <= two[0]))


def by_hand(rows, blocks):
    """The features of pairs of texts of a's and b's, with ``Counting`` as the encoder, written out."""
    u, v = (
        np.array([[t.count("a"), t.count("b"), 1.0] for t in texts])
        for texts in ([row.text for row in rows], [row.extra[0][1] for row in rows])
    )
    parts = {"two": (abs(u - v), u * v), "four": (u, v, u * v, abs(u - v))}[blocks]
    return np.hstack(parts).astype(np.float32)


@pytest.mark.parametrize("task", RELATED)
@pytest.mark.parametrize(
    ("probe", "blocks"), [("linear", "two"), ("linear?pairs=two", "two"), ("linear?pairs=four", "four")]
)
def test_relatedness_is_learned_from_the_blocks_that_the_probe_names(tmp_path, task, probe, blocks):
    pairs = pair_set(task, "relatedness", related, (120, 40, 50))
    run = evaluate({"c": Counting()}, [pairs], tmp_path / "run", probes=[probe])
    result = only(run, "c", task)
    train, dev, test = (by_hand(pairs.rows[split], blocks) for split in ("tr", "va", "te"))
    scores = [[float(row.label) for row in pairs.rows[split]] for split in ("tr", "va")]
    expected = relate(
        Features.of(train), scores[0], Features.of(dev), scores[1], Features.of(test), seed=result.cell.seed
    )
    assert result.dimension == {"two": 2 * 3, "four": 4 * 3}[blocks]
    assert np.array_equal(run.predictions(result)["predicted"], expected.predicted.astype(np.float32))
    assert Signature.parse(result.signature).probe == probe


def test_only_four_blocks_tell_the_two_sentences_apart(tmp_path):
    """The score is how many more a's the first sentence has; every test pair comes in both orders, so that the mean of
    the scores at any value of |u − v| and u · v is the same, and the correlation of what two blocks predict is 0."""

    def direction(one, two):
        return f"{3 + (one[0] - two[0]) / 4:.3f}"

    pairs = pair_set("SICKRelatedness", "relatedness", direction, (400, 80, 60))
    swapped = [
        Example(f"{6 - float(row.label):.3f}", (two,), two, stratum=row.stratum, extra=(("sentence2", row.text),))
        for row in pairs.rows["te"]
        for _, two in row.extra
    ]
    pairs = replace(pairs, rows={**pairs.rows, "te": [*pairs.rows["te"], *swapped]})
    run = evaluate({"c": Counting()}, [pairs], tmp_path / "run", probes=["linear", "linear?pairs=four"])
    by_probe = {result.cell.probe: result for result in run if result.cell.encoder == "c"}
    two, four = by_probe["linear"], by_probe["linear?pairs=four"]
    arrays = run.predictions(two)
    assert pearsonr(arrays["predicted"], arrays["truth"])[0] == pytest.approx(0, abs=1e-4)
    assert two.score == pytest.approx(0, abs=1e-4)
    assert four.score > 0.95


def test_classes_may_have_two_blocks_as_in_the_code_of_senteval(tmp_path):
    pairs = [pair_set(task, "split", entailed, (200, 60, 60)) for task in ("SICKEntailment", "SNLI")]
    run = evaluate({"c": Counting()}, pairs, tmp_path / "run", probes=["linear", "linear?pairs=two"], resample=0)
    for given in pairs:
        dimensions = {r.cell.probe: r.dimension for r in run if r.cell.task == given.task and r.cell.encoder == "c"}
        assert dimensions == {"linear": 4 * 3, "linear?pairs=two": 2 * 3}


def test_pairs_of_a_table_are_concatenated_unless_the_probe_says_otherwise(tmp_path):
    given = pair_set("mine", "split", entailed, (120, 40, 40))
    spaced = {
        split: [row._replace(extra=(("other", f"{row.extra[0][1]} ."),)) for row in rows]
        for split, rows in given.rows.items()
    }
    given = replace(given, rows=spaced, manifest={"protocol": "split", "inputs": ["other"]})
    probes = ["linear", "linear?pairs=two", "linear?pairs=four"]
    run = evaluate({"c": Counting()}, given, tmp_path / "run", probes=probes, resample=0, baselines=[])
    assert [r.dimension for r in run] == [2 * 3, 2 * 3, 4 * 3]
    concatenated, two, _ = run
    assert not np.array_equal(run.predictions(concatenated)["log2"], run.predictions(two)["log2"])


def test_a_word_is_not_a_sentence_of_a_pair(tmp_path):
    given = dataset("own/word_of", inputs=["word"])
    rows = {
        split: [row._replace(extra=(("word", str(row.tokens[1])),)) for row in some]
        for split, some in given.rows.items()
    }
    run = evaluate(
        {"c": Counting()},
        replace(given, rows=rows),
        tmp_path / "run",
        probes=["linear", "linear?pairs=four"],
        resample=0,
        baselines=[],
    )
    one, two = run
    assert one.dimension == two.dimension == 2 * 3
    assert one.score == two.score


def test_controls_of_two_probes_do_not_share_what_depends_on_the_blocks(tmp_path):
    given = pair_set("SICKEntailment", "split", entailed, (200, 60, 60))

    def controlled(probes, folder):
        run = evaluate(
            {"c": Counting()}, given, tmp_path / folder, probes=probes, resample=0, baselines=[], controls="shuffled"
        )
        assert run.failures == ()
        return {r.cell.probe: (r.score, r.dimension) for r in run.extras}

    both = controlled(["linear", "linear?pairs=two"], "both")
    assert both == {**controlled(["linear"], "four"), **controlled(["linear?pairs=two"], "two")}


def write_sick(folder, rng):
    folder.mkdir(parents=True)
    for file, n in ("SICK_train.txt", 60), ("SICK_trial.txt", 20), ("SICK_test_annotated.txt", 20):
        lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
        for i in range(n):
            one, two = (" ".join(rng.choice(["red", "blue", "green", "big"], 4)) for _ in range(2))
            common = len({*one.split()} & {*two.split()})
            lines.append(f"{i}\t{one}\t{two}\t{1 + common:.1f}\t{('NEUTRAL', 'ENTAILMENT')[common > 1]}")
        (folder / file).write_text("\n".join(lines) + "\n")


def test_a_result_with_four_blocks_is_repeated_by_its_signature(tmp_path):
    write_sick(tmp_path / "data" / "SICK", np.random.default_rng(1))
    sets = find_sets([tmp_path / "data"], task="SICKRelatedness")
    encoder = "baseline:hash?dim=8"
    run = evaluate(encoder, sets, tmp_path / "run", probes=["linear", "senteval?pairs=four"], baselines=[])
    by_probe = {result.cell.probe: result for result in run}
    again = {probe: repeat(result.signature, run=run) for probe, result in by_probe.items()}
    assert all(reproduction.same for reproduction in again.values())
    assert [again[probe].reproduced.dimension for probe in ("linear", "senteval?pairs=four")] == [16, 32]
    assert "|probe=senteval?pairs=four|" in by_probe["senteval?pairs=four"].signature


def test_pairs_are_refused_where_no_set_has_any(tmp_path):
    write_sick(tmp_path / "data" / "SICK", np.random.default_rng(1))
    (tmp_path / "subj_number.txt").write_text("tr\tNN\ta dog ran .\nte\tNN\ta cat ran .\n")
    command = ("run", "-e", "baseline:hash?dim=8", "-p", "linear?pairs=four", "--no-store", "--resample", "0", "-d")
    refused = sentprobe(*command, "subj_number.txt", cwd=tmp_path)
    assert refused.returncode == 1
    assert "'linear?pairs=four' changes pairs, which has no effect: none of the sets has pairs" in refused.stderr
    assert not (tmp_path / "run").exists()
    done = sentprobe(*command, "data", "--task", "SICKEntailment", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
