"""The charts' program in the cache: taken from there as it was put there, or not at all."""

import pytest

from sentprobe.report.page.templates import bundle


@pytest.mark.parametrize(
    "damage", [lambda kept: kept[:-20], lambda kept: kept.replace(b"made", b"mad\xff"), lambda kept: b""]
)
def test_a_damaged_program_is_put_together_again(tmp_path, monkeypatch, damage):
    calls = []

    def javascript_bundle(start):
        calls.append(start)
        return f"/* made */ {start}"

    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", javascript_bundle)
    first = bundle()
    assert (bundle(), len(calls)) == (first, 1)
    (kept,) = (tmp_path / "charts").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert (bundle(), len(calls)) == (first, 2)
    assert kept.read_bytes() == whole
