"""One formatter writes every number."""

import pytest

from sentprobe.core.formatting import ABSENT, BITS, FINE_POINTS, POINTS, WHOLE_POINTS, NumberFormat


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (POINTS, 0.78649, "78.6"),
        (POINTS, 1.0, "100.0"),
        (POINTS, -0.0004, "0.0"),  # never -0.0
        (WHOLE_POINTS, 0.785, "78"),  # 78.5 exactly: to even, as Python rounds
        (FINE_POINTS, 0.78649, "78.65"),
        (BITS, 0.12345, "0.123"),
        (NumberFormat(1, 0), 12345.6, "12346"),
        (POINTS, None, ABSENT),
    ],
)
def test_numbers(form, value, text):
    assert form.number(value) == text


def test_signs_and_intervals():
    assert POINTS.number(0.012, sign=True) == "+1.2"
    assert POINTS.number(-0.0001, sign=True) == "+0.0"
    assert POINTS.half_width(0.775, 0.798) == "±1.2"
    assert POINTS.half_width(None, 0.798) == ""
    assert POINTS.interval(-0.01, 0.02, sign=True, between=" … ") == "-1.0 … +2.0"
    assert POINTS.with_interval(0.787, 0.775, 0.798) == "78.7 (77.5 to 79.8)"
    assert POINTS.with_interval(0.787) == "78.7"
    assert POINTS.with_interval(None, 0.1, 0.2) == ABSENT
