"""Whether an annotator follows the rules: sentences of the texts, with the columns that it states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import chain

from sentprobe.annotate.annotator import Loaded
from sentprobe.annotate.conversion import not_universal, sentence_fault
from sentprobe.annotate.repair import repair
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.conllu import parse_conllu, write_conllu
from sentprobe.corpus.languages import code_of
from sentprobe.errors import describe_error, error_location
from sentprobe.sentence import ANNOTATION_COLUMNS, Sentence
from sentprobe.testing.verdict import Verdict, raise_failure, verdicts

PARAGRAPHS = {
    "en": ("The river was very high (3.5 m!). A dog chased two cats; she doesn't drink cold milk.", "It rained."),
    "fr": ("La rivière était très haute (3,5 m !). L'eau du lac n'est pas froide. Où va-t-elle ?", "Il a plu."),
    "de": ("Der Fluss war sehr hoch (3,5 m!). Ein Hund jagte zwei Katzen; sie trinkt nie Milch.", "Es hat geregnet."),
    "es": ("El río estaba muy alto (¡3,5 m!). Un perro persigue dos gatos. ¿Dónde está ella?", "Llovió ayer."),
    "ru": ("Река вчера была очень высокой (3,5 м!). Собака гнала двух серых кошек. Где она?", "Шёл дождь."),
    "zh": ("昨天河水涨得很高（3.5米！）。一只狗追着两只猫。她在哪里？", "下雨了。"),
    "ja": ("昨日は川の水が高かった（3.5メートル！）。犬が二匹の猫を追いかけた。", "雨が降った。"),
}
"""Two paragraphs each, the first of several sentences."""


def check_annotator(loaded: Loaded, texts: Sequence[str] = ()) -> None:
    """Raise SentProbeError at the first rule that an annotator breaks.

    Parameters
    ----------
    loaded: Loaded
        What the ``load`` of an ``Annotator`` returns.
    texts: Sequence[str]
        Paragraphs to try it on, at least two. Default: those of this module in the model's language.
    """
    raise_failure(examine_annotator(loaded, texts), "The annotator")


def examine_annotator(loaded: Loaded, texts: Sequence[str] = ()) -> Iterator[Verdict]:
    """Try an annotator on a few texts, rule by rule; what cannot be tried after a failure is skipped."""
    model = loaded.model
    texts = list(texts or PARAGRAPHS.get(code_of(model.language), PARAGRAPHS["en"]))
    if not model.splits:
        texts = [text.rstrip(".。!?") + "." for text in texts]
    unknown = [column for column in model.columns if column not in ANNOTATION_COLUMNS]
    empty = [name for name in ("name", "version", "software") if not getattr(model, name)]
    wrong = f"it leaves {empty[0]} empty" if empty else f"there is no column {unknown[0]!r}" if unknown else ""
    yield Verdict("its model has a name, a version and known columns", not wrong, wrong)

    def called(batch: Sequence[str], is_split: bool = not model.splits) -> list[list[Sentence]]:
        with third_party_code:
            return [list(sentences) for sentences in loaded.annotate(list(batch), is_split)]

    rule = "it gives sentences for each text"
    try:
        annotated = called(texts)
        wrong = _shape(annotated, texts)
    except Exception as e:  # whatever third-party code raises
        yield Verdict(rule, False, f"got {describe_error(e)}{error_location(e)}")
        return
    yield Verdict(rule, not wrong, wrong)
    if wrong:
        return
    sentences = [s for text_sentences in annotated for s in text_sentences]
    rules: tuple[tuple[str, Callable[[], str]], ...] = (
        ("the sentences have the text's words, all of them and in order", lambda: _words(texts, annotated)),
        ("its columns are those that it states", lambda: _columns(sentences, model.columns)),
        ("the same texts get the same sentences again", lambda: _difference(annotated, called(texts))),
        (
            "a text's sentences do not depend on the other texts",
            lambda: _difference(annotated, [text_sentences for text in texts for text_sentences in called([text])]),
        ),
        (
            "sentences that are split are not split again",
            lambda: _unsplit(called([s.text for s in sentences], True)),
        ),
        ("it takes no texts, and an empty one", lambda: _empty(called([]), called([""]))),
        ("its sentences can be written as CoNLL-U and read again", lambda: _written(sentences)),
    )
    yield from verdicts(rules)
    relations = not_universal(r for s in sentences for r in s.deprels or ())
    detail = (
        f"it is said to annotate by Universal Dependencies, and has the relation {relations[0]}" if relations else ""
    )
    yield Verdict(
        "its relations are those of Universal Dependencies, if it says so",
        not (model.universal and relations),
        detail,
    )
    broken = sum(bool(repair(s).faults) for s in sentences)
    detail = f"{broken} of {len(sentences)} are not, and would be repaired" if broken else ""
    yield Verdict("its heads are trees", True, detail, warning=bool(broken))


def _shape(annotated: list[list[Sentence]], texts: Sequence[str]) -> str:
    if len(annotated) != len(texts):
        return f"got the sentences of {len(annotated)} texts for {len(texts)}"
    return next(
        (f"got none for {text!r}" for text, text_sentences in zip(texts, annotated, strict=True) if not text_sentences),
        "",
    )


def _words(texts: Sequence[str], annotated: list[list[Sentence]]) -> str:
    for text, text_sentences in zip(texts, annotated, strict=True):
        if fault := next((fault for s in text_sentences if (fault := sentence_fault(s))), ""):
            return fault
        spelled = "".join("".join(s.tokens) for s in text_sentences)
        if "".join(spelled.split()) != "".join(text.split()):
            return f"got {spelled!r} for {text!r}"
    return ""


def _columns(sentences: Sequence[Sentence], stated: Sequence[str]) -> str:
    filled = {c for s in sentences for c in s.columns if c == "tree" or any(v != "_" for v in getattr(s, c))}
    if unstated := sorted(filled - set(stated)):
        return f"it fills {unstated[0]}, and does not say so"
    return next((f"it says that it fills {c}, and does not" for c in stated if c not in filled), "")


def _difference(first: list[list[Sentence]], second: list[list[Sentence]]) -> str:
    """How the sentences of texts differ between two calls; empty if they do not."""
    if len(first) != len(second):
        return f"got the sentences of {len(second)} texts for {len(first)}"
    if [*map(len, first)] != [*map(len, second)]:
        return "got another number of sentences"
    pairs = zip(chain.from_iterable(first), chain.from_iterable(second), strict=True)
    return next((f"{a.text!r} is annotated in another way" for a, b in pairs if a != replace(b, id=a.id)), "")


def _unsplit(annotated: list[list[Sentence]]) -> str:
    return next(
        (
            f"got {len(text_sentences)} for {text_sentences[0].text if text_sentences else ''!r}"
            for text_sentences in annotated
            if len(text_sentences) != 1
        ),
        "",
    )


def _empty(none: list[list[Sentence]], empty: list[list[Sentence]]) -> str:
    if none:
        return f"got the sentences of {len(none)} texts for none"
    return "" if len(empty) == 1 and not empty[0] else f"got {empty!r:.80} for an empty text"


def _written(sentences: Sequence[Sentence]) -> str:
    numbered = [replace(repair(s).sentence, id=f"s{i}", doc=None, tree=None) for i, s in enumerate(sentences)]
    out = StringIO()
    write_conllu(numbered, out)
    reread = [s for _, s in parse_conllu(out.getvalue().encode(), "what was written")]
    for before, after in zip(numbered, reread, strict=True):
        for column in ("text", "forms", "lemmas", "upos", "xpos", "feats", "heads", "deprels", "mwts"):
            value = getattr(before, column)
            if value is not None and not (value == getattr(after, column) or set(value) == {"_"}):
                return f"{before.text!r}: got {column} {getattr(after, column)!r:.80} for {value!r:.80}"
    return ""
