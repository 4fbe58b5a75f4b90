import sys

import pytest

from sentprobe import Sentence
from sentprobe.annotate.annotator import load_annotator
from sentprobe.annotate.repair import repair
from sentprobe.annotate.run import measure
from sentprobe.corpus.conllu import write_conllu
from sentprobe.errors import NotInstalled, UsageError


@pytest.fixture(scope="module")
def loaded():
    pytest.importorskip("natasha")
    return load_annotator("natasha:")


def test_russian(loaded):
    (one, two), none, (three,) = loaded.annotate(["Кошка спит на диване. Собаки лают.", "", "Да"], False)
    assert [one.text, two.text, none, three.text] == ["Кошка спит на диване.", "Собаки лают.", [], "Да"]
    assert one.forms == ("Кошка", "спит", "на", "диване", ".")
    assert one.upos == ("NOUN", "VERB", "ADP", "NOUN", "PUNCT")
    assert one.feats[0] == "Animacy=Anim|Case=Nom|Gender=Fem|Number=Sing"
    assert one.heads == (1, -1, 3, 1, 1)
    assert one.deprels == ("nsubj", "root", "case", "obl", "punct")
    assert one.space_after == (True, True, True, False, True)
    assert one.lemmas is None


def test_a_sentence_that_is_split_is_not_split_further(loaded):
    ((one,),) = loaded.annotate(["Кошка спит. Собаки лают."], True)
    assert len(one) == 6


def test_what_comes_of_it_does_not_depend_on_the_batch(loaded):
    texts = [f"{'Очень ' * n}старый учитель спал." for n in range(12)]
    together = list(loaded.annotate(texts, False))
    assert together == [next(iter(loaded.annotate([text], False))) for text in texts]


def test_its_card(loaded):
    assert (loaded.model.language, loaded.model.licence, loaded.model.universal) == ("ru", "MIT", True)
    assert "need not be trees" in loaded.model.notes[0]


def test_heads_that_are_no_tree_are_passed_on(loaded):
    """A list of names, which the parser makes neither head nor tail of."""
    ((one,),) = loaded.annotate(["Иванов Петров Сидоров Москва Казань Тула"], True)
    assert repair(one).faults
    assert repair(one).sentence.heads.count(-1) == 1


def test_what_is_missing(loaded, monkeypatch):
    with pytest.raises(UsageError, match="there is one model, for Russian"):
        load_annotator("natasha:fr")
    monkeypatch.setitem(sys.modules, "natasha", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[natasha\]"):
        load_annotator("natasha:")


def test_scores_from_raw_text_and_from_gold_sentences(loaded, tmp_path):
    text, forms = "Собаки лают . Кошка спит", ("Собаки", "лают", ".", "Кошка", "спит")
    one = Sentence("1", text, forms, upos=("NOUN", "VERB", "PUNCT", "NOUN", "VERB"), heads=(1, -1, 1, 4, 1),
                   deprels=("nsubj", "root", "punct", "nsubj", "parataxis"))  # fmt: skip
    gold = tmp_path / "gold.conllu"
    with gold.open("w", encoding="utf-8") as out:
        write_conllu([one], out)
    raw, given = (measure("natasha:", str(gold), lines=lines)[0] for lines in (None, "sentences"))
    assert (raw.is_split, given.is_split) == (False, True)
    assert raw.evaluation.scores["Sentences"].f1 == 0
    assert given.evaluation.scores["Sentences"].f1 == 1
    assert "gold sentences" in str(given)
