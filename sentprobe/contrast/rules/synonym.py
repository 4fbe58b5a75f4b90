"""A function word or adverb replaced by its synonym from a list: *almost* ↔ *nearly*, *lorsque* ↔ *quand*.

The lists are short and have only what can stand in the same place; a condition on the part of speech keeps other uses
out. Like the contrasts that replace one word, the row has all words of the anchor but one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import is_statement, replaced, subject, token_span, written
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, feature, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

SYNONYMS = {
    "en": """ADV: almost nearly | maybe perhaps | often frequently | usually normally | rapidly quickly |
        immediately instantly | completely entirely | entirely completely | totally completely | mostly mainly |
        mainly mostly | especially particularly | particularly especially | currently presently | approximately
        roughly |
        roughly approximately | seldom rarely | rarely seldom | sufficiently adequately | gently softly |
        nevertheless nonetheless | nonetheless nevertheless | therefore thus | occasionally sometimes |
        extremely exceptionally | very really | primarily mainly | chiefly mainly |
        suddenly abruptly | abruptly suddenly | enormously greatly
        SCONJ: although though | though although | until till | till until | whilst while
        ADP: toward towards | towards toward | among amongst | amongst among | throughout across | beside by |
        upon on | despite notwithstanding | via through | regarding concerning | concerning regarding
        ADJ: numerous many | many numerous | entire whole | whole entire
        CCONJ: but yet""",
    "fr": """ADV: souvent fréquemment | fréquemment souvent | presque quasiment | quasiment presque |
        également aussi | cependant toutefois | toutefois cependant | néanmoins toutefois | généralement
        habituellement | habituellement généralement | complètement entièrement |
        entièrement complètement | totalement entièrement | principalement essentiellement |
        essentiellement principalement | uniquement exclusivement | exclusivement uniquement | seulement uniquement |
        actuellement présentement | immédiatement aussitôt | environ approximativement | particulièrement spécialement
        | parfois quelquefois | probablement vraisemblablement
        SCONJ: lorsque quand | quand lorsque
        ADP: durant pendant | pendant durant
        ADJ: nombreux multiples | nombreuses multiples""",
    "de": """ADV: schon bereits | bereits schon | oft häufig | auch ebenfalls | ebenfalls auch | fast beinahe |
        beinahe fast | nur lediglich | lediglich nur | etwa ungefähr | ungefähr etwa | rund etwa | jetzt nun | nun
        jetzt |
        sofort unverzüglich | allerdings jedoch | jedoch allerdings | besonders insbesondere | zudem außerdem |
        außerdem zudem | ebenso gleichermaßen | zurzeit derzeit | derzeit zurzeit | meist meistens | meistens meist |
        wahrscheinlich vermutlich | vermutlich wahrscheinlich | sehr überaus | zunächst zuerst |
        zuerst zunächst | mindestens wenigstens
        SCONJ: obwohl obgleich | obgleich obwohl | weil da
        ADP: wegen aufgrund | aufgrund wegen""",
    "pl": """CCONJ: lecz ale | ale lecz | oraz i | i oraz | albo lub | lub albo | jednak jednakże
        SCONJ: ponieważ gdyż | gdyż ponieważ | kiedy gdy | gdy kiedy | żeby aby | aby żeby | jeśli jeżeli | jeżeli
        jeśli |
        chociaż choć | choć chociaż | bo gdyż
        PART: także również | również także | też także | tylko jedynie | jedynie tylko | niemal prawie | prawie
        niemal |
        chyba zapewne
        ADV: teraz obecnie | obecnie teraz | wtedy wówczas | wówczas wtedy | wciąż nadal | nadal wciąż | ciągle wciąż |
        całkowicie zupełnie | zupełnie całkowicie | bardzo niezwykle | szybko prędko |
        tutaj tu | tu tutaj | nagle raptem
        ADP: wśród pośród | pośród wśród""",
}
"""By language and part of speech: a word, its synonym."""


def parsed(text: str) -> dict[tuple[str, str], str]:
    """(part of speech, word) → synonym."""
    table: dict[tuple[str, str], str] = {}
    tag = ""
    for entry in text.replace(":", ": |").split("|"):
        words = entry.split()
        following = words.pop() if words and words[-1].endswith(":") else ""
        if len(words) == 2:
            table[tag, words[0]] = words[1]
        tag = following.rstrip(":") or tag
    return table


TABLES = {language: parsed(text) for language, text in SYNONYMS.items()}
BLOCKING_WORDS = """as so too how very not even nicht nie non ne pas tak jak zu wie"""
BLOCKING = frozenset(BLOCKING_WORDS.split())
"""Words after which a synonym would not do: *even though*, *not only*, *as many as*."""
DEGREE_WORDS = """very really extremely particularly especially sehr überaus bardzo besonders"""
DEGREES = frozenset(DEGREE_WORDS.split())
"""Adverbs that have their synonym only before an adjective or adverb."""
NO_DEGREE = frozenset(["much", "many", "few", "little", "same", "own", "first", "last"])
"""Words that *very* alone goes with; so do superlatives."""
NUMBERS_OF = frozenset(["dozen", "ten", "hundred", "thousand", "million", "billion", "more", "other"])
"""Words that *many* alone goes with."""
NOMINAL = frozenset({"i", "oraz"})
"""Conjunctions that have their synonym only between nouns."""
LATE = frozenset({"gdyż", "jedoch", "allerdings", "da", "lecz", "aussi"})
"""Words that do not begin a sentence, or would mean something else there."""


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with one word replaced, once for each that has a synonym."""
    table = TABLES.get(code_of(context.language))
    if table is None or not is_statement(s) or s.deprels is None or s.heads is None:
        return
    lowered = [form.lower() for form in s.forms]
    for i, form in enumerate(lowered):
        synonym = table.get((tags(s)[i], form))
        span = token_span(s, [i])
        if synonym is None or synonym in lowered or span is None or s.tokens[span[0]].lower() != form:
            continue
        if (i == 0 and synonym in LATE) or not _fits(s, i, form):
            continue
        if text := written(s, replaced(s, {span[0]: synonym}), context):
            yield text


def _fits(s: Sentence, i: int, form: str) -> bool:
    """Whether the synonym can stand where the word is."""
    assert s.deprels is not None
    assert s.heads is not None
    if s.deprels[i] in ("fixed", "compound:prt", "flat") or any(
        r == "fixed" and h == i for r, h in zip(s.deprels, s.heads, strict=True)
    ):
        return False
    head, before = s.heads[i], s.forms[i - 1].lower() if i else ""
    if before in BLOCKING or (form in DEGREES and not _takes_degree(s, i, head)):
        return False
    if form in NOMINAL:
        linked = {tags(s)[head], tags(s)[s.heads[head]]} if head >= 0 and s.heads[head] >= 0 else {""}
        return i > 0 and s.deprels[i] == "cc" and linked <= {"NOUN", "PROPN"}
    if tags(s)[i] == "ADJ":
        return base(s.deprels[i]) == "amod" and i < head and (s.lemmas or s.forms)[head].lower() not in NUMBERS_OF
    if tags(s)[i] == "ADP":
        in_name = i > 0 and tags(s)[i - 1] == tags(s)[i + 1] == "PROPN"  # *Kingston upon Hull*
        return s.deprels[i] == "case" and i < head and not in_name
    if form == "but":
        excepts = tags(s)[head] not in ("VERB", "AUX", "ADJ") and subject(s, head) is None  # *any day but Tuesday*
        return s.deprels[i] == "cc" and not excepts and "not" not in s.forms[:i] and "n't" not in s.forms[:i]
    if form in ("auch", "ebenfalls"):
        return i > 0 and tags(s)[i - 1] in ("AUX", "VERB") and tags(s)[head] in ("VERB", "ADJ")
    return True


def _takes_degree(s: Sentence, i: int, head: int) -> bool:
    """Whether an adverb of degree stands before an adjective or adverb with which its synonym can stand as well."""
    if tags(s)[head] not in ("ADJ", "ADV") or i + 1 != head:
        return False
    return s.forms[head].lower() not in NO_DEGREE and feature(s, head, "Degree") != "Sup"


contrast_rule = ContrastRule(
    name="synonym",
    effect="positive",
    summary="a function word or adverb is replaced by a synonym",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT, GUM and PUD", wrong=0, date="2026-11-20"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=1, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB", wrong=1, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=0, date="2026-11-19"),
    ),
    order=130,
)
