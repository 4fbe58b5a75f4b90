import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sentprobe.encoders import Identity, load, sources
from sentprobe.errors import EncoderError, NotInstalled, UsageError

ENCODE = "def encode(texts):\n    return [[float(len(text)), 1.0] for text in texts]\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes files into an empty current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def write(source, name="mine.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
        return name

    return write


@pytest.fixture
def importable(written, tmp_path, monkeypatch):
    """The same, with the directory on the path; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield written
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("spec", ["py:mine.py:encode", "py:mine.py", "py:mine.py:", "py:./mine.py:encode"])
def test_a_function_in_a_file_is_an_encoder(written, spec):
    written(ENCODE)
    assert load(spec)(("one", "")) == [[3.0, 1.0], [0.0, 1.0]]


def test_a_function_in_a_module_is_an_encoder(importable):
    importable("", "speaking/__init__.py")
    importable(ENCODE + "class Deep:\n    inner = staticmethod(encode)\n", "speaking/loudly.py")
    assert load("py:speaking.loudly:encode")(["four"]) == [[4.0, 1.0]]
    assert load("py:speaking.loudly")(["four"]) == [[4.0, 1.0]]
    assert load("py:speaking.loudly:Deep.inner")(["four"]) == [[4.0, 1.0]]


def test_a_function_gets_a_list_whatever_the_texts_came_in(written):
    written("def encode(texts):\n    assert type(texts) is list\n    return texts\n")
    assert load("py:mine.py")(("a", "b")) == ["a", "b"]


def test_a_class_is_made_when_asked_to(written):
    written(
        "class Model:\n"
        "    layers = ['low', 'high']\n"
        "    batch_size = 7\n"
        "    def __call__(self, texts):\n"
        "        return [[1.0]] * len(texts)\n"
        "    def words(self, words):\n"
        "        return [[2.0]] * len(words)\n"
    )
    encoder = load("py:mine.py:Model?call=1")
    assert encoder(["a"]) == [[1.0]]
    assert (encoder.layers, encoder.batch_size, encoder.words(["a"])) == (("low", "high"), 7, [[2.0]])
    with pytest.raises(UsageError, match=r"names a class; add \?call=1"):
        load("py:mine.py:Model")


def test_attributes_that_mean_something_else_are_left_alone(written):
    written(
        ENCODE + "encode.layers = [1, 2]\nencode.batch_size = True\nencode.words = 'ten'\nencode.identity = print\n"
    )
    encoder = load("py:mine.py")
    assert (encoder.layers, encoder.batch_size, encoder.words, encoder.identity) == (None, None, None, None)


def test_a_function_may_use_dataclasses_and_modules_of_its_own_name(written):
    written(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import numpy\n"
        "@dataclass\n"
        "class Vectors:\n"
        "    n: int\n"
        "def encode(texts):\n"
        "    return numpy.ones((Vectors(len(texts)).n, 2))\n",
        "numpy.py",
    )
    before = set(sys.modules)
    assert load("py:numpy.py")(["a"]).tolist() == [[1.0, 1.0]]
    assert sys.modules["numpy"] is np
    assert set(sys.modules) == before


# identity


def test_vectors_of_a_function_are_not_kept_unless_its_author_says_what_they_are(written):
    written(ENCODE)
    assert load("py:mine.py").identity is None


def test_a_version_gives_an_identity_that_changes_with_version_and_source(written):
    written(ENCODE)
    seen = {load(f"py:mine.py?version={v}").identity for v in ("1", "2")}
    written(ENCODE + "# the same, perhaps\n")
    seen |= {load("py:mine.py?version=1").identity}
    seen |= {load("py:mine.py?version=1&call=0").identity}
    assert len(seen) == 3
    assert all(each.scheme == "py" and each.name == "mine.py:encode" for each in seen)
    assert {dict(each.facts)["version"] for each in seen} == {"1", "2"}


def test_an_identity_of_the_function_is_taken(written):
    written(
        "from sentprobe.encoders import Identity\n"
        + ENCODE
        + "encode.identity = 'great-model-3'\n"
        + "def other(texts): ...\n"
        + "other.identity = Identity.of('py', 'great', weights='abc')\n"
    )
    facts = dict(load("py:mine.py").identity.facts)
    assert facts["identity"] == "great-model-3"
    assert set(facts) == {"identity", "source"}
    assert load("py:mine.py:other").identity == Identity.of("py", "great", weights="abc")
    assert load("py:mine.py:other?version=2").identity == Identity.of("py", "great", weights="abc", version=2)


def test_the_identity_of_a_module_holds_the_hash_of_its_file(importable):
    importable(ENCODE, "quiet.py")
    identity = load("py:quiet:encode?version=1").identity
    assert identity.name == "quiet:encode"
    assert len(dict(identity.facts)["source"]) == 32


def test_a_changed_file_is_read_anew_even_if_its_size_and_time_are_the_same(written):
    name = written("def encode(texts):\n    return 1\n")
    os.utime(name, (1, 1))
    first = load("py:mine.py?version=1")
    written("def encode(texts):\n    return 2\n")
    os.utime(name, (1, 1))
    second = load("py:mine.py?version=1")
    assert (first([]), second([])) == (1, 2)
    assert first.identity != second.identity


# what it imports


def version(tmp_path, spec="py:mine.py?version=1"):
    """The identity, and the vector of one text, in a process of its own."""
    code = f"from sentprobe.encoders import load\ne = load({spec!r})\nprint(e.identity)\nprint(e(['a']))"
    told = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    told.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=told, check=True)
    return done.stdout.splitlines()


def test_a_helper_that_changes_changes_identity_and_vectors(written, tmp_path):
    """Within a second and with as many bytes, so that Python itself would take its compiled copy for the new one."""
    written("from helper import size\ndef encode(texts):\n    return [[size] for _ in texts]\n")
    written("size = 1\n", "helper.py")
    os.utime("helper.py", (1, 1))
    first = version(tmp_path)
    assert version(tmp_path) == first
    written("size = 2\n", "helper.py")
    os.utime("helper.py", (1, 1))
    second = version(tmp_path)
    assert (first[1], second[1]) == ("[[1]]", "[[2]]")
    assert first[0] != second[0]


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("import far\n", {"far.py": "import further\n", "further.py": "x = 1\n"}),
        ("def late():\n    from far import x\n", {"far.py": "x = 1\n"}),
        ("import importlib\nx = importlib.import_module('far')\n", {"far.py": "x = 1\n"}),
        ("import importlib\nf = importlib.import_module('fa' + 'r').f\n", {"far.py": "def f(): ...\n"}),
        (
            "import importlib\nm = importlib.import_module('fa' + 'r')\n",
            {"far.py": "import further\n", "further.py": ""},
        ),
        (
            "from kit import part\n",
            {"kit/__init__.py": "", "kit/part.py": "from . import deep\n", "kit/deep.py": "x = 1\n"},
        ),
        (
            "import kit.part\n",
            {"kit/__init__.py": "from .other import *\n", "kit/other.py": "x = 1\n", "kit/part.py": ""},
        ),
        ("import far, further\n", {"far.py": "import further\n", "further.py": "import far\n"}),  # a circle
        ("import loose.part\n", {"loose/part.py": "x = 1\n"}),  # a package without __init__.py
    ],
)
def test_every_file_that_is_imported_is_in_the_identity(importable, source, files):
    importable(source + ENCODE)
    for name, content in files.items():
        importable(content, name)

    def identity():
        for name in [name for name in sys.modules if name.partition(".")[0] in ("far", "further", "kit", "loose")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return load("py:mine.py?version=1").identity

    seen = {identity(), identity()}
    assert len(seen) == 1
    for name, content in files.items():
        importable(content + "# other\n", name)
        assert identity() not in seen
        seen.add(identity())
        importable(content, name)
        assert identity() in seen


def test_a_module_is_known_by_its_package_too(importable):
    importable("from speaking.volume import loud\n", "speaking/__init__.py")
    importable("loud = 1\n", "speaking/volume.py")
    importable("from . import volume\n" + ENCODE, "speaking/loudly.py")
    before = sources.find_sources(Path("speaking/loudly.py").resolve(), "speaking.loudly")
    assert {path.name for path in before.values()} == {"loudly.py", "__init__.py", "volume.py"}


def test_installed_packages_and_strangers_are_not_in_the_identity(importable):
    importable("import numpy, json, sentprobe.encoders.embed, absent_package.part\n" + ENCODE)
    importable("x = 1\n", "stranger.py")
    found = sources.find_sources(Path("mine.py").resolve(), None)
    assert list(found) == [""]


def test_a_helper_that_changed_after_it_was_imported_is_refused(importable):
    importable("from helping import size\ndef encode(texts):\n    return [[size] for _ in texts]\n")
    importable("size = 1\n", "helping.py")
    before = load("py:mine.py?version=1")
    assert before.identity == load("py:mine.py?version=1").identity
    importable("size = 22\n", "helping.py")
    with pytest.raises(EncoderError, match=r"helping\.py changed since it was imported\. Restart Python"):
        load("py:mine.py?version=1")


def test_imports_by_names_put_together_while_encoding_are_not_seen_and_it_is_said(written):
    written("def encode(texts): return [[1.0] for _ in texts]\n", "unseen.py")
    written("import importlib\ndef encode(texts): return importlib.import_module('unse' + 'en').encode(texts)\n")
    first = load("py:mine.py?version=1")
    written("def encode(texts): return [[2.0] for _ in texts]\n", "unseen.py")
    assert load("py:mine.py?version=1").identity == first.identity  # if this ever changes, so does docs/encoders.md
    assert "imports made while encoding are not seen, unless their names are written out" in first.caveat


def test_what_is_taken_on_trust_is_said(written):
    written(
        "from sentprobe.encoders import Identity\n"
        + ENCODE
        + "def other(texts): ...\nother.identity = Identity.of('x', 'y')\n"
    )
    assert load("py:mine.py").caveat is None
    told = load("py:mine.py?version=3").caveat
    assert "stored under version=3 and the source of mine.py; imports" in told
    assert "Whether anything else changes them" in told
    assert "cannot be verified" in load("py:mine.py:other").caveat


# what is refused


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("py:", "names no function"),
        ("py::encode", "names no function"),
        ("py:absent.py", r"there is no file absent\.py"),
        ("py:mine:encode", r"there is no module 'mine' to import\. Did you mean py:mine\.py:encode\?"),
        ("py:absent_module:encode", "there is no module 'absent_module' to import"),
        ("py:.relative:encode", "'.relative' is not a module name"),
        ("py:mine.py:encoed", r"has no 'encoed'\. Did you mean encode\?"),
        ("py:mine.py:zzz", r"has no 'zzz'\. It has encode\."),
        ("py:mine.py?speed=2", "has the option 'speed'; py: takes call, version"),
        ("py:mine.py?call=yes", "has call=yes; expected 0 or 1"),
    ],
)
def test_what_is_not_there_is_named(written, spec, message):
    written(ENCODE)
    with pytest.raises(UsageError, match=message):
        load(spec)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nencode = 1 / 0\n", r"mine\.py:2\): ZeroDivisionError: division by zero"),
        ("def encode(texts:\n    pass\n", r"mine\.py:1\): SyntaxError"),
        ("\n\nimport sys\nsys.exit('bye')\n", r"mine\.py:4\): it called sys\.exit\('bye'\)"),
        ("import json\n\njson.loads('{')\n", r"mine\.py:3\): JSONDecodeError"),
        ("def f():\n    raise ValueError('no weights')\nf()\n", r"mine\.py:2\): ValueError: no weights"),
    ],
)
def test_a_file_or_module_that_does_not_run_is_named_with_the_line(importable, source, message):
    importable(source)
    with pytest.raises(EncoderError, match=rf"the file mine\.py failed \(.*{message}"):
        load("py:mine.py:encode")
    with pytest.raises(EncoderError, match=rf"the module mine cannot be imported \(.*{message}"):
        load("py:mine:encode")


def test_a_missing_package_of_the_file_is_named(importable):
    importable("import numpy\nimport absent_package.part\n")
    for spec in ("py:mine.py:encode", "py:mine:encode"):
        with pytest.raises(
            NotInstalled, match=r"mine\.py:2\): it needs the module 'absent_package', which is not installed"
        ):
            load(spec)


def test_a_factory_that_fails_or_makes_no_function_is_named(written):
    written("def failing():\n    raise OSError('no weights')\ndef seven():\n    return 7\nnumber = 7\n")
    with pytest.raises(EncoderError, match=r"failing\(\) failed \(.*mine\.py:2\): OSError: no weights"):
        load("py:mine.py:failing?call=1")
    with pytest.raises(EncoderError, match="seven returns something of type int; expected a function"):
        load("py:mine.py:seven?call=1")
    for query in ("", "?call=1"):
        with pytest.raises(EncoderError, match=r"number (is|returns something) of type int; expected a function"):
            load(f"py:mine.py:number{query}")


def test_an_error_of_the_function_itself_is_left_to_the_caller(written):
    written("def encode(texts):\n    raise KeyError('mine')\n")
    with pytest.raises(KeyError, match="mine"):
        load("py:mine.py")(["a"])


def test_a_path_may_hold_an_at_sign(written):
    written(ENCODE, "me@home/mine.py")
    assert load("py:me@home/mine.py:encode")(["a"]) == [[1.0, 1.0]]
    assert load("py:me@home/mine.py:encode?version=1").identity.name == "me@home/mine.py:encode"
