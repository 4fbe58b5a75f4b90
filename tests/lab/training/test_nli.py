import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")

from sentprobe.errors import CorpusError, DataError  # noqa: E402
from sentprobe.lab.networks.folder import TrainedFolder  # noqa: E402
from sentprobe.lab.training.examples import Step  # noqa: E402
from sentprobe.lab.training.plan import TrainingPlan  # noqa: E402
from sentprobe.lab.training.step import Updater, make_optimiser  # noqa: E402
from sentprobe.lab.training.train import train  # noqa: E402
from tests.lab.training.prepared import different, learn_by_heart, prepare, request, write  # noqa: E402
from tests.lab.training.tiny import write_pairs  # noqa: E402

PAIRS = [("a cat sleeps", "it sleeps", "entailment"), ("a dog runs", "it sits", "contradiction"), ("b", "c", "neutral")]
SIZES = {"hidden": 16, "head": 32}


def test_fifty_pairs_are_learned_by_heart(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.tsv", 50)
    prepared = prepare(tmp_path / "data", request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES))
    assert learn_by_heart(prepared, 25) == {"accuracy": 100}


def test_loss_at_the_start_and_mean_per_batch(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.tsv", 60)
    prepared = prepare(tmp_path / "data", request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES))
    (stream,) = prepared.streams
    loss = prepared.model(stream.collate(np.arange(60)))
    assert loss.total.item() / loss.units == pytest.approx(math.log(3), rel=0.02)
    assert loss.units == 60
    assert loss.words == int(stream.lengths.sum())


@pytest.mark.parametrize("clip", [5.0, 0.01])
def test_a_step_is_infersents(tmp_path, clip):
    """Against the lines of trainepoch in train_nli.py of facebookresearch/InferSent at commit ec6b065."""
    pairs = write_pairs(tmp_path / "pairs.tsv", 20)
    wanted = request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES, options={"clip": clip})
    prepared, theirs = (prepare(tmp_path / name, wanted) for name in ("ours", "theirs"))
    assert (wanted.options.optimiser, wanted.options.lr, wanted.options.clip_lr) == ("sgd", 0.1, True)
    rows = np.arange(13)
    batch = theirs.streams[0].collate(rows)
    optimizer = torch.optim.SGD(theirs.model.parameters(), lr=0.1)
    loss = torch.nn.CrossEntropyLoss(reduction="sum")(theirs.model.logits(batch), batch.labels)
    optimizer.zero_grad()
    loss.backward()
    total_norm = 0
    for p in theirs.model.parameters():
        if p.requires_grad:
            p.grad.data.div_(len(rows))
            total_norm += (p.grad.data.norm() ** 2).item()
    total_norm = np.sqrt(total_norm)
    shrink_factor = clip / total_norm if total_norm > clip else 1
    assert (shrink_factor < 1) == (clip < 1)
    optimizer.param_groups[0]["lr"] *= shrink_factor
    optimizer.step()

    accelerator = accelerate.Accelerator()
    raw = make_optimiser(prepared, wanted.options)
    updater = Updater(
        prepared, wanted.options, accelerator, accelerator.prepare(prepared.model), accelerator.prepare(raw)
    )
    found = updater.step(Step(prepared.streams[0], rows), 0.1, 1, 1, TrainedFolder(tmp_path))
    assert found.total.item() == pytest.approx(loss.item())
    before = prepare(tmp_path / "before", wanted).model.state_dict()
    for name, value in theirs.model.state_dict().items():
        torch.testing.assert_close(prepared.model.state_dict()[name], value, rtol=0, atol=1e-7)
        assert not torch.equal(value, before[name])


def test_premise_and_hypothesis_have_their_places(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.tsv", 12)
    prepared = prepare(tmp_path / "data", request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES))
    model, (stream,) = prepared.model.eval(), prepared.streams
    batch = stream.collate(np.arange(12))
    with torch.no_grad():
        u, v = (model.encoder(*side).vectors for side in batch.sides)
        seen = torch.cat((u, v, (u - v).abs(), u * v), 1)
        turned = torch.cat((v, u, (u - v).abs(), u * v), 1)
        torch.testing.assert_close(model.logits(batch), model.head(seen))
        torch.testing.assert_close(model.logits(batch._replace(sides=batch.sides[::-1])), model.head(turned))


def test_pairs_without_a_label_are_left_out_and_counted(tmp_path):
    pairs = write(tmp_path / "pairs.tsv", [*PAIRS, ("no one agreed", "about this", "-")])
    wanted = request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES, options={"epochs": 1})
    folder = train(wanted, tmp_path / "out")
    for role in ("train", "dev"):
        counts = folder.config["rows"][role]
        assert (counts["read"], counts["used"], counts["without a label"]) == (4, 3, 1)
    only = write(tmp_path / "only.tsv", [("no one agreed", "about this", "-")])
    with pytest.raises(DataError, match="All 1 rows of dev are without a label"):
        prepare(tmp_path / "data", request("nli", "bilstm-max", pairs, dev=(only,), settings=SIZES))


def test_other_labels_are_refused_with_their_place(tmp_path):
    pairs = write(tmp_path / "pairs.tsv", [*PAIRS, ("a", "b", "entails")])
    with pytest.raises(CorpusError, match=r"pairs\.tsv:4: got the label 'entails'; expected one of entailment, "):
        prepare(tmp_path / "data", request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES))


def test_classifier_does_not_change_the_encoder(tmp_path):
    """An encoder has the same initial weights whatever is on top of it, so that untrained twins are comparable."""
    pairs = write_pairs(tmp_path / "pairs.tsv", 12)
    found = [
        prepare(
            tmp_path / str(head),
            request("nli", "bilstm-max", pairs, dev=(pairs,), settings={"hidden": 16, "head": head}),
        ).model.encoder.state_dict()
        for head in (8, 100)
    ]
    assert all(torch.equal(value, found[1][name]) for name, value in found[0].items())


def test_held_out_pairs(tmp_path):
    texts = different(40)
    rows = [(text, other, "neutral") for text, other in zip(texts[:20], texts[20:], strict=True)]
    plan = TrainingPlan(
        request("nli", "bilstm-max", write(tmp_path / "pairs.tsv", rows), held_out=5), tmp_path / "data"
    )
    fields = ("text1", "text2", "label")
    dev = [row.values[0] for row in plan.rows("dev", fields)]
    kept = [row.values[0] for row in plan.rows("train", fields)]
    assert len(dev) == 5
    assert sorted(dev + kept) == sorted(row[0] for row in rows)


def test_folder_is_read_back(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.tsv", 12)
    wanted = request("nli", "bilstm-max", pairs, dev=(pairs,), settings=SIZES, options={"epochs": 1})
    folder = train(wanted, tmp_path / "out")
    assert [c.name for c in TrainedFolder(folder.path).checkpoints()] == ["epoch-000", "epoch-001"]
    assert folder.config["selection"] == "accuracy"
