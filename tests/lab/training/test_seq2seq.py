"""Objectives with a decoder, from files to generated texts."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
import torch

from sentprobe.core.files import read_json
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import FORMAT, TrainedFolder, open_folder
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.decoder import generate, load_generator
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.seq2seq import decode_sample
from sentprobe.lab.training.targets import END, FILE, learn_bpe, read_targets
from sentprobe.lab.training.train import train
from tests.lab.networks.folders import sealed

WORDS = "the a one cat dog bird sees eats likes big small red".split()
SMALL = {"hidden": 32, "decoder": 64, "decoder_layers": 1, "target_width": 16}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices are small: several threads wait for each other
    yield
    torch.set_num_threads(threads)


def _sentences(count: int, seed: int = 0) -> list[str]:
    source = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[" ".join(source.choices(WORDS, k=source.randint(2, 6)))] = None
    return list(found)


PAIRS = [(text, " ".join(word[::-1].capitalize() for word in reversed(text.split())) + ".") for text in _sentences(30)]
"""A text, and its words backwards in two ways."""


def _write(file: Path, rows: list[Any], times: int = 1) -> str:
    lines = ["\t".join([row] if isinstance(row, str) else row) for row in rows]
    file.write_text("".join(f"{line}\n" for line in lines * times))
    return str(file)


def _plan(
    path: Path, objective: str, rows: list[Any], *, withheld: frozenset[int] = frozenset(), **more: Any
) -> TrainingPlan:
    settings = {**SMALL, **more.pop("settings", {})}
    request = make_request(
        objective, "bilstm-max", settings=settings, train=(_write(path / "train.tsv", rows),), width=16, **more
    )
    return TrainingPlan(request, path / "data", withheld)


def _prepare(plan: TrainingPlan) -> Any:
    return OBJECTIVES.get(plan.request.objective).prepare(plan)


def _evaluate(prepared: Any) -> dict[str, float]:
    prepared.model.eval()
    with torch.no_grad():
        return dict(prepared.evaluate())


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedFolder:
    path = tmp_path_factory.mktemp("translate")
    request = make_request(
        "translate",
        "bilstm-max",
        settings={**SMALL, "codes": 40},
        options={"epochs": 7, "batch": 15, "lr": 0.02},
        train=(_write(path / "train.tsv", PAIRS, 25),),
        dev=(_write(path / "dev.tsv", PAIRS),),
        width=16,
    )
    return train(request, path / "model")


def test_few_pairs_are_learned_by_heart(trained: TrainedFolder) -> None:
    sources, targets = zip(*PAIRS, strict=True)
    assert generate(trained.path, sources) == list(targets)
    assert generate(trained.path, sources, beam=3) == list(targets)
    assert read_json(trained.path / "best.json")["BLEU"] == pytest.approx(100)


def test_generating_does_not_depend_on_the_other_texts(trained: TrainedFolder) -> None:
    texts = [text for text, _ in PAIRS[:8]] + ["", "unknown words", "the cat " * 20]
    generator = load_generator(trained)
    for beam in (1, 2):
        assert generator(texts, beam) == [generator([text], beam)[0] for text in texts]
    assert generator([]) == []


def test_the_folder_says_what_the_decoder_is(trained: TrainedFolder) -> None:
    facts = trained.config["facts"]
    assert facts["target vocabulary"] == len(learn_bpe((target for _, target in PAIRS), 40)) > 3 + 256
    assert facts["BLEU signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp")
    assert facts["decoding"] == "greedy"
    assert (trained.config["selection"], trained.config["maximise"]) == ("BLEU", True)


def test_only_folders_with_a_decoder_generate(trained: TrainedFolder, tmp_path: Path) -> None:
    request = {"objective": "nli", "objective_settings": {"head": 5}}
    sealed(tmp_path, config={"format": FORMAT, "network": {}, "request": request})
    with pytest.raises(UsageError, match="trained with nli, which generates no texts"):
        load_generator(open_folder(tmp_path))
    with pytest.raises(UsageError, match=r"beam=0: expected 1 or more"):
        generate(trained.path, ["the cat"], beam=0)


def test_bleu_on_dev_is_that_of_the_generated_texts(trained: TrainedFolder, tmp_path: Path) -> None:
    generator = load_generator(trained, trained.find("epoch", 2))  # neither 0 nor 100
    prepared = _prepare(_plan(tmp_path, "translate", PAIRS, dev=(str(tmp_path / "train.tsv"),), settings={"codes": 40}))
    assert prepared.files["tokenizer.json"] == (trained.path / "tokenizer.json").read_bytes()
    prepared.model.load_state_dict(generator.model.state_dict())
    sources, targets = zip(*PAIRS, strict=True)
    expected = sacrebleu.corpus_bleu(generator(sources), [list(targets)]).score
    assert 1 < expected < 99
    assert _evaluate(prepared)["BLEU"] == pytest.approx(expected)


def _constant(prepared: Any, bias: torch.Tensor | float = 0.0) -> float:
    """The perplexity of a model that predicts the same distribution everywhere: that of these logits."""
    output = prepared.model.decoder.output
    output.weight.data.zero_()
    output.bias.data.zero_().add_(bias)
    return _evaluate(prepared)["perplexity"]


ROWS: dict[str, list[Any]] = {
    "translate": PAIRS,
    "autoencode": _sentences(20),
    "reconstruct": _sentences(20),
    "next": [f"document\t{text}" for text in _sentences(20)],
    "tree": ["(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))", "(S (VP (VB stop)) (. !))", "(NP (NNS cats))"],
}
"""Of each objective with a perplexity; dev is the same."""


@pytest.mark.parametrize("objective", ROWS)
def test_the_perplexity_of_a_uniform_distribution_is_the_number_of_tokens(tmp_path: Path, objective: str) -> None:
    prepared = _prepare(_plan(tmp_path, objective, ROWS[objective], dev=(str(tmp_path / "train.tsv"),)))
    size = prepared.facts["target vocabulary"]
    assert _constant(prepared) == pytest.approx(size, rel=1e-4)


@pytest.mark.parametrize("objective", ROWS)
def test_the_perplexity_of_a_unigram_model_is_that_of_its_entropy(tmp_path: Path, objective: str) -> None:
    prepared = _prepare(_plan(tmp_path, objective, ROWS[objective], dev=(str(tmp_path / "train.tsv"),)))
    batch = prepared.streams[0].collate(np.arange(prepared.streams[0].size))
    rows = [row[:n].tolist() for row, n in zip(batch.target, batch.target_lengths.tolist(), strict=True)]
    assert all(row[-1] == END and END not in row[:-1] for row in rows)  # ends are among the tokens, once each
    counts = np.bincount(np.concatenate(rows), minlength=prepared.facts["target vocabulary"])
    shares = counts / counts.sum()
    entropy = -sum(share * math.log2(share) for share in shares if share)
    logits = torch.log(torch.from_numpy(shares).clamp(min=1e-30)).float()
    assert _constant(prepared, logits) == pytest.approx(2**entropy, rel=1e-4)


def test_perplexity_is_that_of_all_target_tokens(tmp_path: Path) -> None:
    prepared = _prepare(_plan(tmp_path, "translate", PAIRS, dev=(str(tmp_path / "train.tsv"),), settings={"codes": 40}))
    loss = prepared.model(prepared.streams[0].collate(np.arange(len(PAIRS))))
    assert _evaluate(prepared)["perplexity"] == pytest.approx(math.exp(loss.total.item() / loss.units), rel=1e-4)


def test_attention_learns_faster_than_a_vector(tmp_path: Path) -> None:
    """Of long sentences, word by word: it has to learn where to look first."""
    source = random.Random(0)
    texts = [source.choices(WORDS, k=8) for _ in range(100)]
    pairs = [(" ".join(text), " ".join(word[::-1].capitalize() for word in text)) for text in texts]
    losses = {}
    for attention in ("no", "yes"):
        settings = {"codes": 40, "attention": attention, "hidden": 16, "decoder": 32}
        prepared = _prepare(_plan(tmp_path, "translate", pairs, dev=(str(tmp_path / "train.tsv"),), settings=settings))
        optimiser = torch.optim.Adam(prepared.model.parameters(), 0.02)
        batch = prepared.streams[0].collate(np.arange(len(pairs)))
        for _ in range(150):
            optimiser.zero_grad()
            loss = prepared.model(batch)
            (loss.total / loss.units).backward()
            optimiser.step()
        losses[attention] = loss.total.item() / loss.units
    assert 2 * losses["yes"] < losses["no"] < 2.5


def test_a_sample_of_dev_is_decoded_and_stays_the_same(tmp_path: Path) -> None:
    settings = {"codes": 5, "decoded": 7}
    plan = _plan(tmp_path, "autoencode", _sentences(40), held_out=20, settings=settings)
    prepared = _prepare(plan)
    assert plan.counts["dev"]["used"] == 20
    targets = learn_bpe(_sentences(40), 5)
    out = plan.writer("some", ("source", "target"))
    for number, target in enumerate(targets.encode(_sentences(20))):
        out.add(([number % 5 + 1], target))
    examples = out.finish()
    full = {**plan.settings, "decoded": 100}
    with torch.no_grad():
        one, again = (decode_sample(prepared.model, examples, targets, 9, plan.settings, 3) for _ in range(2))
        every = decode_sample(prepared.model, examples, targets, 9, full, 3)
        other = decode_sample(prepared.model, examples, targets, 9, plan.settings, 4)
    assert one.references == again.references
    assert one.outputs == again.outputs
    assert len(one.references) == 7
    assert other.references != one.references
    assert targets.decode(every.references) == _sentences(20)
    assert all(row in every.references for row in one.references)
    assert max(map(len, every.outputs)) <= 9


def test_auto_encoders_have_the_text_as_target(tmp_path: Path) -> None:
    texts = _sentences(9)
    prepared = _prepare(
        _plan(tmp_path, "autoencode", texts, dev=(str(tmp_path / "train.tsv"),), settings={"codes": 40})
    )
    batch = prepared.streams[0].collate(np.arange(9))
    assert (
        read_targets(sealed(tmp_path / "written", tokenizer=prepared.files[FILE])).decode(batch.target.tolist())
        == texts
    )
    assert [prepared.inputs.vocabulary.ids(text) for text in texts] == [
        row[:n] for row, n in zip(batch.source.tolist(), batch.source_lengths.tolist(), strict=True)
    ]


def test_targets_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    rows = [("the cat", "short"), ("the dog", "word " * 30), ("a dog", "short")]

    def plan(most: int) -> TrainingPlan:
        settings = {"codes": 0, "max_target": most}
        return _plan(tmp_path, "translate", rows, dev=(str(tmp_path / "train.tsv"),), settings=settings)

    some = plan(20)
    assert _prepare(some).streams[0].size == 2
    assert some.counts["train"] == {"read": 3, "used": 2, "target too long": 1}
    with pytest.raises(DataError, match="All 3 targets of train have more than 2 tokens: set max_target"):
        _prepare(plan(2))
