"""Plain text, one sentence per line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.corpus import Sentence
from sentprobe.corpus.files import SHARD_BLOCK
from sentprobe.corpus.plain import read_plain, tokenise


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_lines_are_sentences_and_blank_lines_are_not(tmp_path):
    got = list(read_plain(write(tmp_path / "x.txt", "\n  Birds  sing. \n \t \nDogs bark!")))
    assert got == [
        Sentence("x:2", "Birds  sing.", ("Birds", "sing", "."), space_after=(True, False, True)),
        Sentence("x:4", "Dogs bark!", ("Dogs", "bark", "!"), space_after=(True, False, True)),
    ]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Don't stop rock'n'roll!", ["Don't", "stop", "rock'n'roll", "!"]),
        ("L’été-là (oui), «non»…", ["L’été-là", "(", "oui", ")", ",", "«", "non", "»", "…"]),
        ("'quoted' -dash-", ["'", "quoted", "'", "-", "dash", "-"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),  # vowel signs are combining marks
        ("می‌خواهم", ["می‌خواهم"]),  # a zero-width non-joiner inside the word
        ("e\u0301te\u0301 ok", ["e\u0301te\u0301", "ok"]),
        ("?!", ["?", "!"]),
    ],
)
def test_words_stay_whole_and_punctuation_is_separate(text, forms):
    assert list(tokenise(text)[0]) == forms


@given(st.text())
def test_tokens_hold_every_character_but_white_space(text):
    forms, space = tokenise(text)
    assert len(forms) == len(space)
    assert "".join("".join(forms).split()) == "".join("".join(c for c in text if not c.isspace()).split())


@given(st.text(st.sampled_from("ab'-., ")).map(lambda t: " ".join(t.split())))
def test_the_text_can_be_put_together_again_from_the_spaces(text):
    forms, space = tokenise(text)
    assert "".join(f + " " * after for f, after in zip(forms, space, strict=True)).rstrip() == text


def test_shards_make_the_whole(tmp_path):
    path = write(tmp_path / "x.txt", "".join(f"line {i}\n" + "\n" * (i % 3 == 0) for i in range(3 * SHARD_BLOCK + 5)))
    whole = list(read_plain(path))
    parts = [list(read_plain(path, shard=k, of=2)) for k in range(2)]
    assert len(parts[1]) == SHARD_BLOCK + 5
    assert sorted((s for p in parts for s in p), key=lambda s: int(s.id[2:])) == whole
