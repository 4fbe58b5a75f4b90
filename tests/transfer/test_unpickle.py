"""Pickles of Python 2 are read, and none of them can do anything."""

import os
import pickle
import struct
from contextlib import suppress

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.core.unpickle import PickledArray, load
from sentprobe.errors import DataError
from tests.transfer.pickles import array, called, coco, found, keyed, kind, listed, number, pickled, scalar, string
from tests.transfer.pickles import several as tupled
from tests.transfer.pickles import unicode as text


def loaded(tmp_path, content):
    (tmp_path / "x.pkl").write_bytes(content)
    return load(tmp_path / "x.pkl")


def test_plain_containers_strings_and_numbers(tmp_path):
    content = pickled(keyed(a=listed(number(1), text("é"), string("b")), c=tupled(number(-2), b"N", b"\x88")))
    expected = {"a": [1, "é", "b"], "c": (-2, None, True)}
    assert loaded(tmp_path, content) == expected == pickle.loads(content, encoding="latin1")


@pytest.mark.parametrize("code", ["f4", "f8", "f2", "i4", "i8", "u1"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_arrays_are_what_python_reads(tmp_path, code, order):
    values = [[0, 1, 2], [3, 4, 5]]
    content = pickled(array(values, code, order))
    oracle = pickle.loads(content, encoding="latin1")  # numpy's own reader
    read = loaded(tmp_path, content)
    assert isinstance(read, PickledArray)
    assert read.numbers.tolist() == oracle.tolist() == values
    assert read.numbers.dtype.newbyteorder("=") == oracle.dtype  # numpy turns them round while reading


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_pickled_today_are_read_too(tmp_path, protocol, order):
    values = numpy.arange(6, dtype=numpy.float32).reshape((2, 3), order=order)
    assert loaded(tmp_path, pickle.dumps(values, protocol)).numbers.tolist() == values.tolist()


def test_single_numbers_of_numpy(tmp_path):
    assert loaded(tmp_path, pickled(scalar(12_345))) == 12_345
    assert loaded(tmp_path, pickle.dumps(numpy.float64(0.5), 2)) == 0.5


MARKER = "evil"


class Evil:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_runs_something_is_refused_and_does_not_run(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    evil = pickle.dumps({"features": Evil(os.mkdir, MARKER)}, protocol)
    pickle.loads(evil)  # it works where nobody looks
    assert (tmp_path / MARKER).exists()
    (tmp_path / MARKER).rmdir()
    with pytest.raises(
        DataError, match=r"x\.pkl refers to (posix|nt)\.mkdir, which is not a container.* It was not run"
    ):
        loaded(tmp_path, evil)
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"), ("posix", "system"), ("subprocess", "Popen"), ("__builtin__", "eval"), ("builtins", "exec"),
        ("__builtin__", "getattr"), ("copy_reg", "_reconstructor"), ("numpy", "load"), ("numpy", "fromfile"),
        ("numpy", "ndarray.tofile"), ("numpy.core.multiarray", "fromstring"), ("numpy.testing", "rundocs"),
        ("_codecs", "lookup"), ("pickle", "loads"), ("sentprobe.core.unpickle", "load"),
    ],
)  # fmt: skip
def test_no_other_name_is_found(tmp_path, module, name):
    with pytest.raises(DataError, match="which is not a container, string, number or array"):
        loaded(tmp_path, pickled(called(found(module, name), string("x"))))
    with pytest.raises(DataError, match="which is not a container, string, number or array"):
        loaded(tmp_path, b"\x80\x04" + text(module) + text(name) + b"\x93.")  # as of protocol 4


@pytest.mark.parametrize(
    "content",
    [
        called(found("_codecs", "encode"), text("x"), text("zip")),
        called(found("_codecs", "encode"), text("x"), text("rot13")),
        array([1.0], raw=listed(number(1))),
        array([1.0], raw=string("too short")[:-1]),
        called(found("numpy", "dtype"), string("O")) + b"0" + array([1.0]).replace(string("f4"), string("O8")),
        called(found("numpy", "ndarray"), number(1)),
        b"Pone\n",
        b"\x82\x01",
        b"garbage",
        b"",
    ],
)
def test_what_is_no_plain_data_is_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"x\.pkl is not a pickle of plain data"):
        loaded(tmp_path, pickled(content))


def test_a_pickle_cannot_alter_what_the_next_one_is_read_with(tmp_path):
    altered = called(found("numpy", "dtype"), string("f4")) + b"0"
    for name in ("dtype",):
        # the state (None, {"__defaults__": …}) sets attributes of whatever it is given to
        state = tupled(b"N", keyed(__defaults__=tupled(number(1)), __name__=string("evil")))
        altered += found("numpy", name) + state + b"b0"
    with suppress(DataError):
        loaded(tmp_path, pickled(altered + number(1)))
    assert loaded(tmp_path, pickled(array([[1.0, 2.0]]))).numbers.tolist() == [[1.0, 2.0]]
    assert numpy.dtype.__name__ == "dtype"


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(DataError, match=r"There is no file .*gone\.pkl"):
        load(tmp_path / "gone.pkl")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_pickle_raises_nothing_but_a_data_error(tmp_path, data):
    content = bytearray(coco(array([[1.0, 2.0]]), [["a", "b", "c", "d", "e"]]))
    for _ in range(data.draw(st.integers(1, 3))):
        # not to r, LONG_BINPUT, with which a few bytes can ask for gigabytes
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(
            st.integers(0, 255).filter(lambda c: c != 0x72)
        )
    with suppress(DataError):
        loaded(tmp_path, bytes(content[: data.draw(st.integers(0, len(content)))]))


def test_the_opcodes_written_here_are_those_of_a_pickle():
    assert pickle.loads(pickled(kind("f4"))) == numpy.dtype("<f4")
    assert pickle.loads(pickled(number(7))) == struct.unpack("<i", struct.pack("<i", 7))[0]
