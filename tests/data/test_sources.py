"""Which sets are found, and under which names."""

import gzip
import io
import pickle
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.data import search
from sentprobe.data.rows import Columns
from sentprobe.data.sources import find_sets
from sentprobe.errors import CorpusError, DataError, SentProbeError, UsageError

SENTEVAL = "tr\tPAST\tHe left .\nva\tPRES\tShe stays .\nte\tPAST\tWe ran .\n"
XPROBE = "He left .\tPAST\nShe stays .\tPRES\n"
TABLE = "text\tlabel\nHe left .\tPAST\n"


def write(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(root)


def names(*paths, **more):
    return [source.name for source in find_sets([str(path) for path in paths], **more)]


def told(*paths, **more):
    found = find_sets([str(path) for path in paths], **more)
    return [(source.name, source.kind, source.task, source.language) for source in found]


@pytest.fixture
def collection(tmp_path, conneau):
    """One of everything, with things in between that are no sets."""
    for task in ("past_present", "bigram_shift"):
        conneau[task].save(tmp_path / "made/conneau2018" / task)
    write(
        tmp_path,
        {
            "xprobe/en/past_present/va.txt": XPROBE,
            "xprobe/en/past_present/te.txt.gz": gzip.compress(XPROBE.encode()),
            "xprobe/fr/past_present/tr.txt": XPROBE,
            "xprobe/README.txt": SENTEVAL,
            "senteval/probing/past_present.txt": SENTEVAL,
            "senteval/probing/tree_depth.txt.gz": gzip.compress(SENTEVAL.encode()),
            "senteval/probing/.hidden.txt": SENTEVAL,
            "senteval/probing/notes.txt": "just words\n",
            "senteval/.git/past_present.txt": SENTEVAL,
            "senteval/downstream/MR/rt-polarity.pos": "a fine film .\n",
            "senteval/downstream/MR/rt-polarity.neg": "a dull film .\n",
            "senteval/downstream/SST/fine/sentiment-train": "4 a fine film .\n",
            "senteval/downstream/SST/fine/sentiment-dev": "2 so so .\n",
            "senteval/downstream/SST/fine/sentiment-test": "0 a dull film .\n",
            "senteval/downstream/STS/STS.gs.images.txt": "3.0\n",
        },
    )
    return tmp_path


def test_everything_below_a_folder_is_found_once_and_named_from_there(collection):
    assert told(collection) == [
        ("made/conneau2018/bigram_shift", "made", "bigram_shift", "en"),
        ("made/conneau2018/past_present", "made", "past_present", "en"),
        ("senteval/downstream/MR", "MR", "MR", None),
        ("senteval/downstream/SST5", "SST5", "SST5", None),
        ("senteval/probing/past_present", "senteval", "past_present", None),
        ("senteval/probing/tree_depth", "senteval", "tree_depth", None),
        ("xprobe/en/past_present", "xprobe", "past_present", "en"),
        ("xprobe/fr/past_present", "xprobe", "past_present", "fr"),
    ]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("made", ["conneau2018/bigram_shift", "conneau2018/past_present"]),
        ("made/conneau2018/past_present", ["past_present"]),
        ("made/conneau2018/past_present/rows.parquet", ["past_present"]),
        ("xprobe", ["en/past_present", "fr/past_present"]),
        ("xprobe/en", ["past_present"]),
        ("xprobe/en/past_present", ["past_present"]),
        ("xprobe/en/past_present/te.txt.gz", ["past_present"]),
        ("senteval/probing", ["past_present", "tree_depth"]),
        ("senteval/probing/tree_depth.txt.gz", ["tree_depth"]),
        ("senteval/downstream", ["MR", "SST5"]),
        ("senteval/downstream/SST", ["SST5"]),
        ("senteval/downstream/SST/fine", ["SST5"]),
        ("xprobe/*/past_present", ["en/past_present", "fr/past_present"]),
    ],
)
def test_names_are_relative_to_what_was_typed(collection, typed, expected):
    assert names(collection / typed) == expected


def test_every_source_loads_under_its_name_also_in_another_process(collection):
    for source in find_sets([str(collection)]):
        found = pickle.loads(pickle.dumps(source)).load()
        assert (found.name, found.task, found.language) == (source.name, source.task, source.language)
        assert len(found) >= 2


def test_names_that_would_clash_show_more_of_their_paths(collection):
    typed = [collection / "xprobe/en", collection / "xprobe/fr", collection / "senteval/probing/past_present.txt"]
    assert names(*typed) == ["en/past_present", "fr/past_present", "probing/past_present"]


def test_a_set_typed_twice_is_found_once(collection):
    assert names(collection / "xprobe/en", collection / "xprobe", collection / "xprobe/en") == [
        "en/past_present", "fr/past_present"
    ]  # fmt: skip


def test_a_set_typed_in_two_ways_is_found_once(collection, monkeypatch):
    monkeypatch.chdir(collection / "made/conneau2018")
    assert names("past_present", "..", ".", collection / "made/conneau2018/past_present/manifest.json") == [
        "conneau2018/past_present", "conneau2018/bigram_shift"
    ]  # fmt: skip


def test_files_that_differ_in_suffix_only_are_named_with_it(tmp_path):
    write(tmp_path, {"set.txt": SENTEVAL, "set.txt.gz": gzip.compress(SENTEVAL.encode())})
    assert names(tmp_path) == ["set.txt", "set.txt.gz"]
    assert {source.task for source in find_sets([str(tmp_path)])} == {"set"}


def test_the_current_folder_has_a_name(collection, monkeypatch):
    monkeypatch.chdir(collection / "xprobe/en/past_present")
    assert told(".") == [("past_present", "xprobe", "past_present", "en")]


def test_name_task_and_language_given_by_hand(collection):
    (source,) = find_sets([str(collection / "xprobe/fr")], name="mine", as_task="subj_number", as_language="br")
    found = source.load()
    assert (found.name, found.task, found.language) == ("mine", "subj_number", "br")
    with pytest.raises(UsageError, match="One name cannot be given to 2 sets"):
        find_sets([str(collection / "xprobe")], name="mine")


def test_a_folder_is_a_language_only_if_it_may_be_a_code(tmp_path):
    write(tmp_path, {f"{above}/past_present/te.txt": XPROBE for above in ("en", "pcm", "tmp", "EN", "data", "v1")})
    found = {source.name: source.language for source in find_sets([str(tmp_path)])}
    assert {name.partition("/")[0] for name, language in found.items() if language} == {"en", "pcm"}


def test_an_empty_part_is_absent(tmp_path):
    write(tmp_path, {"t/tr.txt": "", "t/va.txt": "\n", "t/te.txt": XPROBE})
    (source,) = find_sets([str(tmp_path)])
    assert {split: len(rows) for split, rows in source.load().rows.items()} == {"tr": 0, "va": 0, "te": 2}


def test_parts_of_one_folder_that_are_typed_are_one_set(tmp_path):
    write(tmp_path, {"en/t/tr.txt": XPROBE, "en/t/va.txt": XPROBE, "en/t/te.txt": XPROBE, "fr/t/te.txt": XPROBE})
    found = find_sets([str(tmp_path / part) for part in ("en/t/va.txt", "en/t/te.txt", "fr/t/te.txt")])
    assert [(source.name, len(source.load())) for source in found] == [("en/t", 4), ("fr/t", 2)]


def test_sets_below_a_set_are_found_and_links_into_the_folder_are_not_followed(tmp_path):
    write(tmp_path, {"a/te.txt": XPROBE, "a/old/te.txt": XPROBE, "b/set.txt": SENTEVAL, "b/more/set.txt": SENTEVAL})
    (tmp_path / "b/loop").symlink_to(tmp_path)
    (tmp_path / "0").symlink_to(tmp_path / "b/more")
    assert names(tmp_path) == ["a", "a/old", "b/more/set", "b/set"]


def test_links_to_folders_elsewhere_are_followed_once_and_name_the_sets(tmp_path, conneau):
    write(
        tmp_path,
        {"here/own.txt": SENTEVAL, "far/away/set.txt": SENTEVAL, "far/x/te.txt": XPROBE, "t/te.csv": "a,b\nx,y\n"},
    )
    conneau["past_present"].save(tmp_path / "far/made")
    (tmp_path / "far/away/back").symlink_to(tmp_path / "here")
    (tmp_path / "far/away/loop").symlink_to(tmp_path / "far")
    (tmp_path / "here/link").symlink_to(tmp_path / "far")
    (tmp_path / "here/twin").symlink_to(tmp_path / "far/away")
    (tmp_path / "here/up").symlink_to(tmp_path)
    (tmp_path / "here/nowhere").symlink_to(tmp_path / "missing")
    (tmp_path / "here/rows.txt").symlink_to(tmp_path / "far/away/set.txt")
    assert names(tmp_path / "here") == ["link/away/set", "link/made", "link/x", "own", "rows"]
    assert all(len(source.load()) for source in find_sets([str(tmp_path / "here")]))
    (tmp_path / "alias").symlink_to(tmp_path / "here")
    assert names(tmp_path / "alias") == names(tmp_path / "here")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/linked").symlink_to(tmp_path / "t")
    assert names(tmp_path / "tables", columns=Columns(("a",), "b")) == ["linked"]


def test_a_made_set_with_a_broken_manifest_is_found_and_complains_when_it_is_loaded(tmp_path, conneau):
    conneau["past_present"].save(tmp_path / "past_present")
    (tmp_path / "past_present/manifest.json").write_text("{", "utf-8")
    (source,) = find_sets([str(tmp_path)])
    assert (source.kind, source.task) == ("made", "past_present")
    with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
        source.load()


def test_a_manifest_of_something_else_does_not_hide_a_set(tmp_path):
    write(tmp_path, {"set.txt": SENTEVAL, "manifest.json": '{"name": "an app"}'})
    assert told(tmp_path) == [("set", "senteval", "set", None)]


def test_a_senteval_file_is_known_by_its_lines_whatever_it_is_called(tmp_path):
    write(
        tmp_path, {"probe": SENTEVAL, "latin.dat": b"tr\t1\tcaf\xe9\n" * 3, "odd.txt": "part\tlabel\ttext\n" + SENTEVAL}
    )
    assert names(tmp_path) == ["latin.dat", "odd", "probe"]
    for name, message in (
        ("latin.dat", r"latin\.dat:1: .*UTF-8"),
        ("odd.txt", r"odd\.txt:1: got the partition 'part'"),
    ):
        with pytest.raises(CorpusError, match=message):
            find_sets([str(tmp_path / name)])[0].load()


# tables


def as_parquet(text):
    out = io.BytesIO()
    pq.write_table(pa.table({"text": [text], "label": [1]}), out)
    return out.getvalue()


def test_files_given_together_that_tell_their_splits_are_one_set(tmp_path):
    write(tmp_path, {"mine-train.tsv": TABLE, "mine-test.csv": TABLE.replace("\t", ",")})
    (source,) = find_sets([str(tmp_path / "mine-train.tsv"), str(tmp_path / "mine-test.csv")], Columns())
    found = source.load()
    assert (found.name, found.task) == ("mine", "mine")
    assert {split: len(rows) for split, rows in found.rows.items()} == {"tr": 1, "va": 0, "te": 1}


def test_a_folder_of_splits_is_one_set_and_is_called_as_the_folder(tmp_path):
    parts = {"train-00000-of-00002.parquet": as_parquet("a"), "train-00001-of-00002.parquet": as_parquet("b")}
    write(tmp_path / "fr/reviews", {**parts, "test-00000-of-00001.parquet": as_parquet("c"), "notes.txt": "words"})
    (source,) = find_sets([str(tmp_path)], Columns())
    assert (source.name, source.task, source.language) == ("fr/reviews", "reviews", None)
    assert {split: len(rows) for split, rows in source.load().rows.items()} == {"tr": 2, "va": 0, "te": 1}


def test_where_a_split_is_told_twice_the_rest_of_the_names_tells_the_sets(tmp_path):
    write(tmp_path, {f"{split}-{code}.tsv": TABLE for split, code in (("dev", "en"), ("test", "en"), ("dev", "fr"))})
    assert told(tmp_path, columns=Columns()) == [("en", "table", "en", "en"), ("fr", "table", "fr", "fr")]


def test_files_that_tell_no_split_are_one_set_each(tmp_path):
    write(tmp_path, {"b.tsv": TABLE, "a.csv": TABLE.replace("\t", ","), "README.tsv": TABLE})
    assert names(tmp_path, columns=Columns()) == ["a", "b"]
    assert names(tmp_path / "b.tsv", columns=Columns()) == ["b"]
    assert len(find_sets([str(tmp_path / "b.tsv")], Columns())[0].load().rows["te"]) == 1


def test_a_file_beside_splits_that_tells_none_is_an_error_if_typed_and_a_set_of_its_own_in_a_folder(tmp_path):
    write(tmp_path, {"train.tsv": TABLE, "heldout.tsv": TABLE})
    with pytest.raises(DataError, match=r"heldout\.tsv does not say which split it is"):
        find_sets([str(tmp_path / "train.tsv"), str(tmp_path / "heldout.tsv")], Columns())
    assert names(tmp_path, columns=Columns()) == [tmp_path.name, "heldout"]


def test_with_a_split_column_every_file_is_a_set(tmp_path):
    write(tmp_path, {f"{name}.tsv": "text\tlabel\tpart\nx\t1\tdev\n" for name in ("train", "other")})
    found = find_sets([str(tmp_path)], Columns(split="part"))
    assert [(source.paths[0].rpartition("/")[2], [s for s, _ in source.load()]) for source in found] == [
        ("train.tsv", ["va"]), ("other.tsv", ["va"])
    ]  # fmt: skip


def test_text_files_are_tables_where_there_are_no_better_ones(tmp_path):
    files = {
        "tr.txt": XPROBE,
        "te.txt": XPROBE,
        "a/x-train": XPROBE,
        "a/x.test": XPROBE,
        "a/x.sh": "",
        "README.txt": "",
    }
    write(tmp_path / "set", files)
    found = find_sets([str(tmp_path / "set")], Columns(("1",), "2", header=False))
    assert [(source.name, len(source.load())) for source in found] == [("set", 4), ("a/x", 4)]


def test_made_sets_are_found_beside_tables(tmp_path, conneau):
    conneau["past_present"].save(tmp_path / "made/past_present")
    write(tmp_path, {"mine.tsv": TABLE})
    assert told(tmp_path, columns=Columns()) == [
        ("made/past_present", "made", "past_present", "en"), ("mine", "table", "mine", None)
    ]  # fmt: skip


# nothing


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a.tsv": "He left .\tPAST\n"},
            r"got .*a\.tsv, which begins with 'He left \.\\tPAST'\. If it is a table, .* --text .* expected",
        ),
        ({"a.tsv": ""}, r"a\.tsv, which is empty"),
        ({"README.md": "words"}, "got no file"),
        ({"a.gz": "no gzip"}, r"got .*a\.gz:1: got corrupt compressed data"),
    ],
)
def test_where_nothing_is_recognised_it_is_said_what_was_met_and_what_was_looked_for(tmp_path, files, message):
    write(tmp_path / "data", files)
    with pytest.raises(DataError, match=message):
        find_sets([str(tmp_path / "data")])


def test_a_file_that_is_not_recognised_asks_for_its_columns(tmp_path):
    write(tmp_path, {"a.tsv": "He left .\tPAST\n", "set.txt": SENTEVAL})
    with pytest.raises(DataError, match=r"a\.tsv holds no set in a known format: .* --text and --label"):
        find_sets([str(tmp_path / "set.txt"), str(tmp_path / "a.tsv")])


def test_where_no_table_is_found_the_suffixes_are_named(tmp_path):
    write(tmp_path / "data", {"a.pdf": "%PDF"})
    with pytest.raises(DataError, match=r"holds no table: expected .* \.tsv \.csv .* got .*a\.pdf, "):
        find_sets([str(tmp_path / "data")], Columns())


@pytest.mark.parametrize("columns", [None, Columns()])
def test_what_is_not_there_is_named_with_what_is_near(tmp_path, columns):
    write(tmp_path, {"reviews.tsv": SENTEVAL})
    with pytest.raises(DataError, match=r"reviews\.tvs'; did you mean .*reviews\.tsv"):
        find_sets([str(tmp_path / "reviews.tvs")], columns)


@pytest.mark.parametrize("typed", [[], ["-"], ["a\0b"], ["x" * 5000], ["/dev/null"], [""], ["nowhere/*"]])
def test_odd_paths_are_refused(typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SentProbeError):
        find_sets(typed)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["a.txt", "tr.txt", "te.txt.gz", "manifest.json", "train.csv", "sentiment-train", "TREC_10.label"]),
    st.binary(max_size=120) | st.text("trvae\t\n\0 1é{}", max_size=60).map(str.encode),
    st.sampled_from([None, Columns(), Columns(("1",), "2", header=False)]),
)
def test_no_folder_raises_anything_but_a_sentprobe_error(tmp_path_factory, name, content, columns):
    folder = tmp_path_factory.mktemp("fuzzed")
    write(folder, {name: content})
    for typed in (folder, folder / name):
        with suppress(SentProbeError):
            for source in find_sets([str(typed)], columns):
                source.load()


def test_file_systems_of_the_kernel_are_not_searched(tmp_path, monkeypatch):
    write(
        tmp_path, {"data/past_present.txt": SENTEVAL, "proc/1/past_present.txt": SENTEVAL, "proc/shm/own.txt": SENTEVAL}
    )
    (tmp_path / "data/link.txt").symlink_to(tmp_path / "proc/1/past_present.txt")
    (tmp_path / "other").symlink_to(tmp_path / "proc")
    monkeypatch.setattr(search, "_PSEUDO", (tmp_path / "proc",))
    monkeypatch.setattr(search, "_MEMORY", tmp_path / "proc/shm")
    assert names(tmp_path) == ["data/past_present"]
    assert names(tmp_path / "proc/shm") == ["own"]
    for typed in ("proc", "proc/1", "other"):
        with pytest.raises(UsageError, match="belongs to the kernel and is not searched"):
            names(tmp_path / typed)
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        names(tmp_path / "proc/1/past_present.txt")


def test_a_file_that_may_not_be_looked_at_does_not_stop_the_search(tmp_path, monkeypatch):
    write(tmp_path, {"a/closed.txt": SENTEVAL, "b/open.txt": SENTEVAL, "c/tr.txt": XPROBE})
    real = Path.stat

    def stat(path, **more):  # as in a folder without the right to enter, which does not bind root
        if path.name == "closed.txt" or path.parent.name == "c":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **more)

    monkeypatch.setattr(Path, "stat", stat)
    assert names(tmp_path) == ["b/open"]
