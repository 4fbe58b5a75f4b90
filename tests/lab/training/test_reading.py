"""Training data in the layouts that it comes in, and what is said about data that is not as expected."""

import bz2
import gzip
import lzma

import pytest

from sentprobe.errors import CorpusError, SentProbeError, UsageError
from sentprobe.lab.training.rows import read_rows

NLI = ("text1", "text2", "label")
PAIRS = [("A dog runs.", "An animal moves.", "entailment"), ("He sleeps.", "He is awake.", "contradiction")]
SNLI_HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2"
    "\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5"
)
CONLLU = """\
# newdoc id = d1
# sent_id = 1
# text = Dogs bark.
1	Dogs	dog	NOUN	_	_	2	nsubj	_	_
2	bark	bark	VERB	_	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	_	_	2	punct	_	_

# sent_id = 2
# text = Go!
1	Go	go	VERB	_	_	0	root	_	SpaceAfter=No
2	!	!	PUNCT	_	_	1	punct	_	_

# newdoc id = d2
# sent_id = 3
# text = Stop.
1	Stop	stop	VERB	_	_	0	root	_	SpaceAfter=No
2	.	.	PUNCT	_	_	1	punct	_	_

"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        match path.suffix:
            case ".gz":
                data = gzip.compress(data)
            case ".bz2":
                data = bz2.compress(data)
            case ".xz":
                data = lzma.compress(data)
        path.write_bytes(data)
        return str(path)

    return write


def values(source, fields, columns=(), role="train"):
    return [row.values for row in read_rows(str(source), fields, columns, role)]


def table(rows, between="\t"):
    return "".join(between.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", table(PAIRS)),
        ("header.tsv", table([("label", "text2", "text1"), *[pair[::-1] for pair in PAIRS]])),
        ("glue.tsv", table([("index", "sentence1", "sentence2", "label"), *[("0", *pair) for pair in PAIRS]])),
        ("a.csv", table([("premise", "hypothesis", "label"), *PAIRS], ",")),
        ("quoted.csv", '"A dog runs.","An animal moves.",entailment\nHe sleeps.,He is awake.,contradiction\n'),
        ("plain", table(PAIRS)),
        ("pairs.txt", table(PAIRS)),
        ("crlf.tsv", table(PAIRS).replace("\n", "\r\n")),
        ("bom.tsv", "\ufeff" + table(PAIRS)),
    ],
)
def test_tables_of_pairs(write, name, text, suffix):
    assert values(write(name + suffix, text), NLI) == PAIRS


@pytest.mark.parametrize("name", ["snli_1.0_train.jsonl", "a.json", "a.ndjson", "unknown", "a.txt"])
def test_json_lines_with_snli_names(write, name):
    text = "".join(
        f'{{"annotator_labels": ["x"], "gold_label": "{label}", "sentence1": "{one}", "sentence2": "{two}"}}\n'
        for one, two, label in PAIRS
    )
    assert values(write(name, text), NLI) == PAIRS


def test_snli_and_multinli_tables(write):
    lines = [f"{label}\t( a )\t( b )\t(ROOT)\t(ROOT)\t{one}\t{two}\tc\tp\t{label}" for one, two, label in PAIRS]
    path = write("multinli_1.0_train.txt", "\n".join([SNLI_HEADER, *lines]) + "\n")
    assert values(path, NLI) == PAIRS
    assert [row.line for row in read_rows(path, NLI)] == [2, 3]
    assert values(path, ("text",), ["sentence2"]) == [(two,) for _, two, _ in PAIRS]
    with pytest.raises(UsageError, match=r"looks like a table, with 14 columns.*--columns"):
        values(path, ("text",))


def test_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    one, two, labels = (list(column) for column in zip(*PAIRS, strict=True))
    pq.write_table(
        pa.table({"label": labels, "hypothesis": two, "premise": one, "more": [1, 2]}), path, row_group_size=1
    )
    assert values(path, NLI) == PAIRS
    assert values(path, ("text", "label"), ["premise", "more"]) == [(one[0], "1"), (one[1], "2")]
    with pytest.raises(UsageError, match="no column 'text'"):
        values(path, ("text",))


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["a", "b", "c"], "c\ta\tb\n" + table([(label, one, two) for one, two, label in PAIRS])),
        (["2", "3", "1"], table([(label, one, two) for one, two, label in PAIRS])),
        (["2", "3", "1"], "label\ttext1\ttext2\n" + table([(label, one, two) for one, two, label in PAIRS])),
        (["1", "2", "4"], table([(one, two, "x", label) for one, two, label in PAIRS])),
    ],
)
def test_columns_by_name_and_number(write, columns, text):
    assert values(write("a.tsv", text), NLI, columns) == PAIRS


def test_conllu(write):
    path = write("a.conllu.gz", CONLLU)
    assert values(path, ("text",)) == [("Dogs bark.",), ("Go!",), ("Stop.",)]
    assert values(path, ("document", "text")) == [("d1", "Dogs bark."), ("d1", "Go!"), ("d2", "Stop.")]
    unnamed = write("b.conllu", CONLLU.replace("# newdoc id = d1\n", "").replace("# newdoc id = d2\n", ""))
    assert {document for document, _ in values(unnamed, ("document", "text"))} == {"b"}
    with pytest.raises(UsageError, match=r"is a CoNLL-U file, which has no tree"):
        values(path, ("tree",))


@pytest.mark.parametrize("name", ["a.trees", "a.mrg", "a.trees.tsv", "unknown", "a.txt"])
def test_trees(write, name):
    text = "(ROOT (S (NP (PRP I)) (VP (VBD did) (RB n't)) (. .)))\n((S (-LRB- -LRB-) (VP (VB Go))))\n"
    path = write(name, text)
    rows = list(read_rows(path, ("tree",)))
    assert [row.values for row in rows] == [
        ("(ROOT (S (NP (PRP I)) (VP (VBD did) (RB n't)) (. .)))",),
        ("(ROOT (S (-LRB- -LRB-) (VP (VB Go))))",),
    ]
    assert [row.texts[0] for row in rows] == ["I did n't .", "( Go"]
    assert rows[0].texts[1] == "I didn't."
    if name != "a.txt":  # where lines are sentences, unless trees are needed
        assert values(path, ("text",)) == [("I did n't .",), ("( Go",)]


def test_trees_after_documents_and_in_tables(write):
    path = write("gum.trees.tsv.gz", "d1\t(ROOT (NP (NN dog)))\nd1\t(ROOT (VP (VB go)))\nd2\t(ROOT (UH no))\n")
    assert values(path, ("document", "text")) == [("d1", "dog"), ("d1", "go"), ("d2", "no")]
    path = write("a.tsv", "id\ttree\n1\t(S (NP (NN dog)) (VP (VBZ runs)))\n")
    (row,) = read_rows(path, ("tree",))
    assert (row.values, row.texts) == (("(S (NP (NN dog)) (VP (VBZ runs)))",), ("dog runs",))
    with pytest.raises(CorpusError, match=r"b\.tsv:2: got no tree \(.*; expected a bracketed tree"):
        values(write("b.tsv", "tree\n(S (NP\n"), ("tree",))


def test_plain_text_with_documents(write):
    path = write("a.txt", "One .\n Two . \n\n\n\nThree .\n")
    assert values(path, ("text",)) == [("One .",), ("Two .",), ("Three .",)]
    assert values(path, ("document", "text")) == [("a-1", "One ."), ("a-1", "Two ."), ("a-2", "Three .")]
    assert [row.line for row in read_rows(path, ("text",))] == [1, 2, 6]


def test_aligned_files(write):
    one, two = write("train.en.gz", "A dog .\n\nGo !\n"), write("train.de", "Ein Hund .\nJa .\nLos !\n")
    fields = ("source", "target")
    assert values(f"{one},{two}", fields) == [("A dog .", "Ein Hund ."), ("", "Ja ."), ("Go !", "Los !")]
    more = write("more.de", "Ein Hund .\n")
    with pytest.raises(SentProbeError, match=r"train\.en\.gz has 3 lines and .*more\.de has 1 line;"):
        values(f"{one},{more}", fields)
    with pytest.raises(UsageError, match="3 aligned files; expected one for each of source, target"):
        values(f"{one},{two},{more}", fields)
    with pytest.raises(UsageError, match=r"no file or folder .*train\.dee'; did you mean .*train\.de'"):
        values(f"{one},{two}e", fields)
    with pytest.raises(UsageError, match=r"has one column: 'Ein Hund \.'; expected .* SOURCE-FILE,TARGET-FILE"):
        values(two, fields)
    with pytest.raises(UsageError, match=r"begins with 'Ein Hund \.'; expected bracketed trees"):
        values(two, ("tree",))


def test_aligned_globs(write, tmp_path):
    for part in "21":
        write(f"part{part}.en", f"e{part}\n")
        write(f"part{part}.de", f"d{part}\n")
    assert values(f"{tmp_path}/*.en,{tmp_path}/*.de", ("source", "target")) == [("e1", "d1"), ("e2", "d2")]
    write("part3.de", "d3\n")
    with pytest.raises(UsageError, match=r"2 match .*\.en, 3 match .*\.de"):
        values(f"{tmp_path}/*.en,{tmp_path}/*.de", ("source", "target"))


def test_infersent_folder(write, tmp_path):
    for split, pair in zip(("train", "dev"), PAIRS, strict=True):
        for name, value in zip(("s1", "s2", "labels"), pair, strict=True):
            write(f"SNLI/{name}.{split}", f"{value}\n")
    folder = tmp_path / "SNLI"
    assert values(folder, NLI) == PAIRS[:1]
    assert values(folder, NLI, role="dev") == PAIRS[1:]
    sources = ",".join(str(folder / f"{name}.train") for name in ("s1", "s2", "labels"))
    assert values(sources, NLI) == PAIRS[:1]


def test_senteval_folders_and_probing_sets(write, tmp_path):
    write("SST/binary/sentiment-train", "a fine film\t1\n")
    write("SST/binary/sentiment-dev", "a bad one\t0\n")
    write("SST/fine/sentiment-train", "4 a fine film\n")
    write("MR/rt-polarity.pos", "good .\n")
    write("MR/rt-polarity.neg", "bad .\n")
    fields = ("text", "label")
    assert values(tmp_path / "SST/binary", fields) == [("a fine film", "1")]
    assert values(tmp_path / "SST/binary", fields, role="dev") == [("a bad one", "0")]
    assert values(tmp_path / "SST/binary/sentiment-train", fields) == [("a fine film", "1")]
    assert values(tmp_path / "SST/fine", fields) == [("a fine film", "4")]
    assert values(tmp_path / "SST/fine", ("text",)) == [("a fine film",)]
    assert values(tmp_path / "MR", fields) == [("good .", "pos"), ("bad .", "neg")]
    with pytest.raises(UsageError, match="has no text1; it has text, label"):
        values(tmp_path / "MR", NLI)
    with pytest.raises(UsageError, match=r"MR\) has no dev part"):
        values(tmp_path / "MR", fields, role="dev")
    path = write("tense.txt", "tr\tPAST\tShe left .\nva\tPRES\tShe leaves .\nte\tPRES\tx\n")
    assert values(path, fields) == [("She left .", "PAST")]
    assert values(path, ("text",), role="dev") == [("She leaves .",)]


def test_folders_take_the_files_of_the_role(write, tmp_path):
    for split in ("train", "dev", "test"):
        write(
            f"snli/snli_1.0_{split}.jsonl", f'{{"sentence1": "a", "sentence2": "{split}", "gold_label": "neutral"}}\n'
        )
        write(f"snli/snli_1.0_{split}.txt", "the same again\n")
    write("snli/README.txt", "About.\n")
    assert values(tmp_path / "snli", NLI) == [("a", "train", "neutral")]
    assert values(tmp_path / "snli", NLI, role="dev") == [("a", "dev", "neutral")]
    for name in ("b.txt", "sub/a.txt", ".hidden.txt", "test.txt"):
        write(f"texts/{name}", f"{name}\n")
    assert values(tmp_path / "texts", ("text",)) == [("b.txt",), ("sub/a.txt",)]
    with pytest.raises(UsageError, match=r"no file that is named as dev: it has b\.txt"):
        values(tmp_path / "texts", ("text",), role="dev")
    assert values(f"{tmp_path}/texts/**/*.txt", ("text",)) == [("b.txt",), ("sub/a.txt",), ("test.txt",)]
    write("mixed/a.tsv", "x\n")
    write("mixed/a.csv", "x\n")
    with pytest.raises(UsageError, match=r"several kinds \(csv, tsv\)"):
        values(tmp_path / "mixed", ("text",))
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UsageError, match="has no data file; known suffixes"):
        values(tmp_path / "nothing", ("text",))


@pytest.mark.parametrize(
    ("name", "data", "columns", "said"),
    [
        ("empty.tsv", "", (), r"empty\.tsv has no rows; expected rows of text1, text2, label"),
        ("empty.txt", "", (), r"empty\.txt is empty"),
        ("empty.jsonl", "\n", (), "has no rows"),
        ("header.tsv", "text1\ttext2\tlabel\n", (), "has no rows"),
        ("few.tsv", "a\tb\tneutral\na\tb\n", (), r"few\.tsv:2: got 2 columns; expected at least 3"),
        ("many.tsv", "a\tb\tneutral\na\tb\tc\td\n", (), r"many\.tsv:2: got 4 columns; expected 3, as in the first"),
        ("first.tsv", "a\tb\n", (), r"first\.tsv:1: got 2 columns; expected 3, tab-separated: text1"),
        ("four.tsv", "a\tb\tc\td\n", (), r"has 4 columns, and its first line does not name.*--columns 1,2,3"),
        ("part.tsv", "text1\ttext2\tgold\na\tb\tc\n", (), r"no column 'label' \(--columns\); it has 'text1'"),
        ("unknown.tsv", "a\tb\tc\nx\ty\tz\n", ("a", "b", "labl"), r"no column 'labl' \(--columns\); it has 'a', 'b'"),
        ("number.tsv", "a\tb\tc\n", ("1", "2", "4"), "a column is a number from 1 to 3"),
        ("two.tsv", "a\tb\tc\n", ("1", "2"), r"--columns 1,2: expected 3 columns, for text1, text2, label"),
        ("a.jsonl", '{"sentence1": "a"}\n', (), "has no column 'text2'"),
        ("b.jsonl", '{"text1": "a", "text2": "b", "label": "c"}\n{"text1": "a"}\n', (), r"b\.jsonl:2 has no column"),
        ("c.jsonl", "[1]\n", (), r"c\.jsonl:1: .*one JSON object per line"),
        ("latin1.tsv", "a\tb\tneutral\né\tb\tneutral\n".encode("latin-1"), (), r"latin1\.tsv:2: .*not UTF-8"),
        ("bad.parquet", b"PAR1 no", (), "cannot be read as Parquet"),
        ("a.conllu", CONLLU, (), "CoNLL-U file, which has no text1"),
        ("b.conllu", CONLLU, ("1", "2", "3"), r"--columns 1,2,3: .*b\.conllu is not a table"),
    ],
)
def test_what_is_said_about_bad_files(write, name, data, columns, said):
    with pytest.raises(SentProbeError, match=said):
        values(write(name, data), NLI, columns)


def test_truncated_and_missing_files(write, tmp_path):
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(gzip.compress(table(PAIRS * 5000).encode())[:-200])
    with pytest.raises(CorpusError, match=r"cut\.tsv\.gz:\d+: got truncated"):
        values(path, NLI)
    with pytest.raises(UsageError, match=r"no file or folder .*cut\.tsv'; did you mean .*cut\.tsv\.gz'"):
        values(tmp_path / "cut.tsv", NLI)
    with pytest.raises(UsageError, match="No file matches"):
        values(tmp_path / "*.none", NLI)
    with pytest.raises(UsageError, match="standard input"):
        values("-", NLI)


def test_rows_are_streamed(write):
    path = write("long.tsv", table(PAIRS) * 100_000 + "broken\n")  # an error at the end is not met before it is read
    rows = read_rows(path, NLI)
    assert next(rows).values == PAIRS[0]
