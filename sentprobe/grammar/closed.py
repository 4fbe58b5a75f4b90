"""The closed word classes of the built-in corpus: pronouns, determiners, names and lists of adverbs."""

from __future__ import annotations

from functools import cache

from sentprobe.grammar.lexicon import lexicon
from sentprobe.grammar.words import WeightedTable, Word, adjective, adverb, name, word, zipf

PRONOUNS = {
    # agreement, form: nominative, accusative, genitive, features after Case
    "I": ("1s", "me", "my", "Number=Sing|Person=1"),
    "you": ("2s", "you", "your", "Person=2"),
    "he": ("3s", "him", "his", "Gender=Masc|Number=Sing|Person=3"),
    "she": ("3s", "her", "her", "Gender=Fem|Number=Sing|Person=3"),
    "it": ("3s", "it", "its", "Gender=Neut|Number=Sing|Person=3"),
    "we": ("1p", "us", "our", "Number=Plur|Person=1"),
    "they": ("3p", "them", "their", "Number=Plur|Person=3"),
}


@cache
def personal(lemma: str, case: str) -> Word:
    """Return a personal pronoun in a case (Nom, Acc, Gen)."""
    _, accusative, genitive, feats = PRONOUNS[lemma]
    if case == "Gen":
        return word(genitive, genitive, "PRON", "PRP$", f"Case=Gen|{feats}|Poss=Yes|PronType=Prs")
    form = accusative if case == "Acc" else lemma
    return word(form, lemma, "PRON", "PRP", f"Case={case}|{feats}|PronType=Prs")


@cache
def determiner(form: str) -> Word:
    """Return a determiner; numerals and quantifying adjectives too."""
    if form in ("a", "an"):
        return word(form, "a", "DET", "DT", "Definite=Ind|PronType=Art")
    if form in ("many", "several", "few", "other"):
        return adjective(form)
    if form == "most":
        return word(form, "most", "ADJ", "JJS", "Degree=Sup")
    if form == "more":
        return word(form, "more", "ADJ", "JJR", "Degree=Cmp")
    feats = {"the": "Definite=Def|PronType=Art", "no": "PronType=Neg"}
    feats |= dict.fromkeys(("some", "any", "another"), "PronType=Ind")
    feats |= dict.fromkeys(("every", "each", "all", "both"), "PronType=Tot")
    feats |= dict.fromkeys(("this", "that"), "Number=Sing|PronType=Dem")
    feats |= dict.fromkeys(("these", "those"), "Number=Plur|PronType=Dem")
    if form in feats:
        return word(form, {"these": "this", "those": "that"}.get(form, form), "DET", "DT", feats[form])
    return word(form, form, "NUM", "CD", f"NumForm={'Digit' if form.isdigit() else 'Word'}|NumType=Card")


RELATION = {"DET": "det", "ADJ": "amod", "NUM": "nummod"}
_SINGULAR = "the:50 a:36 this:4 that:3 every:0.7 another:2 no:0.3 one:0.7 each:0.3"
_PLURAL = "the:46 :14 some:8 these:4 those:4 many:5 several:5 a+few:3 all:1 no:0.3 most:0.5 the+other:1"
_MASS = "the:48 :28 some:14 this:4 that:2 no:0.5 more:2"
_NUMERALS = (
    "two:6 three:5 four:3 five:3 six:2 seven:1 eight:1 nine:1 ten:2 twelve:1 twenty:1 fifty:1 12:1 15:1 30:1 100:1"
)


def _weights(text: str, without: str = "", extra: str = "") -> WeightedTable[tuple[str, ...]]:
    pairs = [p.split(":") for p in f"{text} {extra}".split()]
    banned = without.split()
    return WeightedTable(
        [(tuple(w for w in d.split("+") if w), float(n)) for d, n in pairs if not {*banned} & {*d.split("+")}]
    )


@cache
def determiners(number: str, mood: str) -> WeightedTable[tuple[str, ...]]:
    """Return the determiners for a number (s, p, m) in a mood: plain, negative, listed, worn, indefinite, counted."""
    text = {"s": _SINGULAR, "p": _PLURAL + " " + _NUMERALS, "m": _MASS}[number]
    if mood == "negative":  # no double negation, and "any" instead of "some"
        return _weights(text, "some no several most many every each", "any:12" if number != "s" else "any:2")
    if mood == "listed":  # conjuncts take only determiners that do not quantify over them
        return _weights(text, "no every each all most")
    if mood == "worn":  # in a hat, in hats
        return _weights("a:1" if number == "s" else ":1")
    if mood in ("indefinite", "counted"):
        return _weights(text, ("no " if mood == "counted" else "") + "the this that these those all most every each")
    return _weights(text)


@cache
def pronouns(human: bool, case: str) -> WeightedTable[str]:
    """Return the personal pronouns that may refer to a human, or to a thing."""
    if not human:
        return WeightedTable([("it", 3.0), ("they", 2.0)])
    last = 1.0 if case == "Nom" else 0.6
    return WeightedTable([("I", 3 * last), ("you", 2.0), ("he", 4.0), ("she", 4.0), ("we", 2.0), ("they", 3.0)])


@cache
def names(key: str) -> WeightedTable[Word]:
    """Return a list of names of the lexicon as a table."""
    return WeightedTable(zipf([name(w) for w in lexicon().words("name", key)]))


@cache
def listed(section: str, key: str) -> WeightedTable[Word]:
    """Return a list of adverbs of the lexicon as a table."""
    return WeightedTable(zipf([adverb(w) for w in lexicon().words(section, key)]))


@cache
def listed_adjectives(key: str) -> WeightedTable[Word]:
    """Return a list of adjectives of the lexicon's function words as a table."""
    return WeightedTable(zipf([adjective(w) for w in lexicon().words("function", key)]))


@cache
def possessives() -> WeightedTable[str]:
    """Return the pronouns that may be possessors."""
    return WeightedTable(zip(PRONOUNS, (4.0, 2.0, 4.0, 4.0, 0.0, 2.5, 3.0), strict=True))


@cache
def intensifiers(use: str) -> WeightedTable[Word]:
    """Return the adverbs of degree for a noun phrase, or all of them for the use ``predicate``."""
    words = [
        w
        for w in lexicon().words("function", "intensifiers")
        if use == "predicate" or w not in ("so", "too", "quite", "rather")
    ]
    return WeightedTable(zipf([adverb(w) for w in words]))
