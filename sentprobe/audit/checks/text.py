"""Damage in the text of the rows.

A text is examined once, however many rows have it, and closely only where a cheap test gives reason to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise
from typing import NamedTuple

from sentprobe.audit.check import AuditCheck, Code, Finding, excerpt, pick_examples, severity_by_share
from sentprobe.audit.checks.habits import difference
from sentprobe.corpus.artifacts import find_invisible_character, find_lost_character, find_markup
from sentprobe.corpus.folding import fold, fold_text
from sentprobe.corpus.languages import UNSPACED
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

CODES: tuple[Code, ...] = (
    Code(
        "mojibake",
        "text decoded with the wrong encoding",
        "Rows in which letters have turned into others because their bytes were read in the wrong encoding: ‘cafÃ©’ "
        "for café, ‘itâ€™s’, ‘Ð¿Ñ€’. A row counts if ftfy finds it implausible and can repair it, or if a tokeniser "
        "has since separated such letters (‘Ã ©’). An error from 1 % of the rows of a split, otherwise a warning. An "
        "encoder has never seen such words, and one that splits words into bytes or pieces suffers more than others.",
        "Read the source again in its own encoding, or repair it with ftfy, and make the set again.",
    ),
    Code(
        "replacement-characters",
        "lost characters",
        "Rows with U+FFFD, which replaces a character that could not be decoded, or with a question mark in place of "
        "an English apostrophe (‘what ? s’, ‘don ? t’), as encodings without that character leave it. An error from "
        "1 % of the rows of a split, otherwise a warning. What was there cannot be recovered from the set.",
        "Go back to the source; drop the rows where it is lost there too.",
    ),
    Code(
        "control-characters",
        "invisible characters inside the text",
        "Rows with control characters (line breaks and tabs among them), zero-width spaces, marks of writing "
        "direction, byte order marks, soft hyphens or private-use characters. A zero-width joiner or non-joiner "
        "counts only where no script needs it: alone, or after a Latin, Greek or Cyrillic letter. No-break spaces are "
        "correct in many languages and do not count here; `mixed-tokenisation` compares them between classes. Always "
        "a warning. Nobody sees them, but most tokenisers do: a word with a soft hyphen is an unknown word.",
        "Remove them, and normalise the text to NFC, before the set is made.",
    ),
    Code(
        "repeated-fragment",
        "a part of the sentence is repeated",
        "Rows in which three or more words occur twice in succession, with at most one punctuation mark in between, or "
        "one word three times; case makes no difference. Speech and songs do that too, so it is a note below 1 % of "
        "the rows of a split and a warning from there on. It is an error if it is also uneven: if the share differs "
        "between classes by 5 points or more, with p < 0.0001. Scrapers, subtitles and careless joins repeat text, and "
        "a probe for order or length then detects the repetition.",
        "Read the examples; remove the repetition at its source unless it is the style of the text.",
    ),
    Code(
        "split-tokens",
        "words split by a tokeniser",
        "Rows in which something that belongs together was split: an apostrophe with spaces on both sides (‘the dog ’ "
        "s’, ‘l ’ été’, ‘O ’ Brien’), ‘n 't’, abbreviations and numbers around a full stop (‘U . S .’, ‘2 . 5’), "
        "entities (‘& amp ;’), an accent without its letter. The usual conventions do not count: ‘do n't’ (Penn), "
        "‘don 't’ and ‘l' été’ (Moses), ‘dogs ' tails’. An error from 1 % of the rows of a split, otherwise a "
        "warning. Encoders were trained on other tokens, and word counts are too high.",
        "Tokenise the raw text again, after replacing curly apostrophes by straight ones.",
    ),
    Code(
        "markup",
        "markup, escapes and web addresses",
        "Rows with HTML entities and tags, wiki markup, brackets left empty when markup was removed (‘( )’), "
        "placeholders (‘<unk>’, ‘formula _ 3’), LaTeX commands, web and e-mail addresses, the escapes of the Penn "
        "Treebank (‘-LRB-’, ‘\\/’) or of Moses (‘@-@’). A mere domain such as example.com does not count. The "
        "evidence counts the rows of each kind. An error from 1 % of the rows of a split, otherwise a warning. It "
        "makes sentences longer, and it is rarely distributed evenly over classes.",
        "Clean the source with a parser of its format, or drop such sentences; `sentprobe make` drops those with "
        "addresses.",
    ),
    Code(
        "empty-text",
        "rows without a single letter or digit",
        "Rows whose text is punctuation or white space only. An error from 1 % of the rows of a split, otherwise a "
        "warning. There is nothing to probe in them, and the vector of an empty text goes into the score.",
        "Drop these rows.",
    ),
    Code(
        "one-token",
        "rows of one token",
        "Rows that have one token only; rows in scripts without spaces between words are left out, unless the set "
        "comes with its own tokens. Always a warning. Such rows say nothing about sentences, order or structure.",
        "Drop these rows unless the task is about single words.",
    ),
)

CODE_BY_NAME = {code.name: code for code in CODES}


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Damage in the text, split by split."""
    english = expectations.language is None or expectations.language.lower().startswith("en")
    defects = {t: in_text for t in dict.fromkeys(rows.texts) if (in_text := tuple(_defects(t, english)))}
    hits: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for i, (split, t, tokens) in enumerate(zip(rows.splits, rows.texts, rows.tokens, strict=True)):
        if t in defects:
            for code in {f.code for f in defects[t]}:
                hits[split, code].append(i)
        if len(tokens) == 1 and _is_one_word(t, tokens[0]):
            hits[split, "one-token"].append(i)
    for split in rows.split_names:
        for code in CODE_BY_NAME:
            if where := hits.get((split, code)):
                yield _finding(rows, split, code, where, defects)


class Defect(NamedTuple):
    """One defect in one text: an excerpt, and of which kind it is if its code distinguishes kinds."""

    code: str
    example: str
    kind: str = ""


def _finding(rows: Split, split: str, code: str, where: list[int], defects: dict[str, tuple[Defect, ...]]) -> Finding:
    """One code in one split."""
    count, size = len(where), rows.split_sizes[split]
    severity = severity_by_share(count, size)
    if code in ("control-characters", "one-token"):
        severity = "warning"
    elif code == "repeated-fragment" and severity == "warning":
        severity = "note"
    elif code == "repeated-fragment":
        hits = Counter(rows.label_names[i] for i in where)
        groups = [(hits[label], n) for label, n in rows.label_counts(split).items()]
        severity = "warning" if difference(groups) is None else "error"
    same_code = [f for i in where for f in defects.get(rows.texts[i], ()) if f.code == code]
    kinds = Counter(f.kind for f in same_code if f.kind)
    examples = pick_examples([f.example for f in same_code] or [rows.texts[i] for i in where])
    return CODE_BY_NAME[code].finding_in_rows(split, count, size, examples, severity, dict(sorted(kinds.items())))


SPLIT_MOJIBAKE = re.compile(r"(?<!\w)[ÂÃ] [¡-¿]|â € ")
SPLIT_TOKENS = re.compile(
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
SPLIT_TOKEN_HINTS = (" ' ", " ’ ", " 't", " . ", "&", " \u0300", " \u0301", " \u0308")
MAX_TOKENS = 500
"""Tokens of a text that are searched for repetitions."""
TOKEN = re.compile(r"""[^\s.,;:!?"(){}\[\]…«»“”„–—]+(?:\.[^\s.,;:!?"(){}\[\]…«»“”„–—]+)*|\S""")


def _defects(t: str, english: bool = True) -> Iterator[Defect]:
    """The defects of one text, at most one of each code and kind."""
    if not any(map(str.isalnum, t)):
        yield Defect("empty-text", t)
    garbled = None if t.isascii() else _garbled(t)
    if garbled:
        yield Defect("mojibake", excerpt(t, *garbled))
    if m := find_lost_character(t, english):
        yield Defect("replacement-characters", excerpt(t, *m.span()))
    if not garbled and (m := find_invisible_character(t)):
        yield Defect("control-characters", excerpt(t, *m.span()))
    if repeated := _repeated(t):
        yield Defect("repeated-fragment", excerpt(t, *repeated))
    if any(hint in t for hint in SPLIT_TOKEN_HINTS) and (m := SPLIT_TOKENS.search(t)):
        yield Defect("split-tokens", excerpt(t, *m.span()))
    for kind, m in find_markup(t):
        yield Defect("markup", excerpt(t, *m.span()), kind)


def _garbled(t: str) -> tuple[int, int] | None:
    """Where a text was decoded wrongly."""
    if not (suspect := _suspect().search(t)):
        return None
    from ftfy import fix_encoding
    from ftfy.badness import BADNESS_RE

    if fix_encoding(t) != t:
        return (BADNESS_RE.search(t) or suspect).span()
    return m.span() if (m := SPLIT_MOJIBAKE.search(t)) else None


@cache
def _suspect() -> re.Pattern[str]:
    """What the bytes of a UTF-8 character may look like. ftfy decides; running it on every text takes far longer."""
    encodings = ("latin-1", "iso8859-2", *(f"cp125{i}" for i in (0, 1, 2, 3, 4, 7)))
    first, longer, later = (
        "".join(sorted({c for e in encodings for c in bytes(range(low, high)).decode(e, errors="ignore")}))
        for low, high in ((0xC2, 0xE0), (0xE0, 0xF0), (0x80, 0xC0))
    )
    # some bytes are punctuation in Mac Roman and in cp437, so these are known by single characters
    return re.compile(f"[\x80-\x9f√≈─-▟]|‚Ä|â ?€|[ÂÃ] |[{first}][{later}]|[{longer}][{later}]{{2}}")


def _repeated(t: str) -> tuple[int, int] | None:
    """Where three words are repeated, or one word occurs three times in a row."""
    bare = fold_text(t)
    for mark in '.,;:!?"(){}[]…«»“”„–—':
        bare = bare.replace(mark, " ")
    words = bare.split()
    if len(words) - len(set(words)) < 2 or len(set(pairwise(words))) == len(words) - 1:
        return None
    matches = list(islice(TOKEN.finditer(t), MAX_TOKENS))
    words = [fold(m[0]) for m in matches]
    starts: dict[tuple[str, ...], int] = {}
    for i, three in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if len(set(three)) == 1 and _has_letter(three[0]):
            return matches[i].start(), matches[i + 2].end()
        start = starts.get(three, i)
        for length in (i - start, i - start - 1):
            is_repeated = length >= 3 and words[i : i + length] == words[start : start + length]
            joined = length == i - start or not words[i - 1][:1].isalnum()  # nothing is left of an invisible character
            if is_repeated and joined and sum(map(_has_letter, words[start : start + length])) >= 3:
                return matches[start].start(), matches[i + length - 1].end()
        starts[three] = i
    return None


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))


def _is_one_word(t: str, token: str) -> bool:
    """Whether the one token of a text is a word, not a sentence that is written without spaces."""
    bare = t.strip()
    return " " not in bare and any(map(str.isalnum, t)) and not (token == bare and UNSPACED.search(t))


audit_check = AuditCheck(name="text", topic="text", codes=CODES, in_sentences=find, order=60)
