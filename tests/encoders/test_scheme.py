"""Schemes of encoders: one file each, built in or offered by another package."""

import re
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

from sentprobe import evaluate, load_encoder
from sentprobe.cli import app
from sentprobe.data.dataset import Dataset
from sentprobe.encoders import SCHEMES, refuse_untrusted, sends_texts
from sentprobe.encoders.embed import embed
from sentprobe.errors import EncoderError, SentProbeWarning, UsageError
from sentprobe.tasks import Example

BUILT_IN = list(SCHEMES.built_in())
GUIDE = (Path(__file__).parents[2] / "docs/encoders.md").read_text("utf-8")
LETTERS = '''
"""Counts of letters.

    letters:[?dim=26]
"""

import numpy as np
from sentprobe.encoders import Identity

OPTIONS = {"dim": "how many letters are counted"}


class Letters:
    def __init__(self, dim):
        self.dim, self.identity = dim, Identity.of("letters", "", dim=dim)

    def __call__(self, texts):
        return np.array([[text.lower().count(chr(97 + i)) for i in range(self.dim)] for text in texts])


def load(spec):
    spec.check_options(OPTIONS)
    return Letters(spec.integer("dim", 26, high=26))
'''


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Install a package of one module that offers it, or something in it, as schemes."""

    def install(source, **entries):
        number = len(list(tmp_path.iterdir()))
        place, module = tmp_path / str(number), f"offered_{tmp_path.name.replace('-', '_')}_{number}"
        info = place / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (place / f"{module}.py").write_text(textwrap.dedent(source), "utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
        lines = [f"{name} = {module}{rest}\n" for name, rest in entries.items()]
        (info / "entry_points.txt").write_text(f"[sentprobe.encoders]\n{''.join(lines)}", "utf-8")
        monkeypatch.syspath_prepend(str(place))
        return module

    return install


def dataset():
    """Whether a text has more of one letter or of another."""

    def rows(split, n):
        texts = [(f"{'a' * (3 + i % 5)} {'b' * (1 if i % 2 else 9)} {split} {i}", i % 2) for i in range(n)]
        return [Example(f"c{label}", tuple(text.split()), text) for text, label in texts]

    parts = {"tr": rows("x", 60), "va": rows("y", 20), "te": rows("z", 20)}
    return Dataset("own/letters", "letters", 1, "en", ("c0", "c1"), parts)


@pytest.mark.parametrize("rest", ["", ":load"])
def test_a_scheme_of_another_package_is_one_file(offer, rest, tmp_path, capsys):
    module = offer(LETTERS, letters=rest)
    assert "letters" in SCHEMES
    encoder = load_encoder("letters:?dim=3")
    assert embed(encoder, ["a b b", "c"]).vectors.tolist() == [[1, 2, 0], [0, 0, 1]]
    assert app(["ls", "encoders"], result_action="return_value", exit_on_error=False) in (None, 0)
    assert re.search(r"^letters: +Counts of letters\. *$", capsys.readouterr().out, re.MULTILINE)
    assert SCHEMES.get("letters").package == module
    assert SCHEMES.get("letters").options == ("dim",)
    run = evaluate(["letters:?dim=2"], [dataset()], tmp_path / "run", baselines=())
    (result,) = run.results
    assert result.cell.encoder == "letters:?dim=2"
    assert result.score == 1.0


def test_options_of_a_scheme_are_checked_as_those_of_any(offer):
    offer(LETTERS, letters="")
    with pytest.raises(UsageError, match=r"letters:\?dim=27 has dim=27; expected an integer from 1 to 26"):
        load_encoder("letters:?dim=27")
    with pytest.raises(UsageError, match=r"no encoder scheme 'lettres'\. Did you mean letters\?"):
        load_encoder("lettres:")


@pytest.mark.parametrize(
    ("source", "rest", "message"),
    [
        ("import absent_package", "", "cannot be loaded: .*absent_package"),
        ("raise SystemExit(3)", "", r"cannot be loaded: .*sys\.exit"),
        ("x = 1", ":load", "cannot be loaded: .*load"),
        ("x = 1", "", r"expected offered_\w+ to be a module with a function load\(spec\), .* got module without one"),
        ("x = 1", ":x", "got int without one"),
    ],
)
def test_a_broken_scheme_is_a_usage_error_and_leaves_the_others_alone(offer, source, rest, message):
    offer(source, broken=rest)
    with pytest.raises(UsageError, match=rf"encoder.* 'broken' of offered_\w+ .*{message}"):
        load_encoder("broken:x")
    with pytest.warns(SentProbeWarning, match=message):
        assert set(SCHEMES.parts()) == set(BUILT_IN)
    assert load_encoder("baseline:length")(["a"]).shape == (1, 311)


def test_what_a_scheme_does_wrong_is_told_with_its_package(offer):
    offer("def load(spec): return 7 if spec.name else [][1]", odd="")
    with pytest.raises(EncoderError, match=r"odd:x?.* scheme 'odd' of offered_\w+: IndexError"):
        load_encoder("odd:")
    with pytest.raises(EncoderError, match=r"scheme 'odd' of offered_\w+ returned int for odd:x; expected a callable"):
        load_encoder("odd:x")


@pytest.mark.parametrize(
    ("name", "why"), [("static", "the name is taken"), ("My-Own", "expected a name of lower-case")]
)
def test_a_name_that_is_taken_or_none_is_left_out_with_a_warning(offer, name, why):
    offer(LETTERS, **{name: ""})
    with pytest.warns(SentProbeWarning, match=rf"scheme '{name}' of offered_\w+ is left out: {why}"):
        assert set(SCHEMES) == set(BUILT_IN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        assert set(SCHEMES) == set(BUILT_IN)


def test_a_scheme_of_another_package_is_used_only_if_it_was_named_by_hand(offer):
    offer("raise AssertionError('it is not even imported')", letters="")
    for remote in (False, True):
        with pytest.raises(UsageError, match=r"letters:x is loaded by offered_\w+, which may run code or send texts"):
            refuse_untrusted("letters:x", ["letters:", "static:"], remote=remote)
        refuse_untrusted("letters:x", ["letters:x"], remote=remote)
    assert sends_texts("letters:x")


@pytest.mark.parametrize("text", ["static:", "st:x", "hf:x", "vec:x", "npy:x", "baseline:length", "absent:x", ""])
def test_schemes_that_neither_run_code_nor_send_texts_are_let_through(text):
    refuse_untrusted(text, [], remote=True)
    assert not sends_texts(text)


def test_programs_and_servers_are_told():
    with pytest.raises(UsageError, match="is a program"):
        refuse_untrusted("py:x.py", [])
    refuse_untrusted("openai:x", [])
    with pytest.raises(UsageError, match="sends texts to a server"):
        refuse_untrusted("openai:x", [], remote=True)
    assert sends_texts("openai:x")


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_scheme_documents_itself(name):
    scheme = SCHEMES.get(name)
    assert scheme.summary.endswith(".")
    doc = SCHEMES.built_in()[name].load().__doc__
    assert re.search(rf"^    {name}:", doc, re.MULTILINE), "the docstring shows how it is written"
    for option in scheme.options:
        assert re.search(rf"\b{option}\b", doc), option
    # a scheme may have a row in the guide, with all of its options and no others
    options = GUIDE.partition("| scheme | options |")[2]
    for row in re.findall(rf"^\| `{name}:` \| (.*) \|$", options, re.MULTILINE):
        assert set(re.findall(r"`(\w+)=", row)) == set(scheme.options)


def test_all_built_in_schemes_are_listed():
    assert {"baseline", "hf", "npy", "openai", "py", "st", "static", "vec"} <= set(BUILT_IN) <= set(SCHEMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("static:", "<Static static:minilm, 256 dimensions>"),
        ("baseline:hash?dim=8", "Hash(dim=8, ngrams=1, seed=0)"),
        ("npy:vectors.npz", "<Precomputed npy:vectors.npz, 2 texts, 3 dimensions>"),
        ("vec:words.txt", "<Pooled vec:words.txt, 2 dimensions, pool=mean>"),
        ("py:mine.py", "<Function py:mine.py:encode>"),
    ],
)
def test_an_encoder_is_shown_on_one_short_line(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    np.savez("vectors.npz", vectors=np.ones((2, 3)), texts=np.array(["a", "b"]))
    Path("words.txt").write_text("a 1 2\nb 3 4\n")
    Path("mine.py").write_text("def encode(texts): return [[len(text)] for text in texts]\n")
    assert repr(load_encoder(text)) == expected


def test_embeddings_are_shown_on_one_line_and_as_a_table():
    found = embed(lambda texts: np.ones((3, len(texts), 5)), ["<b>", "c"])
    assert repr(found) == "<Embeddings 2 texts, 3 layers, 5 dimensions, float32>"
    assert repr(embed(load_encoder("static:"), "one")) == (
        "<Embeddings 1 text, 256 dimensions, float32, static:minilm>"
    )
    table = found._repr_html_()
    assert "<tr><th>layers</th><td>0, 1, 2</td></tr>" in table
    assert "<b>" not in table
