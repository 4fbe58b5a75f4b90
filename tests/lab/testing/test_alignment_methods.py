"""The check of methods of alignment: all built-in ones pass, and each rule finds the fault that it is for."""

import numpy as np
import pytest

from sentprobe.errors import SentProbeError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.method import Matrices, Method
from sentprobe.lab.testing import check_alignment_method, examine_alignment_method

SMALL = {"rounds": 4, "epochs": 2, "epoch_size": 400, "hidden": 8, "batch": 16, "start_words": 100, "interval": 2}
"""Settings that make methods fast; those that a method does not have are left out."""


@pytest.mark.parametrize("name", METHODS)
def test_built_in_methods_pass(name):
    method = METHODS[name]
    check_alignment_method(method, {key: value for key, value in SMALL.items() if key in method.settings})


def walk(fault):
    """A method with a fault."""

    def solve(problem):
        saved = None if fault == "forgets" else problem.load()
        number, matrix = (0, np.eye(8)) if saved is None else (int(saved["number"]), saved["matrix"])
        if fault == "forgets" and problem.load() is not None:
            return Matrices(np.eye(8, dtype=np.float32))
        while number < 3:
            number += 1
            rng = np.random.default_rng() if fault == "unseeded" else problem.rng(number)
            matrix = matrix @ np.linalg.qr(rng.standard_normal((8, 8)))[0]
            problem.save({"number": np.array(number), "matrix": matrix})
        if fault == "changes":
            problem.source[0] = 0
        if fault == "raises":
            raise ValueError("no")
        scale = 2 if fault == "stretches" else np.nan if fault == "diverges" else 1
        found = (scale * matrix).astype(np.float32)
        return Matrices(found[:5] if fault == "narrow" else found)

    return Method("walk", "a walk", solve, dictionary="unused")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("narrow", r"expected matrices with 8 rows, got shape \(5, 8\)"),
        ("diverges", "not finite"),
        ("raises", "ValueError: no"),
        ("changes", "changed the vectors"),
        ("unseeded", "the same seed gives the same matrices"),
        ("stretches", "nearly orthogonal"),
        ("forgets", "if it is interrupted"),
    ],
)
def test_a_fault_is_found(fault, message):
    with pytest.raises(SentProbeError, match=message):
        check_alignment_method(walk(fault))


def test_a_method_without_faults_passes():
    assert all(verdict.passed for verdict in examine_alignment_method(walk("")))
