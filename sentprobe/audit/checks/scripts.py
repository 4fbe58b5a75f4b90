"""Words that mix scripts: a Cyrillic letter in a Latin word, which no reader sees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples
from sentprobe.audit.checks.giveaways import script
from sentprobe.core.words import mark_class
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

CODE = Code(
    "mixed-scripts",
    "words with letters of another script that look alike",
    "Rows in which a word of three letters or more has a Cyrillic or Greek letter that looks like a Latin one, or the "
    "other way round: ‘p\u0430per’ with a Cyrillic letter. Other letters do not count, since those of ‘FcγR’ are as "
    "they should be; parts of a word that a hyphen, an apostrophe or a digit separates are judged on their own. An "
    "error from 1 % of the rows of a split, otherwise a warning: such words look like others, but are unknown to an "
    "encoder.",
    "Replace the letters by those of the word's own script, at the source.",
)
LOOKALIKES = {
    "CYRILLIC": frozenset("аеорсухіјѕԁһӏАВЕЅІЈКМНОРСТУХ"),
    "GREEK": frozenset("ονρτυιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"),
    "LATIN": frozenset("aeopcyxijsdhlABESIJKMHOPCTXvtuZNY"),
}
"""Letters that look like one of another script. A ‘γ’ or an ‘Я’ is seen, and is there on purpose (‘FcγR’)."""


@cache
def _word() -> re.Pattern[str]:
    """Three letters or more, with their marks."""
    letter, marks = r"[^\W\d_]", f"[{mark_class()}]*"
    return re.compile(f"{letter}{marks}(?:{letter}{marks}){{2,}}")


def mixed_words(text: str) -> list[str]:
    """The words of a text with letters that look like those of the script of most of its letters."""
    return [] if text.isascii() else [word for word in _word().findall(text) if not word.isascii() and _is_mixed(word)]


def _is_mixed(word: str) -> bool:
    word = "".join(filter(str.isalpha, word))  # accents are of no script
    runs = [len(list(letters)) for _, letters in groupby(map(script, word))]
    if len(runs) == 2 and min(runs) > 1:  # an ending or a prefix of another script is seen: *SMSка*
        return False
    scripts = Counter(name for letter in word if (name := script(letter)) in LOOKALIKES)
    if len(scripts) < 2:
        return False
    usual = scripts.most_common(1)[0][0]
    return any(
        letter in LOOKALIKES[name] for letter in word if (name := script(letter)) in LOOKALIKES and name != usual
    )


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Rows with such words, split by split."""
    mixed = {text: words for text in dict.fromkeys(rows.texts) if (words := mixed_words(text))}
    for split in rows.split_names if mixed else ():
        hits = [text for name, text in zip(rows.splits, rows.texts, strict=True) if name == split and text in mixed]
        if hits:
            examples = pick_examples(word for text in hits for word in mixed[text])
            yield CODE.finding_in_rows(split, len(hits), rows.split_sizes[split], examples)


audit_check = AuditCheck(name="scripts", topic="text", codes=(CODE,), in_sentences=find, order=63)
