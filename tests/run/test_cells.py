"""What a result records besides its scores."""

import pytest

from sentprobe.run.scoring import versions


def test_versions_are_plain_strings_torch_or_not():
    pytest.importorskip("torch")  # whose version is a class of its own
    found = versions()
    assert found["torch"]
    assert {type(value) for value in found.values()} == {str}
