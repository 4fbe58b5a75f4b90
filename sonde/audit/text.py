"""What is damaged in the text of the rows.

A text is looked at once, however many rows hold it, and closely only where a cheap look gives reason to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise
from typing import NamedTuple

from sonde.audit.finding import Code, Finding, around, severity_by_share, some
from sonde.audit.habits import difference
from sonde.audit.rows import Rows
from sonde.corpus.artifacts import find_invisible_character, find_lost_character, find_markup
from sonde.data.expected import Expectations

CODES: tuple[Code, ...] = (
    Code(
        "mojibake",
        "text decoded with the wrong encoding",
        "Rows in which letters have turned into others because their bytes were read in the wrong encoding: ‘cafÃ©’ "
        "for café, ‘itâ€™s’, ‘Ð¿Ñ€’. A row counts if ftfy finds it implausible and can undo it, or if a tokeniser has "
        "since torn such letters apart (‘Ã ©’). An error from 1 % of the rows of a split, else a warning. An encoder "
        "has never seen such words, and one that splits into bytes or pieces suffers more than others do.",
        "Read the source again in its own encoding, or repair it with ftfy, and make the set again.",
    ),
    Code(
        "replacement-characters",
        "characters that were lost",
        "Rows with U+FFFD, which stands where a character could not be decoded, or with a question mark in the place "
        "of an English apostrophe (‘what ? s’, ‘don ? t’), as encodings without that character leave it. An error "
        "from 1 % of the rows of a split, else a warning. What was there cannot be recovered from the set.",
        "Go back to the source; drop the rows where it is lost there too.",
    ),
    Code(
        "control-characters",
        "invisible characters inside the text",
        "Rows with control characters (line breaks and tabs among them), zero-width spaces, marks of writing "
        "direction, byte order marks, soft hyphens or private-use characters. A zero-width joiner or non-joiner "
        "counts only where no script needs it: alone, or after a Latin, Greek or Cyrillic letter. No-break spaces are "
        "right in many languages and are no fault here; `mixed-tokenisation` compares them between classes. Always a "
        "warning. Nobody sees them, but most tokenisers do: a word with a soft hyphen is a word never met before.",
        "Remove them, and normalise the text to NFC, before the set is made.",
    ),
    Code(
        "repeated-fragment",
        "a stretch of the sentence stands there twice",
        "Rows in which three or more words stand twice in succession, with at most one punctuation mark in between, "
        "or one word three times; case makes no difference. Speech and songs do that too, so it is a note below 1 % "
        "of the rows of a split and a warning from there on. It is an error if it is also uneven: if the share "
        "differs between classes by 5 points or more, with p < 0.0001. Scrapers, subtitles and careless joins repeat "
        "text, and a probe for order or length then answers about the repetition.",
        "Read the examples; remove the repetition at its source if it is no one's style.",
    ),
    Code(
        "split-tokens",
        "words torn apart by a tokeniser",
        "Rows in which something that belongs together was torn: an apostrophe set off on both sides (‘the dog ’ s’, "
        "‘l ’ été’, ‘O ’ Brien’), ‘n 't’, abbreviations and numbers around a full stop (‘U . S .’, ‘2 . 5’), entities "
        "(‘& amp ;’), an accent without its letter. The usual conventions are no faults: ‘do n't’ (Penn), ‘don 't’ "
        "and ‘l' été’ (Moses), ‘dogs ' tails’. An error from 1 % of the rows of a split, else a warning. Encoders "
        "were trained on other tokens, and counts of words are too high.",
        "Tokenise the raw text again, with curly apostrophes turned into straight ones first.",
    ),
    Code(
        "markup",
        "markup, escapes and web addresses",
        "Rows with HTML entities and tags, wiki markup, brackets that were emptied when markup was taken out (‘( )’), "
        "placeholders (‘<unk>’, ‘formula _ 3’), LaTeX commands, addresses of web and mail, the escapes of the Penn "
        "Treebank (‘-LRB-’, ‘\\/’) or of Moses (‘@-@’). A mere name such as example.com is none. The evidence counts "
        "the rows of each kind. An error from 1 % of the rows of a split, else a warning. It makes sentences longer, "
        "and it is rarely spread evenly over classes.",
        "Clean the source with a parser of its format, or leave such sentences out; `sonde make` leaves addresses out.",
    ),
    Code(
        "empty-text",
        "rows without a single letter or digit",
        "Rows whose text holds punctuation or blanks only. An error from 1 % of the rows of a split, else a warning. "
        "There is nothing to probe in them, and the encoder's answer to nothing goes into the score.",
        "Drop these rows.",
    ),
    Code(
        "one-token",
        "rows of one token",
        "Rows that have one token only; rows of scripts that are written without spaces are left out, unless the set "
        "brings its own tokens. Always a warning. Such rows say nothing about sentences, order or structure.",
        "Drop these rows unless the task is about single words.",
    ),
)

CODE_BY_NAME = {code.name: code for code in CODES}


def text(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Yield what is damaged in the text, split by split."""
    english = expectations.language is None or expectations.language.lower().startswith("en")
    faults = {t: found for t in dict.fromkeys(rows.text) if (found := tuple(_faults(t, english)))}
    places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for i, (split, t, tokens) in enumerate(zip(rows.split, rows.text, rows.tokens, strict=True)):
        if t in faults:
            for code in {f.code for f in faults[t]}:
                places[split, code].append(i)
        if len(tokens) == 1 and _is_one(t, tokens[0]):
            places[split, "one-token"].append(i)
    for split in rows.splits:
        for code in CODE_BY_NAME:
            if where := places.get((split, code)):
                yield _damage(rows, split, code, where, faults)


class Fault(NamedTuple):
    """One damage in one text: where it was seen, and of what kind it is if its code knows kinds."""

    code: str
    example: str
    kind: str = ""


def _damage(rows: Rows, split: str, code: str, where: list[int], faults: dict[str, tuple[Fault, ...]]) -> Finding:
    """One code in one split."""
    count, size = len(where), rows.sizes[split]
    severity = severity_by_share(count, size)
    if code in ("control-characters", "one-token"):
        severity = "warning"
    elif code == "repeated-fragment" and severity == "warning":
        severity = "note"
    elif code == "repeated-fragment":
        hits = Counter(rows.label[i] for i in where)
        groups = [(hits[label], n) for label, n in rows.counts(split).items()]
        severity = "warning" if difference(groups) is None else "error"
    found = [f for i in where for f in faults.get(rows.text[i], ()) if f.code == code]
    kinds = Counter(f.kind for f in found if f.kind)
    message = f"{count:,} of the {size:,} rows of {split}: {CODE_BY_NAME[code].title}"
    examples = some(f.example for f in found) if found else some(rows.text[i] for i in where)
    evidence = {"rows": size, **{kind: kinds[kind] for kind in sorted(kinds)}}
    return Finding(code, severity, message, CODE_BY_NAME[code].advice, split, count, examples, evidence)


TORN_MOJIBAKE = re.compile(r"(?<!\w)[ÂÃ] [¡-¿]|â € ")
TORN = re.compile(
    r"""(?<=\w)\ ['’]\ (?:s|t|ll|re|ve|d|m)(?![\w-])(?!\ ?['’])  # the dog ' s
    |(?<!['’‘"“]\ )(?<![\w'’-])(?:[cdjlmnstoдло]|(?:jus|lors|puis|quoi|pres|quel)?qu|aujourd|(?:de|ne|da|su|co)ll|un)
     \ ['’]\ (?=\w)(?!.*\ ['’](?:\ |$))  # l ' eau, but not before something quoted
    |\bn\ 't\b
    |(?<![\w.])[^\W\d_]\ \.\ [^\W\d_]\ \.(?!\ \.)  # U . S .
    |(?<!\d)\d{1,3}\ \.\ \d{1,2}(?!\d)
    |&\ ?(?:amp|quot|apos|lt|gt|nbsp|[mn]dash|hellip|[lr][sd]quo)\ ;|&\ ?\#\ ?\w{2,6}\ ;
    |\ [\u0300\u0301\u0308]""",
    re.IGNORECASE | re.VERBOSE,
)
TORN_HINTS = (" ' ", " ’ ", " 't", " . ", "&", " \u0300", " \u0301", " \u0308")
MAX_TOKENS = 500
"""Tokens of a text that are looked at for repetitions."""
TOKEN = re.compile(r"""[^\s.,;:!?"(){}\[\]…«»“”„–—]+(?:\.[^\s.,;:!?"(){}\[\]…«»“”„–—]+)*|\S""")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters of scripts that set no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""


def _faults(t: str, english: bool = True) -> Iterator[Fault]:
    """What is damaged in one text; at most one fault of each code and kind."""
    if not any(map(str.isalnum, t)):
        yield Fault("empty-text", t)
    garbled = None if t.isascii() else _garbled(t)
    if garbled:
        yield Fault("mojibake", around(t, *garbled))
    if m := find_lost_character(t, english):
        yield Fault("replacement-characters", around(t, *m.span()))
    if not garbled and (m := find_invisible_character(t)):
        yield Fault("control-characters", around(t, *m.span()))
    if repeated := _repeated(t):
        yield Fault("repeated-fragment", around(t, *repeated))
    if any(hint in t for hint in TORN_HINTS) and (m := TORN.search(t)):
        yield Fault("split-tokens", around(t, *m.span()))
    for kind, m in find_markup(t):
        yield Fault("markup", around(t, *m.span()), kind)


def _garbled(t: str) -> tuple[int, int] | None:
    """Where a text was decoded wrongly."""
    if not (suspect := _suspect().search(t)):
        return None
    from ftfy import fix_encoding
    from ftfy.badness import BADNESS_RE

    if fix_encoding(t) != t:
        return (BADNESS_RE.search(t) or suspect).span()
    return m.span() if (m := TORN_MOJIBAKE.search(t)) else None


@cache
def _suspect() -> re.Pattern[str]:
    """What the bytes of a UTF-8 character may look like. ftfy decides; to ask it about all texts takes far longer."""
    encodings = ("latin-1", "iso8859-2", *(f"cp125{i}" for i in (0, 1, 2, 3, 4, 7)))
    first, longer, later = (
        "".join(sorted({c for e in encodings for c in bytes(range(low, high)).decode(e, errors="ignore")}))
        for low, high in ((0xC2, 0xE0), (0xE0, 0xF0), (0x80, 0xC0))
    )
    # some bytes are punctuation in Mac Roman and in cp437, so these are known by single characters
    return re.compile(f"[\x80-\x9f√≈─-▟]|‚Ä|â ?€|[ÂÃ] |[{first}][{later}]|[{longer}][{later}]{{2}}")


def _repeated(t: str) -> tuple[int, int] | None:
    """Where three words stand twice, or one word thrice."""
    bare = t.lower()
    for mark in '.,;:!?"(){}[]…«»“”„–—':
        bare = bare.replace(mark, " ")
    words = bare.split()
    if len(words) - len(set(words)) < 2 or len(set(pairwise(words))) == len(words) - 1:
        return None
    places = list(islice(TOKEN.finditer(t), MAX_TOKENS))
    words = [m[0].lower() for m in places]
    starts: dict[tuple[str, ...], int] = {}
    for i, three in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if len(set(three)) == 1 and _lettered(three[0]):
            return places[i].start(), places[i + 2].end()
        start = starts.get(three, i)
        for length in (i - start, i - start - 1):
            again = length >= 3 and words[i : i + length] == words[start : start + length]
            joined = length == i - start or not words[i - 1][0].isalnum()
            if again and joined and sum(map(_lettered, words[start : start + length])) >= 3:
                return places[start].start(), places[i + length - 1].end()
        starts[three] = i
    return None


def _lettered(word: str) -> bool:
    return any(map(str.isalpha, word))


def _is_one(t: str, token: str) -> bool:
    """Whether the one token of a text is a word, not a sentence that is written without spaces."""
    bare = t.strip()
    return " " not in bare and any(map(str.isalnum, t)) and not (token == bare and UNSPACED.search(t))
