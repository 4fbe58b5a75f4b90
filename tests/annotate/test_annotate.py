"""From raw text to a corpus: what is written, that it does not depend on jobs or interruptions, and what is counted."""

import errno
import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sentprobe import Corpus, Sentence
from sentprobe.annotate import chunks as chunking
from sentprobe.annotate.conversion import sentence_fault
from sentprobe.annotate.output import Journal
from sentprobe.annotate.request import AnnotationRequest, find_inputs, read_pieces
from sentprobe.annotate.run import annotate_corpus
from sentprobe.annotate.source import Piece, ReadOptions
from sentprobe.annotate.work import Work, annotate_pieces, loaded_annotator
from sentprobe.corpus.languages import has_detector
from sentprobe.errors import AnnotatorError, CorpusError, DataError, SentProbeError, UsageError
from tests.command_line import process, sentprobe

STORY = """\
The dog barks. The old cat
sleeps in the sun!

Nobody ran. A bird sings.


He left early."""


@pytest.fixture
def children():
    """For tests of the processes in which annotators are called."""


@pytest.fixture(autouse=True)
def fast(request):
    """For all others."""
    if "children" not in request.fixturenames:
        request.getfixturevalue("no_children")


def silent(stage, done, of):
    pass


def run(annotator, *texts, out="out.conllu", jobs=1, format=None, **options):
    request = AnnotationRequest(annotator, find_inputs(texts, format), **options)
    return annotate_corpus(request, Path(out), jobs=jobs, progress=silent)


def texts_of(path):
    return [s.text for s in Corpus.read(path)]


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of three pieces, and pieces of a line or two."""
    from sentprobe.annotate.sources import text

    monkeypatch.setattr(chunking, "CHUNK_PIECES", 3)
    monkeypatch.setattr(text, "PIECE_CHARACTERS", 10)


def test_a_story_becomes_a_corpus_that_make_reads(rules):
    Path("story.txt").write_text(STORY, "utf-8")
    found = run(rules, "story.txt")
    sentences = list(Corpus.read("out.conllu"))
    assert [s.text for s in sentences] == [
        "The dog barks.", "The old cat sleeps in the sun!", "Nobody ran.", "A bird sings.", "He left early.",
    ]  # fmt: skip
    assert [s.id for s in sentences] == [f"story-{i}" for i in range(1, 6)]
    assert {s.doc for s in sentences} == {"story"}
    assert sentences[0].heads == (2, 2, -1, 2)
    assert sentences[0].space_after == (True, True, False, True)
    assert found.card["counts"] == {"documents": 1, "sentences": 5, "words": 23, "repaired": 0}
    assert found.card["dropped"] == {}
    assert not Path("out.conllu.part").exists()


def test_the_file_itself_says_who_annotated_it(rules):
    Path("story.txt").write_text(STORY, "utf-8")
    run(rules, "story.txt")
    head = Path("out.conllu").read_text("utf-8").split("# sent_id")[0].splitlines()
    assert head[0] == "# newdoc id = story"
    assert head[1].startswith("# generator = sentprobe ")
    assert head[2:] == [
        "# annotator = py:rules.py:annotate",
        "# annotator_software = own function",
        "# annotator_model = rules.py:annotate",
        "# annotator_version = 1",
        "# annotator_licence = CC0",
        "# annotator_language = en",
        "# annotator_universal = yes",
        "# annotator_columns = upos, heads, deprels",
    ]
    assert Corpus.read("out.conllu").language == "en"


def test_documents_keep_their_ids(rules):
    Path("news.jsonl").write_text(
        '{"url": "a/1", "body": "One dog barks.\\nA cat sleeps."}\n{"url": 7, "body": ""}\n'
        '{"url": "b  c", "body": "He left."}\n',
        "utf-8",
    )
    found = run(rules, "news.jsonl", text="body", id="url")
    assert [(s.id, s.doc) for s in Corpus.read("out.conllu")] == [
        ("a/1-1", "a/1"), ("a/1-2", "a/1"), ("b c-1", "b c"),
    ]  # fmt: skip
    assert found.card["counts"]["documents"] == 3


@pytest.fixture
def many(rules):
    """A file of sixty paragraphs, some of which repeat."""
    Path("many.txt").write_text("\n\n".join(f"The dog number {i % 25} barks. He left {i}." for i in range(60)), "utf-8")
    return rules


@pytest.mark.parametrize("out", ["a.conllu", "a.conllu.gz"])
def test_the_file_does_not_depend_on_jobs(children, many, small_chunks, out):
    run(many, "many.txt", out=out, dedupe="exact")
    run(many, "many.txt", out=f"two-{out}", dedupe="exact", jobs=2)
    assert Path(out).read_bytes() == Path(f"two-{out}").read_bytes()
    assert len(texts_of(out)) == 85
    first, second = (json.loads(Path(f"{name}.json").read_bytes()) for name in (out, f"two-{out}"))
    assert first["dropped"] == second["dropped"] == {"duplicate": 35}
    assert first["counts"] == second["counts"]


def uninterrupted(rules, text, **options):
    run(rules, text, out="whole.conllu.gz", **options)
    return Path("whole.conllu.gz").read_bytes()


def interrupted_text(word, at=40):
    lines = [f"The dog number {i % 25} barks." for i in range(60)]
    lines[at] = f"Nobody ran {word} here."
    Path("text.txt").write_text("\n\n".join(lines), "utf-8")


@pytest.mark.parametrize("dedupe", [None, "near"])
def test_the_same_command_goes_on_after_ctrl_c(children, rules, small_chunks, dedupe):
    interrupted_text("STOP")
    whole = uninterrupted(rules, "text.txt", dedupe=dedupe)
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt", out="cut.conllu.gz", dedupe=dedupe)
    state = json.loads(Path("cut.conllu.gz.part/checksums.json").read_bytes())
    assert 30 <= state["pieces"] <= 40
    Path("armed").unlink()
    with Path("cut.conllu.gz.part/cut.conllu.gz").open("ab") as part:
        part.write(b"half a sentence that was not recorded")
    calls = []
    real = chunking.annotate_in_child
    chunking.annotate_in_child = lambda child, work, pieces: calls.append(len(pieces)) or real(child, work, pieces)
    try:
        found = run(rules, "text.txt", out="cut.conllu.gz", dedupe=dedupe)
    finally:
        chunking.annotate_in_child = real
    assert sum(calls) == 60 - state["pieces"]
    assert Path("cut.conllu.gz").read_bytes() == whole
    assert found.card["counts"] == json.loads(Path("whole.conllu.gz.json").read_bytes())["counts"]


def test_without_its_state_a_corpus_begins_anew(rules, small_chunks):
    interrupted_text("STOP")
    whole = uninterrupted(rules, "text.txt", dedupe="near")
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt", out="cut.conllu.gz", dedupe="near")
    Path("armed").unlink()
    Path("cut.conllu.gz.part/checksums.json").unlink()
    run(rules, "text.txt", out="cut.conllu.gz", dedupe="near")
    assert Path("cut.conllu.gz").read_bytes() == whole  # what is left is not taken for duplicates


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on Windows")
def test_the_same_command_goes_on_after_kill_9(rules):
    lines = [f"The dog number {i} barks." for i in range(12_000)]  # more chunks than are worked on ahead
    lines[11_000] = "Nobody ran KILL here."
    Path("text.txt").write_text("\n\n".join(lines), "utf-8")
    command = ("annotate", "text.txt", "--with", rules, "-o", "cut.conllu")
    Path("armed").touch()
    assert process(*command).returncode == -9
    assert json.loads(Path("cut.conllu.part/checksums.json").read_bytes())["pieces"] > 0
    assert not Path("cut.conllu").exists()
    Path("armed").unlink()
    assert process(*command).returncode == 0
    assert sentprobe(*command[:-1], "whole.conllu").returncode == 0
    assert Path("cut.conllu").read_bytes() == Path("whole.conllu").read_bytes()
    assert Path("cut.conllu").read_text("utf-8").count("# text = ") == 12_000


def test_a_full_disk_loses_nothing(many, small_chunks, monkeypatch):
    whole = uninterrupted(many, "many.txt")
    left, real = [5], os.fsync

    def fsync(number):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(DataError, match=r"No space left.*the same command goes on"):
            run(many, "many.txt", out="cut.conllu.gz")
    assert run(many, "many.txt", out="cut.conllu.gz").is_new
    assert Path("cut.conllu.gz").read_bytes() == whole


def test_a_finished_corpus_is_left_as_it_is(many):
    run(many, "many.txt")
    before = Path("out.conllu").stat().st_mtime_ns
    again = run(many, "many.txt")
    assert not again.is_new
    assert again.card["counts"]["sentences"] == 120
    assert Path("out.conllu").stat().st_mtime_ns == before


def test_a_crash_between_the_last_sentence_and_the_card_is_made_good(many, monkeypatch):
    whole = uninterrupted(many, "many.txt", dedupe="exact")
    run(many, "many.txt", out="cut.conllu.gz", dedupe="exact")
    card = json.loads(Path("cut.conllu.gz.json").read_bytes())
    for path in (Path("cut.conllu.gz.json"), Path("cut.conllu.gz")):
        path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.annotate.run.write_card", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(many, "many.txt", out="cut.conllu.gz", dedupe="exact")
    assert Path("cut.conllu.gz").read_bytes() == whole
    run(many, "many.txt", out="cut.conllu.gz", dedupe="exact")
    assert json.loads(Path("cut.conllu.gz.json").read_bytes()) == card
    assert Path("cut.conllu.gz").read_bytes() == whole
    assert not Path("cut.conllu.gz.part").exists()


def test_a_crash_before_the_file_has_its_name_loses_nothing(many, monkeypatch):
    whole = uninterrupted(many, "many.txt")
    out, rename = Path("cut.conllu.gz"), type(Path()).replace

    def crash(part, to):
        if to == out:
            raise KeyboardInterrupt
        return rename(part, to)

    with monkeypatch.context() as patch:
        patch.setattr(type(Path()), "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            run(many, "many.txt", out=out)
    assert not out.exists()
    again = run(many, "many.txt", out=out)
    assert out.read_bytes() == whole
    assert again.card["counts"]["sentences"] == 120
    assert not Path("cut.conllu.gz.part").exists()


def test_what_could_not_be_read_is_counted_once(rules, small_chunks, monkeypatch):
    good, bad = '{"text": "He left."}\n', "[]\n"
    Path("a.jsonl").write_text(f"{bad}{good * 4}{bad}{good * 3}{bad}{bad}", "utf-8")
    expected = run(rules, "a.jsonl", out="whole.conllu", skip_bad=True).card["not_read"]
    assert expected["count"] == 4
    for stop_at in range(1, 4):
        with monkeypatch.context() as patch:
            commits = iter(range(1, 9))

            def commit(self, texts, own=Journal.commit, commits=commits, stop_at=stop_at):
                own(self, texts)
                if next(commits) == stop_at:
                    raise KeyboardInterrupt

            patch.setattr(Journal, "commit", commit)
            with pytest.raises(KeyboardInterrupt):
                run(rules, "a.jsonl", out=f"{stop_at}.conllu", skip_bad=True)
        assert run(rules, "a.jsonl", out=f"{stop_at}.conllu", skip_bad=True).card["not_read"] == expected


def test_another_request_does_not_go_on_with_this_one(rules, small_chunks):
    interrupted_text("STOP")
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt")
    with pytest.raises(UsageError, match=r"has a corpus with --length None, and this is 5,9: choose another name"):
        run(rules, "text.txt", length=(5, 9))
    Path("armed").unlink()
    run(rules, "text.txt")
    with pytest.raises(UsageError, match=r"out.conllu has a corpus with --dedupe None, and this is near"):
        run(rules, "text.txt", dedupe="near")
    Path("text.txt").write_text("He left.", "utf-8")
    with pytest.raises(UsageError, match=r"out\.conllu has a corpus with texts"):
        run(rules, "text.txt")
    Path("out.conllu.json").unlink()
    with pytest.raises(UsageError, match="exists, and has no card"):
        run(rules, "text.txt")


def test_what_is_left_of_a_corpus_must_be_whole(rules, small_chunks):
    interrupted_text("STOP")
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt")
    part, state = Path("out.conllu.part/out.conllu"), Path("out.conllu.part/checksums.json")
    content = part.read_bytes()
    changed = (
        r"part/out\.conllu has changed since `sentprobe annotate` wrote it\. .* remove the folder out\.conllu\.part"
    )
    for other in (content[:10], b"", content.replace(b"VERB", b"NOUN", 1), bytes(reversed(content))):
        part.write_bytes(other)
        with pytest.raises(DataError, match=changed):
            run(rules, "text.txt")
    part.unlink()
    with pytest.raises(DataError, match=r"part/out\.conllu, which `sentprobe annotate` wrote, is missing"):
        run(rules, "text.txt")
    part.write_bytes(content)
    sealed = state.read_text("utf-8")
    for other in ("{", sealed.replace('"sentences": ', '"sentences": 1'), "[]"):
        state.write_text(other, "utf-8")
        with pytest.raises(DataError, match=r"checksums.json is damaged: .*Restore it, or remove the folder"):
            run(rules, "text.txt")
    state.write_text(sealed, "utf-8")
    Path("armed").unlink()
    run(rules, "text.txt")
    run(rules, "text.txt", out="whole.conllu")
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()


def test_a_finished_corpus_that_was_edited_is_not_taken_for_what_was_written(rules):
    Path("text.txt").write_text("She left. He stayed.", "utf-8")
    run(rules, "text.txt")
    corpus, card = Path("out.conllu"), Path("out.conllu.json")
    kept = corpus.read_bytes(), card.read_bytes()
    corpus.write_bytes(kept[0].replace(b"left", b"lost"))
    with pytest.raises(DataError, match=r"^out\.conllu has changed since `sentprobe annotate` wrote it\. Restore"):
        run(rules, "text.txt")
    corpus.write_bytes(kept[0])
    card.write_bytes(kept[1].replace(b'"sentences": 2', b'"sentences": 3'))
    with pytest.raises(DataError, match=r"^out\.conllu\.json has changed since"):
        run(rules, "text.txt")
    card.write_bytes(kept[1][:-9])
    with pytest.raises(DataError, match=r"^out\.conllu\.json is damaged"):
        run(rules, "text.txt")
    card.write_bytes(kept[1])
    assert not run(rules, "text.txt").is_new


def test_a_corpus_that_was_changed_between_its_end_and_its_card_is_refused(rules, monkeypatch):
    Path("text.txt").write_text("She left. He stayed.", "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.annotate.run.write_card", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(rules, "text.txt")
    kept = Path("out.conllu").read_bytes()
    Path("out.conllu").write_bytes(kept.replace(b"left", b"lost"))
    with pytest.raises(DataError, match=r"^out\.conllu has changed since"):
        run(rules, "text.txt")
    Path("out.conllu").write_bytes(kept)
    assert run(rules, "text.txt").is_new
    assert not run(rules, "text.txt").is_new


def test_a_text_that_changes_without_its_size_and_time_is_another_one(rules, small_chunks):
    interrupted_text("STOP")
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt")
    facts, content = Path("text.txt").stat(), Path("text.txt").read_bytes()
    Path("text.txt").write_bytes(content.swapcase())
    os.utime("text.txt", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with pytest.raises(UsageError, match="has a corpus with texts"):
        run(rules, "text.txt")


def test_a_text_that_changes_while_it_is_read_is_reported(rules):
    Path("text.txt").write_text("She left. He stayed.", "utf-8")
    inputs = find_inputs(["text.txt"])
    Path("text.txt").write_text("He left. She stayed.", "utf-8")
    with pytest.raises(DataError, match=r"'text\.txt' changed while it was read"):
        list(read_pieces(inputs, AnnotationRequest("", inputs).readings, None))


def test_another_gold_treebank_of_the_same_name_is_another_request(rules):
    Path("text.txt").write_text("She left.", "utf-8")
    request = AnnotationRequest(rules, find_inputs(["text.txt"]), gold="text.txt")
    model = run(rules, "text.txt").model
    before = request.facts(model)["--gold"]
    Path("text.txt").write_text("He left.", "utf-8")
    assert request.facts(model)["--gold"] != before


@pytest.mark.skipif(os.name == "nt", reason="there are no locks on Windows")
def test_two_processes_do_not_write_the_same_corpus(many):
    facts = AnnotationRequest(many, find_inputs(["many.txt"])).facts(run(many, "many.txt", out="x.conllu").model)
    with (
        Journal(Path("out.conllu"), {"": Path("out.conllu")}, facts).writing(),
        pytest.raises(DataError, match="Another process"),
    ):
        run(many, "many.txt")


def test_what_is_kept(rules):
    Path("t.txt").write_text(
        "He left. He left. The dog barks. The dog barks! THE DOG 5 barks? No. The dog barks and barks and barks.",
        "utf-8",
    )
    exact = run(rules, "t.txt", out="1.conllu", dedupe="exact", length=(3, 6))
    assert texts_of("1.conllu") == ["He left.", "The dog barks.", "The dog barks!", "THE DOG 5 barks?"]
    assert exact.card["dropped"] == {"length out of range": 2, "duplicate": 1}
    run(rules, "t.txt", out="2.conllu", dedupe="near")
    assert texts_of("2.conllu") == [
        "He left.", "The dog barks.", "THE DOG 5 barks?", "No.", "The dog barks and barks and barks.",
    ]  # fmt: skip
    run(rules, "t.txt", out="3.conllu", limit=2)
    assert texts_of("3.conllu") == ["He left.", "He left."]


def test_heads_that_are_not_a_tree_are_repaired_or_dropped_and_counted(rules):
    Path("t.txt").write_text("He left. A CYCLE of words. The dog barks.", "utf-8")
    repaired = run(rules, "t.txt")
    assert [s.heads.count(-1) for s in Corpus.read("out.conllu")] == [1, 1, 1]
    assert repaired.card["counts"]["repaired"] == 1
    assert repaired.card["repaired"] == {"cycle": 1, "no root": 1}
    dropped = run(rules, "t.txt", out="d.conllu", non_trees="drop")
    assert len(texts_of("d.conllu")) == 2
    assert dropped.card["dropped"] == {"not a tree": 1}


def test_counts_are_of_what_is_in_the_file(rules):
    Path("t.txt").write_text("He left. A CYCLE of words. A CYCLE of words. No. A bird sings. CYCLE three. No.", "utf-8")
    found = run(rules, "t.txt", dedupe="exact", limit=3, length=(3, 9))
    assert texts_of("out.conllu") == ["He left.", "A CYCLE of words.", "A bird sings."]
    assert found.card["counts"] == {"documents": 1, "sentences": 3, "words": 12, "repaired": 1}
    assert found.card["repaired"] == {"cycle": 1, "no root": 1}
    assert found.card["dropped"] == {"duplicate": 1, "length out of range": 1}


def test_a_worker_with_another_model_does_not_annotate(rules):
    loaded = loaded_annotator(rules)
    piece = ("text", Piece("d", "He left.", first=True))
    work = Work(rules, {"text": ReadOptions("wrapped")}, replace(loaded.model, version="2"))
    with pytest.raises(AnnotatorError, match=r"expected rules.py:annotate 2, own function, got rules.py:annotate 1,"):
        annotate_pieces(work, [piece])
    assert len(annotate_pieces(replace(work, model=loaded.model), [piece])[0]) == 1


def test_an_article_that_cannot_be_parsed_is_left_out_and_counted(rules):
    pytest.importorskip("mwparserfromhell")
    texts = ("He left.", f"Bad. {'{' * 3000}{'}' * 3000}", "Nobody ran.")
    page = "<page><ns>0</ns><id>{}</id><revision><text>{}</text></revision></page>"
    Path("d.xml").write_text(f"<mediawiki>{''.join(map(page.format, range(3), texts))}</mediawiki>", "utf-8")
    found = run(rules, "d.xml")
    assert texts_of("out.conllu") == ["He left.", "Nobody ran."]
    assert found.card["dropped"] == {"articles whose markup cannot be parsed": 1}


CUTTER = r"""
import re
from sentprobe import Sentence


def annotate(texts):
    parts = [re.split("(?<=[.!:]) |(?= [A-Z\ufffc])", text) for text in texts]
    return [[Sentence("", p.strip(), tuple(re.findall(r"\w+|\S", p))) for p in some] for some in parts]
"""
"""It splits after marks, and also before capital letters and holes."""


def test_sentences_of_a_wiki_that_were_cut_off_are_dropped_and_counted(tmp_path, monkeypatch):
    pytest.importorskip("mwparserfromhell")
    monkeypatch.chdir(tmp_path)
    Path("cutter.py").write_text(CUTTER, "utf-8")
    text = (
        "She measures {{unit|3}} of height. He left. The river Thames is long. She sings.\n\n"
        'It says: yes. It ends "so." It has:\n* two doors\n\nHe ran!'
    )
    page = f"<page><ns>0</ns><id>1</id><revision><text>{text}</text></revision></page>"
    Path("d.xml").write_text(f"<mediawiki>{page}</mediawiki>", "utf-8")
    found = run("py:cutter.py", "d.xml")
    assert texts_of("out.conllu") == ["He left.", "She sings.", "yes.", 'It ends "so."', "He ran!"]
    # She measures | The river, Thames is long | It says: | It has:
    cut_off = "cut off: it, or the one before it, has no full stop"
    assert found.card["dropped"] == {cut_off: 5, "something was removed from its middle": 1}
    Path("t.txt").write_text("A heading\n\nHe left", "utf-8")  # other texts may have no marks
    run("py:cutter.py", "t.txt", out="t.conllu")
    assert texts_of("t.conllu") == ["A heading", "He left"]


def test_a_lone_surrogate_is_not_written(rules):
    Path("halved.py").write_text(
        "from sentprobe import Sentence\n\n\ndef annotate(texts):\n"
        "    return [[Sentence('', t, (t,), lemmas=('\\ud800' if t == 'cat' else t,))] for t in texts]\n"
    )
    Path("a.txt").write_text("dog\ncat\nbird\n", "utf-8")
    found = run("py:halved.py", "a.txt", lines="sentences")
    assert texts_of("out.conllu") == ["dog", "bird"]
    assert found.card["dropped"] == {"cannot be written as CoNLL-U": 1}


@pytest.mark.skipif(not has_detector(), reason="needs the extra annotate")
def test_text_in_another_language_is_dropped_and_counted(rules):
    english = "The children were playing behind the church when it began to snow."
    french = "Les enfants jouaient derrière l'église quand il a commencé à neiger."
    Path("t.txt").write_text(f"{english}\n\n{french}\n\n{english} Nobody ran. {french}\n\nOui.", "utf-8")
    found = run(rules, "t.txt", check_language=True)
    assert texts_of("out.conllu") == [english, english, "Nobody ran.", "Oui."]
    assert found.card["dropped"] == {"paragraphs in another language": 1, "in another language": 1}
    with pytest.raises(UsageError, match="is a model of en"):
        run(rules, "t.txt", out="x.conllu", language="fr")


def test_sentences_on_lines_are_not_split_and_others_by_a_splitter(rules):
    Path("t.txt").write_text("Mr. Smith left. He left.\nNobody ran\n", "utf-8")
    run(rules, "t.txt", out="a.conllu", lines="sentences")
    assert texts_of("a.conllu") == ["Mr. Smith left. He left.", "Nobody ran"]
    pytest.importorskip("sentence_splitter")
    run(rules, "t.txt", out="b.conllu", lines="paragraphs", split="moses-en")
    assert texts_of("b.conllu") == ["Mr. Smith left.", "He left.", "Nobody ran"]
    with pytest.raises(UsageError, match="--split has no effect with --lines sentences"):
        run(rules, "t.txt", out="c.conllu", lines="sentences", split="moses-en")


def test_a_text_on_which_the_annotator_fails_is_named_or_skipped(children, rules):
    Path("t.txt").write_text("He left.\n\nThis does FAIL here.\n\nThe dog barks.", "utf-8")
    with pytest.raises(
        DataError, match=r"fails on 'This does FAIL here.', near the document 't': RuntimeError: no rule"
    ):
        run(rules, "t.txt")
    found = run(rules, "t.txt", out="s.conllu", skip_bad=True)
    assert texts_of("s.conllu") == ["He left.", "The dog barks."]
    assert found.card["dropped"] == {"the annotator failed": 1}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("wrong_columns", "has 2 words, and 1 upos"),
        ("short", "expected the sentences of 1 texts, got those of 0"),
        ("annotator", "has no function 'annotator'"),
        ("annotat", "Did you mean annotate"),
    ],
)
def test_an_own_function_that_is_wrong_is_told_so(rules, function, message):
    Path("t.txt").write_text("He left", "utf-8")
    with pytest.raises(SentProbeError, match=message):
        run(f"py:rules.py:{function}", "t.txt")


@pytest.mark.parametrize("mwts", [((0, 5, "du"),), ((0, 1, "de"),), ((-1, 1, "de"),), ((2, 2, "du"),)])
def test_multi_word_tokens_must_be_of_words(mwts):
    sentence = Sentence("", "", ("de", "le"), mwts=mwts)
    fault = sentence_fault(replace(sentence, text=" ".join(sentence.tokens)))
    assert "expected two words or more of its 2" in fault
    assert not sentence_fault(Sentence("", "du lac", ("de", "le", "lac"), mwts=((0, 2, "du"),)))


def test_an_own_function_may_return_conllu(rules):
    Path("t.txt").write_text("He left , early", "utf-8")
    found = run("py:rules.py:lazy", "t.txt")
    assert not found.model.universal
    assert found.model.version.startswith("source ")
    (sentence,) = Corpus.read("out.conllu")
    assert sentence.forms == ("He", "left", ",", "early")
    assert sentence.heads == (-1, 0, 1, 2)


def test_the_command_prints_what_came_of_the_texts(children, rules):
    Path("story.txt").write_text(STORY, "utf-8")
    done = sentprobe("annotate", "story.txt", "--with", rules, "-o", "c.conllu.gz", "--length", "3-5")
    assert done.returncode == 0, done.stderr
    assert [line.strip().split(maxsplit=1) for line in done.stdout.splitlines()] == [
        ["documents", "1"], ["sentences", "4"], ["words", "15"], ["dropped", "1 length out of range"],
        ["written", "to  c.conllu.gz"],
    ]  # fmt: skip
    assert "Annotating 1 file with py:rules.py:annotate; 1 job; writing to c.conllu.gz" in done.stderr
    again = sentprobe("annotate", "story.txt", "--with", rules, "-o", "c.conllu.gz", "--length", "3-5")
    assert "finished before" in again.stdout
    assert "note: py:rules.py:annotate: It fills no features; tasks that need them cannot be made." in again.stderr


def test_the_command_says_that_there_is_no_sentence(rules):
    Path("blank.txt").write_text("\n\n", "utf-8")
    done = sentprobe("annotate", "blank.txt", "--with", rules, "-o", "a.conllu")
    assert done.returncode == 1
    assert "warning: the corpus has no sentences: there is no text in what was read." in done.stderr
    Path("short.txt").write_text("No.", "utf-8")
    done = sentprobe("annotate", "short.txt", "--with", rules, "-o", "b.conllu", "--length", "5-9")
    assert "warning: the corpus has no sentences: all were dropped." in done.stderr
    done = sentprobe("annotate", "shorts.txt", "--with", rules, "-o", "c.conllu")
    assert done.stderr.rstrip().endswith("There is no file or directory 'shorts.txt'; did you mean 'short.txt'?")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("story.txt", "--with", "rules", "-o", "x.conllu"), "names no annotator: expected KIND:MODEL"),
        (("story.txt", "--with", "spacey:x", "-o", "x.conllu"), "Did you mean spacy?"),
        (("story.txt", "--with", "py:rules.py?a=1", "-o", "x.conllu"), "takes no options"),
        (("story.txt", "--with", "py:none.py", "-o", "x.conllu"), "There is no file none.py to load an annotator"),
        (("story.txt", "--with", "py:rules.py"), "Expected --out FILE"),
        (("story.txt", "--with", "py:rules.py", "-o", "x.txt"), "expected a name that ends in .conllu or .conllu.gz"),
        (("story.txt", "--with", "py:rules.py", "-o", "x.conllu", "--length", "9-5"), "--length 9-5: expected"),
        (("story.txt", "--with", "py:rules.py", "-o", "x.conllu", "--text", "t"), "--text names a field of JSON lines"),
        (
            ("story.txt", "--with", "py:rules.py", "-o", "x.conllu", "--split", "morses"),
            "no sentence splitter 'morses'",
        ),
        (("stori.txt", "--with", "py:rules.py", "-o", "x.conllu"), "did you mean 'story.txt'?"),
        (("*.md", "--with", "py:rules.py", "-o", "x.conllu"), "No file matches '*.md'"),
        (("rules.py", "--with", "py:rules.py", "-o", "x.conllu"), "Cannot tell the format of 'rules.py'"),
        ((".", "--format", "jsonl", "--with", "py:rules.py", "-o", "x.conllu"), "holds no text"),
    ],
)
def test_what_was_typed_is_checked_before_work_begins(rules, words, message):
    Path("story.txt").write_text(STORY, "utf-8")
    done = sentprobe("annotate", *words)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert not list(Path().glob("x.*"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_bad_input_loses_nothing_that_comes_before_it(children, rules, small_chunks, jobs):
    lines = [f'{{"text": "The dog number {i} barks."}}' for i in range(20)]
    Path("a.jsonl").write_text("\n".join([*lines, "{", *lines]), "utf-8")
    with pytest.raises(CorpusError, match=r"a.jsonl:21: got malformed JSON"):
        run(rules, "a.jsonl", jobs=jobs)
    assert json.loads(Path("out.conllu.part/checksums.json").read_bytes())["pieces"] == 18  # whole chunks of three
    found = run(rules, "a.jsonl", out="s.conllu", jobs=jobs, skip_bad=True)
    assert found.card["counts"]["sentences"] == 40
    assert found.card["not_read"]["count"] == 1
    assert "a.jsonl:21" in found.card["not_read"]["listed"][0]


def test_a_gzip_file_is_read_by_any_program(many, small_chunks):
    run(many, "many.txt", out="a.conllu.gz")
    run(many, "many.txt", out="a.conllu")
    assert gzip.decompress(Path("a.conllu.gz").read_bytes()) == Path("a.conllu").read_bytes()
