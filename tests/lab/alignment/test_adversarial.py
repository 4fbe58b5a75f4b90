"""The adversarial method: its gradients against torch and differences, recovery, resuming, small vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from sentprobe.core.arguments import resolve_settings
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.method import Arrays, Matrices, Problem
from sentprobe.lab.alignment.methods._discriminator import Discriminator, cross_entropy
from sentprobe.lab.alignment.methods.adversarial import (
    AdversarialOptions,
    AdversarialState,
    Game,
    discriminator_rows,
    keep_best,
    start,
)
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.refine import mutual_neighbours
from sentprobe.lab.alignment.request import make_request
from sentprobe.lab.alignment.space import Matrix
from tests.lab.alignment.planted import plant

METHOD = METHODS["adversarial"]
RECOVERY: dict[str, Any] = {"hidden": 64, "epoch_size": 25_000, "epochs": 4, "batch": 16, "lr": 0.6}
TINY: dict[str, Any] = {"hidden": 32, "epoch_size": 640, "epochs": 3, "batch": 16}


def options(**given: Any) -> AdversarialOptions:
    values: dict[str, Any] = resolve_settings(METHOD.settings, {**TINY, **given}, "adversarial")
    return AdversarialOptions(**values)


def problem(source: Matrix, target: Matrix, seed: int = 0, **given: Any) -> Problem:
    settings = resolve_settings(METHOD.settings, {**TINY, **given}, "adversarial")
    return Problem(source, target, None, settings, seed, criterion=partial(criterion, source, target))


def made(layers: int = 2, dropout: tuple[float, float] = (0.0, 0.0), seed: int = 0) -> Discriminator:
    found = Discriminator((6, *[9] * layers), 8, dropout)
    found.initialise(np.random.default_rng(seed))
    return found


def in_torch(
    discriminator: Discriminator, rows: Any, masks: Mapping[int, Matrix] | None = None
) -> tuple[Any, list[Any]]:
    """The logits and the parameters, weights and biases in turn."""
    import torch

    parameters: list[Any] = []
    for at, (weight, bias) in enumerate(zip(discriminator.weights, discriminator.biases, strict=True)):
        parameters += [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (weight, bias)]
        rows = torch.nn.functional.leaky_relu(rows, 0.2) if at else rows
        rows = rows * torch.tensor(masks[at], dtype=torch.float64) if masks and at in masks else rows
        rows = rows @ parameters[-2] + parameters[-1]
    return rows[:, 0], parameters


@pytest.mark.parametrize(("layers", "dropout"), [(1, (0.0, 0.0)), (2, (0.0, 0.0)), (3, (0.0, 0.0)), (2, (0.4, 0.3))])
def test_a_step_of_the_discriminator_is_that_of_torch(layers: int, dropout: tuple[float, float]) -> None:
    torch = pytest.importorskip("torch")
    discriminator = made(layers, dropout)
    rng = np.random.default_rng(1)
    rows, labels = rng.standard_normal((8, 6), np.float32), np.repeat(np.float32([0.8, 0.2]), 4)
    twin, masks = np.random.default_rng(5), {}
    for at, p in enumerate((dropout[0], *[dropout[1]] * layers)):
        if p:
            masks[at] = (twin.random((8, 9 if at else 6), np.float32) >= np.float32(p)) / (1 - p)
    logits, parameters = in_torch(discriminator, torch.tensor(rows, dtype=torch.float64), masks)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(labels, dtype=torch.float64))
    expected.backward()
    loss, errors = cross_entropy(discriminator.logits(rows, np.random.default_rng(5)), labels)
    discriminator.differentiate(8)
    discriminator.descend(errors, 0.5)
    assert loss == pytest.approx(expected.item(), abs=1e-6)
    for at, (weight, bias) in enumerate(zip(discriminator.weights, discriminator.biases, strict=True)):
        for found, before in ((weight, parameters[2 * at]), (bias, parameters[2 * at + 1])):
            np.testing.assert_allclose(found, (before - 0.5 * before.grad).detach().numpy(), atol=1e-6)


def game(given: AdversarialOptions, seed: int = 3) -> tuple[Game, AdversarialState, Matrix, Matrix]:
    source, target, *_ = plant(50, 6)
    source, target = discriminator_rows(source, given), discriminator_rows(target, given)
    state = start(6, given, np.random.default_rng(seed))
    state.matrix[:] = np.random.default_rng(seed).standard_normal((6, 6)) / 2
    return Game(source, target, state, given, np.random.default_rng(7)), state, source, target


@pytest.mark.parametrize("updates", ["alternate", "joint"])
def test_a_step_of_the_mapping_is_that_of_torch(updates: str) -> None:
    """The oracle has the loss over both sides, and orthogonalises as the paper writes it, for W = Mᵀ."""
    torch = pytest.importorskip("torch")
    given = options(updates=updates, batch=4, hidden=9, dis_lambda=0.7, input_dropout=0.0, lr=0.3)
    played, state, source, target = game(given)
    twin = np.random.default_rng(7)
    of_source = source[twin.integers(50, size=4)].astype(np.float64)
    of_target = target[twin.integers(50, size=4) if updates == "joint" else [0, 1, 2, 3]].astype(np.float64)
    matrix = torch.tensor(state.matrix, dtype=torch.float64, requires_grad=True)
    rows = torch.cat([torch.tensor(of_source) @ matrix, torch.tensor(of_target)])
    logits, _ = in_torch(state.discriminator, rows)
    misled = torch.tensor(np.repeat([0.2, 0.8], 4))
    (0.7 * torch.nn.functional.binary_cross_entropy_with_logits(logits, misled)).backward()
    w = (matrix - 0.3 * matrix.grad).detach().numpy().T
    if updates == "joint":
        played.update_discriminator(joint=True)
    else:
        played.update_mapping()
    np.testing.assert_allclose(state.matrix.T, 1.01 * w - 0.01 * (w @ w.T) @ w, atol=1e-5)


def test_gradients_against_differences() -> None:
    discriminator, rng = made(), np.random.default_rng(2)
    rows, labels = rng.standard_normal((8, 6), np.float32), np.repeat(np.float32([0.8, 0.2]), 4)

    def loss() -> float:
        return cross_entropy(discriminator.logits(rows), labels)[0]

    def difference(values: Matrix, along: Matrix) -> float:
        before, step = values.copy(), np.float32(1e-3)
        values[...] = before + step * along
        above = loss()
        values[...] = before - step * along
        below = loss()
        values[...] = before
        return (above - below) / 2e-3

    directions = {name: rng.standard_normal(v.shape, np.float32) for name, v in discriminator.arrays().items()}
    expected = {name: difference(discriminator.arrays()[name], along) for name, along in directions.items()}
    along = rng.standard_normal(rows.shape, np.float32)
    by_rows = difference(rows, along)
    before = {name: value.copy() for name, value in discriminator.arrays().items()}
    _, errors = cross_entropy(discriminator.logits(rows), labels)
    discriminator.differentiate(8)
    assert np.sum(discriminator.by_input(8) * errors[:, None] * along) == pytest.approx(by_rows, rel=0.02, abs=1e-4)
    discriminator.descend(errors, 1.0)
    for name, value in discriminator.arrays().items():
        found = float(np.sum((before[name] - value) * directions[name]))
        assert found == pytest.approx(expected[name], rel=0.02, abs=1e-4), name


def test_dropout_keeps_the_mean() -> None:
    discriminator = Discriminator((1000,), 8, (0.25, 0.0))
    discriminator.weights[0][:] = 1 / 1000
    logits = discriminator.logits(np.ones((8, 1000), np.float32), np.random.default_rng(0))
    assert logits.mean() == pytest.approx(1, abs=0.03)
    assert logits.std() > 0
    np.testing.assert_allclose(discriminator.logits(np.ones((8, 1000), np.float32)), 1, rtol=1e-4)


def test_a_planted_rotation_is_found() -> None:
    """As it is meant to be used: the best of several seeds by the criterion, then refined."""
    found = plant(500, 20)
    given = [problem(found.source, found.target, seed, **RECOVERY) for seed in range(2)]
    solved = max((METHOD.solve(each) for each in given), key=given[0].criterion)
    np.testing.assert_allclose(solved.source @ solved.source.T, np.eye(20), atol=0.3)
    for _ in range(3):
        pairs = mutual_neighbours(found.source, found.target, solved)
        solved = Matrices(orthogonal(found.source[pairs[:, 0]], found.target[pairs[:, 1]]))
    assert found.precision(solved.source) > 0.9


def run(given: Problem, stop_after: int | None = None) -> tuple[Matrix | None, list[dict[str, float]], dict[str, Any]]:
    """The matrix, what was reported and what was kept last; interrupted within the epoch after ``stop_after``."""
    facts: list[dict[str, float]] = []
    kept: dict[str, Any] = {}

    def save(arrays: Arrays) -> None:
        kept.update({name: array.copy() for name, array in arrays.items()})

    def measured(matrices: Matrices) -> float:
        if len(facts) == stop_after:
            raise KeyboardInterrupt
        return given.criterion(matrices)

    def report(stage: str, number: int, matrices: Matrices | None, known: Mapping[str, float]) -> None:
        assert (stage, number) == ("epoch", int(given_epoch()) + 1)
        facts.append(dict(known))

    def given_epoch() -> float:
        before = given.load()
        return len(facts) + (before["numbers"][-1] if before else 0)

    changed = replace(given, report=report, save=save, criterion=measured)
    try:
        return METHOD.solve(changed).source, facts, kept
    except KeyboardInterrupt:
        return None, facts, kept


@pytest.mark.parametrize("stop", [1, 2])
def test_an_interrupted_run_ends_as_one_in_one_go(stop: int) -> None:
    found = plant(60, 6)
    given = problem(found.source, found.target, epochs=4)
    whole, all_facts, _ = run(given)
    none, facts, kept = run(given, stop)
    assert none is None
    again, more, _ = run(replace(given, load=lambda: kept))
    assert facts + more == all_facts
    assert whole is not None
    assert again is not None
    assert whole.tobytes() == again.tobytes()


@pytest.mark.parametrize(
    ("preset", "values"),
    [
        # Conneau et al. 2018, section 3: two layers of 2048, dropout 0.1 on the input, smoothing 0.2, 50k words,
        # batches of 32, rate 0.1 with decay 0.95, halved whenever the criterion falls, beta 0.01
        ("paper", (2048, 2, 0.1, 0.2, 50_000, 1, 32, 0.1, 0.95, 1, 0.01, 1_000_000)),
        # unsupervised.py of MUSE, revision 3159355
        ("muse", (2048, 2, 0.1, 0.1, 75_000, 5, 32, 0.1, 0.98, 2, 0.001, 1_000_000)),
    ],
)
def test_presets_are_complete_and_what_is_typed_comes_first(preset: str, values: tuple[float, ...]) -> None:
    names = (
        "hidden", "layers", "input_dropout", "smoothing", "most_frequent", "dis_steps", "batch", "lr", "decay",
        "shrink_from", "beta", "epoch_size",
    )  # fmt: skip
    asked = make_request("en.vec", "fr.vec", method="adversarial", preset=preset)
    assert tuple(asked.settings[name] for name in names) == values
    assert METHOD.presets[preset].keys() == METHOD.settings.keys()
    small = make_request("en.vec", "fr.vec", method="adversarial", preset=preset, settings={"hidden": 64})
    assert {name: value for name, value in small.settings.items() if value != asked.settings[name]} == {"hidden": 64}


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(UsageError, match=r"adversarial has no preset 'papr'. Did you mean paper\?"):
        make_request("en.vec", "fr.vec", method="adversarial", preset="papr")
    with pytest.raises(UsageError, match=r"vecmap has no preset 'paper'. It has none: leave it out"):
        make_request("en.vec", "fr.vec", method="vecmap", preset="paper")
    with pytest.raises(UsageError, match="--preset is for one method"):
        make_request("en.vec", "fr.vec", method="best", preset="paper")


def test_seeds_differ_and_repeat() -> None:
    found = plant(60, 6)
    one, two, three = (METHOD.solve(problem(found.source, found.target, seed)).source for seed in (0, 0, 1))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != three.tobytes()


def test_the_best_epoch_is_kept_and_every_fact_is_reported() -> None:
    found = plant(60, 6)
    values, seen = iter([0.3, 0.5, 0.4]), []
    given = problem(found.source, found.target)
    matrix = METHOD.solve(
        replace(given, criterion=lambda m: next(values), report=lambda s, i, m, f: seen.append((m, dict(f))))
    ).source
    assert seen[1][0] is not None
    np.testing.assert_array_equal(matrix, seen[1][0].source)
    names = {"criterion", "discriminator_loss", "discriminator_accuracy", "orthogonality", "lr"}
    assert all(set(facts) == names for _, facts in seen)
    assert all(0 <= facts["discriminator_accuracy"] <= 1 for _, facts in seen)
    m = seen[2][0].source.astype(np.float64)
    assert seen[2][1]["orthogonality"] == pytest.approx(np.linalg.norm(m @ m.T - np.eye(6)))


@pytest.mark.parametrize(("shrink_from", "expected"), [(1, [0.095, 0.045125, 0.02143]), (2, [0.095, 0.09025, 0.04287])])
def test_learning_rates(shrink_from: int, expected: list[float]) -> None:
    given = options(shrink_from=shrink_from, lr=0.1)
    state = start(4, given, np.random.default_rng(0))
    rates = []
    for value in (0.5, 0.4, 0.3):
        keep_best(state, value, given)
        rates.append(state.lr)
    assert rates == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("words", "others"), [(2, 2), (2, 300), (300, 3)])
@pytest.mark.parametrize("updates", ["alternate", "joint"])
def test_small_vocabularies(words: int, others: int, updates: str) -> None:
    source, target = plant(words, 5).source, plant(others, 5, seed=1).source
    matrix = METHOD.solve(problem(source, target, updates=updates, dis_steps=2)).source
    assert np.isfinite(matrix).all()


def test_only_the_most_frequent_words_are_fed() -> None:
    found = plant(60, 6)
    rest = np.full((10, 6), np.nan, np.float32)
    first = problem(found.source, found.target, most_frequent=60)
    more = replace(first, source=np.concatenate([found.source, rest]), target=np.concatenate([found.target, rest]))
    every = problem(found.source, found.target, most_frequent=0)
    matrices = [METHOD.solve(given).source.tobytes() for given in (first, more, every)]
    assert len(set(matrices)) == 1


def test_the_scale_of_the_vectors_does_not_matter() -> None:
    found = plant(60, 6)
    one = METHOD.solve(problem(found.source, found.target)).source
    two = METHOD.solve(problem(found.source * 64, found.target / 64)).source
    np.testing.assert_array_equal(one, two)
    three = METHOD.solve(problem(found.source, found.target, scale=0)).source
    assert not np.array_equal(one, three)


def test_inputs_do_not_change() -> None:
    found = plant(60, 6)
    before = found.source.tobytes(), found.target.tobytes()
    METHOD.solve(problem(found.source, found.target, scale=0))
    assert (found.source.tobytes(), found.target.tobytes()) == before


def test_weights_are_clipped() -> None:
    played, state, *_ = game(options(clip=0.05, hidden=9, batch=4))
    played.update_discriminator(joint=False)
    assert max(abs(value).max() for value in state.discriminator.arrays().values()) <= np.float32(0.05)


@pytest.mark.parametrize("spoil", [lambda rows: rows * np.float32(np.nan), lambda rows: rows])
def test_divergence_is_an_error(spoil: Callable[[Matrix], Matrix]) -> None:
    found = plant(60, 6)
    given = problem(spoil(found.source), found.target, lr=1e30)
    with pytest.raises(SentProbeError, match=r"diverged in epoch 1 at lr=1e\+30 .* Lower lr"):
        METHOD.solve(given)
