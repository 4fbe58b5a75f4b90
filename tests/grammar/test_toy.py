"""The second language of the built-in corpus: gold trees, other words, another order, row by row."""

import io

import pytest

from sentprobe.corpus import Corpus
from sentprobe.corpus.conllu import read_conllu, write_conllu
from sentprobe.errors import UsageError
from sentprobe.grammar.toy import CASE_SUFFIXES, stem, translated
from sentprobe.make import make_sets
from sentprobe.make.request import select_tasks
from sentprobe.sentence import Sentence
from tests.command_line import sentprobe

N = 400
STEM_OF_DOG = "nipurun"
"""As the code first made it."""


@pytest.fixture(scope="module")
def parallel():
    return list(Corpus.synthetic(N)), list(Corpus.synthetic(N, language="qto"))


def test_it_is_the_same_every_time_and_in_shards(parallel):
    _, toy = parallel
    corpus = Corpus.synthetic(N, language="qto")
    assert list(corpus) == toy
    assert sorted(s.id for shard in range(2) for s in corpus.sentences(shard, 2)) == sorted(s.id for s in toy)


def test_a_sentence_by_hand():
    english = Sentence(
        "s1", "The old dogs saw a cat in Rome.", ("The", "old", "dogs", "saw", "a", "cat", "in", "Rome", "."),
        lemmas=("the", "old", "dog", "see", "a", "cat", "in", "Rome", "."),
        upos=("DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "ADP", "PROPN", "PUNCT"),
        feats=("Definite=Def|PronType=Art", "Degree=Pos", "Number=Plur",
               "Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin", "Definite=Ind|PronType=Art", "Number=Sing", "_",
               "Number=Sing", "_"),
        heads=(2, 2, 3, -1, 5, 3, 7, 3, 3),
        deprels=("det", "amod", "nsubj", "root", "det", "obj", "case", "obl", "punct"),
    )  # fmt: skip
    found = translated(english)
    dog, old, cat, see, within = (stem(*one) for one in (
        ("dog", "NOUN"), ("old", "ADJ"), ("cat", "NOUN"), ("see", "VERB"), ("in", "ADP")
    ))  # fmt: skip
    # plural ri, nominative without a suffix, definite e; locative ta; accusative m; past du with the plural n
    assert found.text == f"{dog.capitalize()}rie {old}ri Rometa {within} {cat}m {see}dun."
    assert found.feats[0] == "Case=Nom|Definite=Def|Number=Plur"
    assert found.feats[1] == "Case=Nom|Degree=Pos|Number=Plur"
    assert found.heads == (5, 0, 5, 2, 5, -1, 5)
    assert found.deprels == ("nsubj", "amod", "obl", "case", "obj", "root", "punct")
    # another stem would change sets that others have made
    assert dog == stem("Dog", "NOUN") == STEM_OF_DOG


def test_rows_are_parallel(parallel):
    english, toy = parallel
    for one, two in zip(english, toy, strict=True):
        assert (one.id, one.doc) == (two.id, two.doc)
        relations = sorted(
            deprel
            for lemma, upos, deprel in zip(one.lemmas, one.upos, one.deprels, strict=True)
            if (lemma, upos) not in {("the", "DET"), ("a", "DET"), ("to", "PART"), ("'s", "PART")} and upos != "PUNCT"
        )
        assert relations == sorted(deprel for deprel in two.deprels if deprel != "punct")
        names = {form for form, upos in zip(one.forms, one.upos, strict=True) if upos == "PROPN"}
        assert names <= {lemma for lemma, upos in zip(two.lemmas, two.upos, strict=True) if upos == "PROPN"}


def test_trees_are_valid_and_projective(parallel, tmp_path):
    _, toy = parallel
    written = io.StringIO()
    write_conllu(toy, written)
    (tmp_path / "toy.conllu").write_text(written.getvalue())
    back = list(read_conllu(str(tmp_path / "toy.conllu")))  # refuses loops, second roots and unsorted features
    assert [(s.text, s.forms, s.feats, s.heads, s.deprels) for s in back] == [
        (s.text, s.forms, s.feats, s.heads, s.deprels) for s in toy
    ]
    for s in toy:
        arcs = [(min(i, head), max(i, head)) for i, head in enumerate(s.heads) if head >= 0 and s.upos[i] != "PUNCT"]
        assert not any(a < c < b < d for a, b in arcs for c, d in arcs), s.text


def test_verbs_are_last_and_cases_after(parallel):
    _, toy = parallel
    for s in toy:
        for i, (head, deprel) in enumerate(zip(s.heads, s.deprels, strict=True)):
            if deprel in ("nsubj", "obj", "iobj", "obl"):
                assert i < head
            elif deprel in ("case", "aux", "mark", "amod"):
                assert i > head
        assert s.text.startswith(s.forms[0])
        assert s.upos[-1] == "PUNCT"


def test_nouns_have_the_case_of_their_relation_and_attributes_agree(parallel):
    _, toy = parallel
    seen = set()
    for s in toy:
        features = [dict(pair.split("=") for pair in f.split("|")) if f != "_" else {} for f in s.feats]
        for i, (upos, deprel, head) in enumerate(zip(s.upos, s.deprels, s.heads, strict=True)):
            if upos == "NOUN" and deprel in ("nsubj", "obj"):
                seen.add(features[i]["Case"])
                assert features[i]["Case"] == {"nsubj": "Nom", "obj": "Acc"}[deprel]
                ending = CASE_SUFFIXES[features[i]["Case"]] + "e" * (features[i].get("Definite") == "Def")
                assert s.forms[i].lower().endswith(ending)
            if deprel == "amod" and s.upos[head] == "NOUN":
                assert [features[i][key] for key in ("Case", "Number")] == [
                    features[head][key] for key in ("Case", "Number")
                ]
    assert seen == {"Nom", "Acc"}


def test_words_are_distinct_and_can_be_pronounced(parallel):
    english, _ = parallel
    lemmas = {(lemma.lower(), upos) for s in english for lemma, upos in zip(s.lemmas, s.upos, strict=True)}
    lemmas = {(lemma, upos) for lemma, upos in lemmas if upos not in ("PROPN", "PUNCT") and lemma.isalpha()}
    stems = {stem(*one) for one in lemmas}
    assert len(stems) > 0.995 * len(lemmas)
    assert all(letter in "aeiou" for one in stems for letter in one[1:4:2])


def test_the_english_part_is_what_it_was(parallel):
    assert parallel[0] == list(Corpus.synthetic(N, language="en"))
    with pytest.raises(UsageError, match="not in 'fr'"):
        Corpus.synthetic(10, language="fr")


def test_universal_tasks_can_be_made_from_it():
    tasks = select_tasks(["universal2019"], ["subj_number", "past_present"], sizes="60/20/20")
    made = list(make_sets(Corpus.synthetic(900, language="qto"), tasks))
    assert [s.manifest["corpus"]["language"] for s in made] == ["qto", "qto"]
    assert all(s.manifest["corpus"]["synthetic"] for s in made)


def test_parallel_text_is_printed():
    done = sentprobe("sentences", "--builtin", 5, "--language", "en", "--language", "qto", "--seed", 3)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [s.text for s in Corpus.synthetic(5, 3)]
    assert [row[1] for row in rows] == [s.text for s in Corpus.synthetic(5, 3, "qto")]
    assert "leave it out" in sentprobe("sentences", "--builtin", 5, "--sources").stderr
