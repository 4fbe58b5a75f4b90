import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.core.seal import seal_document
from sentprobe.data.dataset import Dataset, decode_rows, encode_rows, find_set_folders, read_manifest
from sentprobe.data.sources import find_sets
from sentprobe.data.tables import read_senteval
from sentprobe.errors import DataError
from sentprobe.tasks import SPLITS, Example

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8)
ROWS = st.builds(
    lambda label, tokens, key, mark, word: Example(
        label, tuple(tokens), " ".join(tokens), "s1", key, "x", (0,) if mark else (), (("word", word),) if word else ()
    ),
    st.sampled_from(["A", "B"]),
    st.lists(WORDS, min_size=1, max_size=5),
    st.none() | WORDS,
    st.booleans(),
    st.none() | WORDS,
)


def dataset(rows, **manifest):
    facts = {
        "name": "mine/t", "task": "t", "version": 1, "language": "en", "labels": ["A", "B"], "question": "?",
        "corpus": {}, "reading": {}, "sizes": {}, "majority": {}, "label_length_correlation": {}, "audit": [],
    }  # fmt: skip
    return Dataset("mine/t", "t", 1, "en", ("A", "B"), rows, facts | manifest)


def small():
    rows = [
        Example(label, ("one", "two", word), f"one two{word}", f"s{i}") for i, (label, word) in enumerate(["A.", "B!"])
    ]
    return dataset(dict.fromkeys(SPLITS, rows))


@given(st.lists(ROWS, max_size=5), st.lists(ROWS, max_size=3))
def test_what_is_saved_is_loaded(tmp_path_factory, train, test):
    folder = tmp_path_factory.mktemp("set")
    made = dataset({"tr": train, "va": [], "te": test})
    made.save(folder)
    again = Dataset.load(folder)
    assert {s: list(again.rows[s]) for s in SPLITS} == {s: list(made.rows[s]) for s in SPLITS}
    assert again.digest == made.digest
    assert again.labels == made.labels


def test_the_text_file_is_senteval_s(tmp_path):
    row = Example("1", ("a", "b"), "a b", extra=(("word1", "a"), ("word2", "b")))
    dataset({"tr": [row], "va": [row], "te": [row]}).save(tmp_path)
    lines = (tmp_path / "t.txt").read_text("utf-8").splitlines()
    assert lines == ["tr\t1\ta\tb\ta b", "va\t1\ta\tb\ta b", "te\t1\ta\tb\ta b"]


def test_lines_and_tabs_in_a_sentence_cannot_break_the_text_file(tmp_path):
    row = Example("A", ("a\tb", "c\nd", "e\u2028f"), "x")
    dataset({"tr": [row], "va": [], "te": []}).save(tmp_path)
    (line,) = (tmp_path / "t.txt").read_text("utf-8").splitlines()
    assert line.split("\t") == ["tr", "A", "a b c d e f"]


def test_the_parquet_file_has_all_columns(tmp_path):
    import pyarrow.parquet as pq

    small().save(tmp_path)
    names = pq.read_table(tmp_path / "rows.parquet").column_names
    assert names == ["split", "label", "text", "tokens", "source", "key", "stratum", "marks"]


def test_the_digest_depends_on_every_row():
    one = small()
    rows = {s: list(one.rows[s]) for s in SPLITS}
    rows["te"] = rows["te"][::-1]
    assert dataset(rows).digest != one.digest


ROW = Example("A", ("x", "y"), "x y", "s1", "k", "5-8", (0,), (("word", "x"),))
CHANGES = {
    "label": "B", "tokens": ("x", "z"), "text": "x  y", "source": "s2", "key": "l", "stratum": "9-12", "marks": (1,),
    "extra": (("word", "y"),),
}  # fmt: skip


@pytest.mark.parametrize("name", Example._fields)
def test_the_digest_depends_on_every_field_of_a_row(name):
    one, two = (dataset({"tr": [row]}) for row in (ROW, ROW._replace(**{name: CHANGES[name]})))
    assert one.digest != two.digest
    nothing = {"key": None, "marks": (), "extra": (), "source": "", "stratum": ""}.get(name)
    assert dataset({"tr": [ROW._replace(**{name: nothing})]}).digest != one.digest or nothing is None


@pytest.mark.parametrize(
    "manifest",
    [
        {"protocol": "nested"}, {"inputs": ["word"]}, {"corpus": {"synthetic": True}}, {"solved_by": ["length"]},
        {"policy": {"balance": "natural"}}, {"policy": {"disjoint": True}},
    ],
)  # fmt: skip
def test_the_digest_depends_on_what_the_manifest_says_of_the_set_s_use(manifest):
    assert dataset({"tr": [ROW]}, **manifest).digest != dataset({"tr": [ROW]}).digest


def test_the_digest_depends_on_the_labels_and_not_on_names():
    one = dataset({"tr": [ROW]})
    assert replace(one, labels=("B", "A")).digest != one.digest
    assert replace(one, labels=("A", "B", "C")).digest != one.digest
    for more in ({"name": "other"}, {"task": "other"}, {"version": 2}, {"language": None}):
        assert replace(one, **more).digest == one.digest
    assert dataset({"tr": [ROW]}, question="another", seed=7).digest == one.digest


TEXTS = st.text(st.sampled_from('ab\x1f\n\t"\\,[] '), max_size=4)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=2), TEXTS), max_size=2), st.data())
def test_no_two_sets_have_the_same_digest(rows, data):
    """Whatever characters stand in them: fields cannot run into each other."""
    others = data.draw(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=2), TEXTS), max_size=2))
    one, two = (
        dataset({"te": [Example(label, tuple(tokens), text) for label, tokens, text in some]})
        for some in (rows, others)
    )
    assert (one.digest == two.digest) == (rows == others)


def test_fields_that_were_joined_are_told_apart():
    one = dataset({"te": [Example("A", ("x\x1fy",), "t")]})
    two = dataset({"te": [Example("A", ("x", "y"), "t")]})
    assert one.digest != two.digest


def test_the_digest_does_not_depend_on_how_many_rows_are_serialised_at_a_time(monkeypatch):
    rows = [Example("A", (str(i), "é" if i % 2 else "\ud800"), str(i), extra=(("word", "x"),)) for i in range(7)]
    found = set()
    for n in (1, 3, 1000):
        monkeypatch.setattr("sentprobe.data.dataset.DIGESTED_ROWS", n)
        found.add(dataset({"tr": rows[:4], "te": rows[4:]}).digest)
    assert len(found) == 1


def test_lone_surrogates_and_numpy_s_numbers_have_a_digest():
    assert (
        dataset({"te": [Example("A", ("\ud800",), "t")]}).digest != dataset({"te": [Example("A", ("?",), "t")]}).digest
    )
    plain, numbers = (Example("A", ("x",), "t", marks=(one,)) for one in (3, np.int64(3)))
    assert dataset({"te": [plain]}).digest == dataset({"te": [numbers]}).digest


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.replace(b'"mine/t"', b'"mine/\xff"'),
        lambda b: b.replace(b'"majority": {}', b'"majority": {"te": 1}'),
        lambda b: b.replace(b'"version": 1', b'"version": 2'), lambda b: b.replace(b'"version": 1', b'"version": "1"'),
        lambda b: b.replace(b'"A"', b"5"), lambda b: b[:-20], lambda b: b"[" * 100_000, lambda b: b"7",
        lambda b: b.replace(b'"checksum"', b'"checksun"'), lambda b: b.replace(b'"version": 1', b'"version": 1e400'),
        lambda b: b.replace(b'"version": 1', b'"version": 99999999999999999999999'),
    ],
)  # fmt: skip
def test_a_manifest_that_is_not_as_it_was_written_is_said_so(tmp_path, change):
    small().save(tmp_path)
    path = tmp_path / "manifest.json"
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    with pytest.raises(DataError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_a_manifest_may_be_laid_out_anew(tmp_path):
    small().save(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes())))
    assert Dataset.load(tmp_path).digest == small().digest


@pytest.mark.parametrize("name", ["labels", "version", "corpus", "audit"])
def test_a_manifest_of_other_types_is_said_so(tmp_path, name):
    small().save(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_bytes(seal_document({**json.loads(path.read_bytes()), name: "text"}))
    with pytest.raises(DataError, match=rf"manifest\.json.*`\$\.{name}`"):
        read_manifest(tmp_path)


def test_a_text_file_that_is_not_the_one_beside_the_manifest_is_said_so(tmp_path):
    small().save(tmp_path)
    path = tmp_path / "t.txt"
    assert len(read_senteval(path)) == len(find_sets([str(path)])[0].load()) == 6
    path.write_text(path.read_text().replace("two", "three", 1))
    for read in (lambda: read_senteval(path), lambda: find_sets([str(path)])[0].load()):
        with pytest.raises(DataError, match=r"t\.txt is not what the manifest next to it describes"):
            read()
    assert len(Dataset.load(tmp_path)) == 6  # which does not read it
    path.rename(tmp_path.parent / "own.txt")
    assert len(read_senteval(tmp_path.parent / "own.txt")) == 6


def test_parquet_of_other_types_is_said_so(tmp_path):
    small().save(tmp_path)
    table = pq.read_table(tmp_path / "rows.parquet").to_pydict()
    good = pa.table(
        table,
        pa.schema(
            [
                *((n, pa.string()) for n in ("split", "label", "text")),
                ("tokens", pa.list_(pa.string())),
                *((n, pa.string()) for n in ("source", "key", "stratum")),
                ("marks", pa.list_(pa.int32())),
            ]
        ),
    )
    wrong = {
        "the column label holds int64": pa.array(range(6)), "the column marks holds string": pa.array(["x"] * 6),
        "the column tokens holds list<.*: int64>": pa.array([[1]] * 6),
        "the column text has rows without": pa.array([None] * 6, pa.string()),
        "the column tokens has lists with": pa.array([[None]] * 6, pa.list_(pa.string())),
    }  # fmt: skip
    assert len(decode_rows(_parquet(good))["te"]) == 2
    for says, values in wrong.items():
        name = says.split()[2]
        with pytest.raises(ValueError, match=says):
            decode_rows(_parquet(good.set_column(good.column_names.index(name), name, values)))
    with pytest.raises(ValueError, match="it lacks the column marks"):
        decode_rows(_parquet(good.drop_columns(["marks"])))
    with pytest.raises(ValueError, match="the split 'xx'"):
        decode_rows(_parquet(good.set_column(0, "split", pa.array(["xx"] * 6))))


def _parquet(table):
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    return bytes(memoryview(buffer.getvalue()))


def test_an_altered_file_is_noticed(tmp_path):
    small().save(tmp_path)
    other = dataset({"tr": [Example("A", ("x",), "x")], "va": [], "te": []})
    other.save(tmp_path / "other")
    (tmp_path / "other/rows.parquet").replace(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="is not what the manifest describes"):
        Dataset.load(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"PAR1 no", None])
def test_a_damaged_or_missing_parquet_file_is_said_so(tmp_path, damage):
    small().save(tmp_path)
    path = tmp_path / "rows.parquet"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    with pytest.raises(DataError, match="Make the set again"):
        Dataset.load(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}'])
def test_a_damaged_manifest_is_said_so(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DataError, match="manifest"):
        read_manifest(tmp_path)


def test_the_manifest_marks_a_complete_folder(tmp_path, monkeypatch):
    made = small()
    made.save(tmp_path)
    # a crash between the files: the old manifest must not vouch for the new rows
    monkeypatch.setattr("sentprobe.data.dataset.write_rows", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        made.save(tmp_path)
    with pytest.raises(DataError, match="holds no probing set"):
        find_set_folders(tmp_path)


def test_a_full_disk_is_a_plain_message_and_leaves_no_half_file(tmp_path):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    target = tmp_path / "t.txt"

    from sentprobe.data import dataset as module

    original = Path.open

    def open_(self, *arguments, **named):
        return original(full if self.name.startswith(".t.txt") else self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", open_)
        with pytest.raises(DataError, match=r"t\.txt cannot be written: No space left on device"):
            module.write_atomically(target, b"x" * 10_000)
    assert list(tmp_path.iterdir()) == []


def test_sets_are_found_below_a_folder(tmp_path):
    small().save(tmp_path / "a/t")
    small().save(tmp_path / "b/t")
    assert find_set_folders(tmp_path) == [tmp_path / "a/t", tmp_path / "b/t"]
    assert find_set_folders(tmp_path / "a/t") == [tmp_path / "a/t"]
    with pytest.raises(DataError, match="There is no"):
        find_set_folders(tmp_path / "c")


def test_the_manifest_is_readable_json(tmp_path):
    small().save(tmp_path)
    text = (tmp_path / "manifest.json").read_text("utf-8")
    assert json.loads(text)["digest"] == small().digest
    assert "\n" in text


def test_further_columns_in_any_order_are_loaded_again(tmp_path):
    row = Example("A", ("x",), "x", extra=(("word", "w"), ("other", "o")))
    made = dataset({"tr": [row], "va": [], "te": []})
    made.save(tmp_path)
    again = Dataset.load(tmp_path)
    assert again.rows["tr"] == [row]


def test_a_column_of_ours_cannot_be_overwritten(tmp_path):
    row = Example("A", ("x",), "x", extra=(("text", "w"),))
    with pytest.raises(DataError, match="cannot be called text"):
        dataset({"tr": [row], "va": [], "te": []}).save(tmp_path)


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be created: Not a directory"):
        small().save(tmp_path / "file/set")


@pytest.mark.parametrize("lost", ["sizes", "reading", "audit", "corpus", "question"])
def test_a_manifest_that_lacks_what_show_prints_is_said_so(tmp_path, lost):
    small().save(tmp_path)
    path = tmp_path / "manifest.json"
    facts = json.loads(path.read_text("utf-8"))
    del facts[lost]
    path.write_text(json.dumps(facts), "utf-8")
    with pytest.raises(DataError, match=f"it lacks {lost}"):
        read_manifest(tmp_path)


def test_rows_that_are_read_share_their_strings(monkeypatch):
    monkeypatch.setattr("sentprobe.data.dataset.DECODED_ITEMS", 3)  # lists end in the middle of a block
    words = [("They", "sleep"), ("They", "do", "not", "sleep", "."), ()]
    rows = [
        Example("long label", tokens, " ".join(tokens), f"s{i}", key, "stratum", marks, extra)
        for i, tokens in enumerate(words)
        for key, marks, extra in ((None, (), ()), ("sleep", (1,), (("word", "sleep"),)))
    ]
    found = decode_rows(bytes(encode_rows("mine/set", {"tr": rows, "te": rows[:1]})))
    assert found == {"tr": rows, "va": [], "te": rows[:1]}
    one, two, *_ = (row for row in found["tr"] if row.tokens[1:2])
    assert one.label is two.label
    assert one.tokens[0] is two.tokens[0]
    assert one.stratum is two.stratum
