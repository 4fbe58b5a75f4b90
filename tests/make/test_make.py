"""From a corpus to sets: the whole of it, on the built-in corpus."""

import math
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from sentprobe.corpus import Corpus, Sentence
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.data.dataset import Dataset
from sentprobe.errors import CorpusError, TooFewError, UsageError
from sentprobe.make import SkippedTask, choose_reading, length_correlation, make_sets
from sentprobe.make.request import select_tasks
from sentprobe.tasks import SPLITS, SUITES, Counts, Example, Policy, Task, load_task
from tests.writing import sentence


def test_every_task_of_a_suite_can_be_made(conneau, universal):  # those of the others: tests/corpus/test_word_lists.py
    assert set(conneau) == set(SUITES["conneau2018"])
    assert set(universal) == set(SUITES["universal2019"])
    for found in [*conneau.values(), *universal.values()]:
        assert isinstance(found, Dataset), found


def test_nothing_the_audit_calls_an_error(conneau, universal):
    for found in [*conneau.values(), *universal.values()]:
        assert [f for f in found.manifest["audit"] if f["severity"] == "error"] == []


def test_classes_are_equal_in_every_split(conneau, universal):
    for found in [*conneau.values(), *universal.values()]:
        for split in SPLITS:
            counts = Counter(row.label for row in found.rows[split])
            assert set(counts) == set(found.labels), found.name
            assert max(counts.values()) - min(counts.values()) <= 1, found.name


def test_no_sentence_in_two_rows_or_two_forms(conneau):
    for found in conneau.values():
        sources = [row.source for _, row in found]
        assert len(sources) == len(set(sources)), found.name


@pytest.mark.parametrize("task", ["past_present", "subj_number", "obj_number", "odd_man_out"])
def test_target_forms_are_disjoint(conneau, task):
    forms = [{row.key for row in conneau[task].rows[split]} for split in SPLITS]
    assert all(forms)
    assert not (forms[0] & forms[1] | forms[0] & forms[2] | forms[1] & forms[2])
    assert conneau[task].manifest["targets"]["shared"] == 0


def test_labels_are_true_of_their_rows(conneau, builtin):
    original = {s.id: s for s in builtin}
    for _, row in conneau["word_content"]:
        assert [t.lower() for t in row.tokens].count(row.label) == 1
    for _, row in conneau["bigram_shift"]:
        assert (row.tokens == original[row.source].tokens) == (row.label == "O")
    for _, row in conneau["odd_man_out"]:
        assert (row.tokens == original[row.source].tokens) == (row.label == "O")
    for _, row in conneau["coordination_inversion"]:
        same = [t.lower() for t in row.tokens] == [t.lower() for t in original[row.source].tokens]
        assert same == (row.label == "O")
        assert sorted(t.lower() for t in row.tokens) == sorted(t.lower() for t in original[row.source].tokens)


def test_depth_says_nothing_about_length(conneau, universal):
    for found in (conneau["tree_depth"], universal["tree_depth"]):
        for split in SPLITS:
            assert length_correlation(found, split) == 0
    gaussian = select_tasks([], ["tree_depth"], sizes="1200/240/240", settings=["decorrelate=gaussian"])
    (found,) = make_sets(Corpus.synthetic(6000), gaussian)
    assert abs(length_correlation(found, "tr")) < 0.1
    assert len(set(Counter(r.label for r in found.rows["tr"]).values())) > 1


def accuracy(model, data):
    """Hits and rows of a model trained on tr and tested on va and te together."""
    x = {s: [" ".join(r.tokens) for r in data.rows[s]] for s in SPLITS}
    y = {s: [r.label for r in data.rows[s]] for s in SPLITS}
    fitted = model.fit(x["tr"], y["tr"])
    hits = sum(p == t for s in ("va", "te") for p, t in zip(fitted.predict(x[s]), y[s], strict=True))
    return hits, len(y["va"]) + len(y["te"])


def near_chance(hits, n, chance):
    """Within four standard errors: a check that a sound set fails once in 16,000 times."""
    return abs(hits / n - chance) <= 4 * math.sqrt(chance * (1 - chance) / n)


def words(**more):
    return make_pipeline(TfidfVectorizer(tokenizer=str.split, token_pattern=None, **more), MultinomialNB())


@pytest.mark.parametrize("task", ["bigram_shift", "coordination_inversion"])
def test_a_bag_of_words_is_at_chance_where_only_order_changed(conneau, task):
    hits, n = accuracy(words(), conneau[task])
    assert near_chance(hits, n, 0.5), f"{hits}/{n}"


def test_bigrams_do_not_solve_odd_man_out(conneau):
    hits, n = accuracy(words(ngram_range=(1, 2)), conneau["odd_man_out"])
    assert hits / n <= 0.6


@pytest.mark.parametrize("task", ["tree_depth", "bigram_shift", "past_present", "subj_number", "obj_number"])
def test_length_alone_is_at_chance(conneau, task):
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    count = FunctionTransformer(lambda texts: [[len(t.split())] for t in texts])
    data = conneau[task]
    hits, n = accuracy(make_pipeline(count, StandardScaler(), LogisticRegression()), data)
    assert near_chance(hits, n, 1 / len(data.labels)), f"{hits}/{n}"


# Order, shards and seeds


def shuffled(corpus):
    held = list(corpus)
    Random(7).shuffle(held)
    return Corpus.of(held, name="builtin", language="en")


def awkward(n):
    """A corpus with near-duplicates, repeated ids, and one sentence annotated in two ways."""
    held = list(Corpus.synthetic(n))
    louder = [
        replace(s, id=held[i // 2].id, text=s.text.upper(), forms=tuple(map(str.upper, s.forms)))
        for i, s in enumerate(held[: n // 4])
    ]
    other = [replace(s, feats=tuple(f.replace("Sing", "Plur") for f in s.feats)) for s in held[: n // 8]]
    return Corpus.of([*held, *louder, *other], name="builtin", language="en")


def test_the_order_of_the_corpus_and_the_number_of_shards_do_not_matter():
    corpus = awkward(1200)
    jobs = select_tasks(["conneau2018", "universal2019", "adi2017"], [], sizes="60/12/12")
    first = {d.name: d for d in make_sets(corpus, jobs) if isinstance(d, Dataset)}
    made = Counter(name.partition("/")[0] for name in first)
    assert len(made) == 3
    assert min(made.values()) >= 3
    for again in (make_sets(shuffled(corpus), jobs), make_sets(corpus, jobs, shards=3)):
        found = {d.name: d for d in again if isinstance(d, Dataset)}
        assert {name: d.digest for name, d in found.items()} == {name: d.digest for name, d in first.items()}
        for name, d in found.items():
            assert d.manifest == first[name].manifest


def test_worker_processes_give_the_same_sets():
    jobs = select_tasks([], ["sentence_length", "odd_man_out"], sizes="100/20/20")
    one = [d.digest for d in make_sets(Corpus.synthetic(1500), jobs)]
    assert [d.digest for d in make_sets(Corpus.synthetic(1500), jobs, jobs=2)] == one


@pytest.mark.parametrize("exclusive", [False, True])
def test_workers_finish_the_same_sets(exclusive):
    requests = select_tasks([], ["sentence_length", "word_content", "bigram_shift"], sizes="100/20/20")
    one, two = (
        list(make_sets(Corpus.synthetic(1500), requests, jobs=jobs, exclusive=exclusive, audit=True)) for jobs in (1, 2)
    )
    assert {type(found).__name__ for found in one} == {"Dataset", "SkippedTask"}  # too few for word_content
    assert one == two  # with their rows, manifests and audits, and the reason why there is none


def test_another_seed_gives_other_rows(small):
    jobs = select_tasks([], ["bigram_shift"], sizes="200/40/40")
    (one,) = make_sets(small, jobs)
    (two,) = make_sets(small, jobs, seed=2)
    assert one.digest != two.digest
    assert len({r.source for _, r in one} & {r.source for _, r in two}) < len(one) / 2


def test_the_pool_does_not_grow_with_the_corpus():
    from sentprobe.make import propose
    from sentprobe.make.candidates import Pool
    from sentprobe.make.job import Job

    task = load_task("bigram_shift")
    policy = replace(task.policies["conneau2018"], sizes=(60, 10, 10))
    job = Job(task, policy, "conneau2018", "text", None, 1)
    sizes = []
    for n in (1500, 6000):
        pool = Pool(40)
        propose(Corpus.synthetic(n), [job], [pool])
        assert sum(pool.proposed.values()) > n / 3
        sizes.append(sum(map(len, pool.cells.values())))
    assert sizes[1] <= 1.3 * sizes[0]


# What is excluded, shared and refused


def test_near_duplicates_are_used_once():
    one = list(Corpus.synthetic(1500))
    copies = [replace(s, id=f"{s.id}-copy", text=s.text.upper()) for s in one]
    (found,) = make_sets(Corpus.of(one + copies), select_tasks([], ["sentence_length"], sizes="300/60/60"))
    keys = [near_duplicate_key(row.text) for _, row in found]
    assert len(keys) == len(set(keys))


def test_excluded_sentences_are_withheld(small):
    jobs = select_tasks([], ["bigram_shift"], sizes="200/40/40")
    (one,) = make_sets(small, jobs)
    original = {s.id: s.text for s in small}
    excluded = [original[row.source] for _, row in one]
    (two,) = make_sets(small, jobs, exclude=excluded)
    assert not {r.source for _, r in one} & {r.source for _, r in two}
    assert two.manifest["stages"]["rejected"]["excluded by --exclude"] == len(excluded)


def test_exclusive_tasks_share_no_sentence(small):
    jobs = select_tasks(["xprobe2019"], [], sizes="100/20/20")
    for exclusive in (False, True):
        found = [d for d in make_sets(small, jobs, exclusive=exclusive) if isinstance(d, Dataset)]
        assert len(found) == len(jobs) - 1  # three thousand sentences are too few for tree_depth
        most = max(Counter(r.source for d in found for _, r in d).values())
        assert (most == 1) == exclusive


def bare(n, columns=()):
    """Sentences of the built-in corpus with these columns only."""
    return Corpus.of(
        [Sentence(s.id, s.text, s.forms, **{c: getattr(s, c) for c in columns}) for s in Corpus.synthetic(n)]
    )


def test_missing_columns_are_named_and_the_rest_is_made():
    found = list(make_sets(bare(4000), select_tasks(["universal2019"], [], sizes="240/60/60")))
    made = {d.task for d in found if isinstance(d, Dataset)}
    assert made == {"sentence_length", "word_content"}
    reasons = {u.task: u.reason for u in found if isinstance(u, SkippedTask)}
    assert reasons["tree_depth"] == "the corpus lacks dependency heads (dependency reading)"
    assert reasons["passive"] == "the corpus lacks UD features and dependency heads and UD parts of speech (ud reading)"
    assert {u.kind for u in found if isinstance(u, SkippedTask)} == {"columns"}


def test_the_reading_follows_the_columns():
    task = load_task("past_present")
    policy = task.policies["conneau2018"]
    everything = dict.fromkeys(("upos", "heads", "feats", "penn", "tree"), 100)
    for lacking, reading in ((), "constituency"), (("tree",), "penn"), (("tree", "penn"), "ud"):
        counts = Counts(sentences=100, columns=Counter({k: v for k, v in everything.items() if k not in lacking}))
        assert choose_reading(task, policy, counts) == reading


def test_brackets_alone_make_the_parse_based_tasks():
    corpus = bare(4000, ("xpos", "tree"))
    found = {d.task: d for d in make_sets(corpus, select_tasks(["conneau2018"], [], sizes="200/40/40"))}
    for task in ("tree_depth", "top_constituents", "past_present", "subj_number", "coordination_inversion"):
        assert isinstance(found[task], Dataset), found[task]
        assert found[task].manifest["reading"]["name"] == "constituency"


def test_a_corpus_too_small_says_so():
    found = list(make_sets(Corpus.synthetic(30), select_tasks(["universal2019"], [])))
    assert all(isinstance(u, SkippedTask) and u.kind == "too few" for u in found)
    assert all("Give a larger corpus" in u.reason for u in found)
    with pytest.raises(TooFewError, match="no sentences"):
        list(make_sets(Corpus.of([]), select_tasks(["universal2019"], [])))
    with pytest.raises(UsageError, match="nothing to make"):
        list(make_sets(Corpus.synthetic(30), []))


def test_a_shortfall_is_stated(builtin):
    (found,) = make_sets(builtin, select_tasks([], ["coordination_inversion"]))
    sizes = found.manifest["sizes"]
    assert sizes["requested"] == {"tr": 100_000, "va": 10_000, "te": 10_000}
    assert sizes["made"] == {s: len(found.rows[s]) for s in SPLITS}
    assert sum(sizes["made"].values()) < 12_000


def test_bad_sentences_stop_the_run_or_are_listed(tmp_path):
    from sentprobe.corpus.conllu import write_conllu

    path = tmp_path / "some.conllu"
    with path.open("w") as out:
        write_conllu(Corpus.synthetic(800), out)
        out.write("1\tbroken\n\n")
    corpus = Corpus.read(str(path))
    jobs = select_tasks([], ["sentence_length"], sizes="60/12/12")
    with pytest.raises(CorpusError, match=r"some\.conllu:\d+: got 2 columns"):
        list(make_sets(corpus, jobs))
    for shards in (1, 2):
        (found,) = make_sets(corpus, jobs, skip_bad=True, shards=shards)
        skipped = found.manifest["corpus"]["skipped"]
        assert skipped["sentences"] == 1
        assert "some.conllu" in skipped["listed"][0]


def test_the_manifest_is_complete(conneau):
    manifest = conneau["past_present"].manifest
    assert manifest["corpus"]["sentences"] == 12_000
    assert len(manifest["corpus"]["digest"]) == 16
    assert manifest["policy"]["disjoint"] is True
    stages = manifest["stages"]
    assert sum(stages["proposed"].values()) + sum(stages["rejected"].values()) == 12_000
    assert sum(sum(h.values()) for h in manifest["lengths"].values()) == len(conneau["past_present"])
    assert manifest["majority"] == {"tr": 0.5, "va": 0.5, "te": 0.5}
    assert set(manifest["versions"]) == {"sentprobe", "python"}


def test_length_correlation_of_three_kinds_of_labels():
    def rows(*pairs):
        return [Example(label, ("w",) * n, f"{label}{n}") for label, n in pairs]

    def data(labels, *pairs):
        return Dataset("n", "t", 1, None, labels, {"te": rows(*pairs)})

    assert length_correlation(data(("05", "06"), ("05", 1), ("06", 2), ("05", 1), ("06", 2)), "te") == 1.0
    assert length_correlation(data(("A", "B"), ("A", 1), ("B", 1), ("A", 2), ("B", 2)), "te") == 0.0
    # three groups with means 1, 2 and 3 and no spread inside them: all of the variance lies between them
    pairs = [("a", 1), ("b", 2), ("c", 3)] * 2
    assert length_correlation(data(("a", "b", "c"), *pairs), "te") == 1.0
    # lengths 1 and 3 in every group: nothing lies between them
    pairs = [(c, n) for c in "abc" for n in (1, 3)]
    assert length_correlation(data(("a", "b", "c"), *pairs), "te") == 0.0
    assert length_correlation(data(("A", "B"), ("A", 4), ("B", 4)), "te") == 0.0


def test_a_task_that_fails_is_not_hidden(small):
    def broken(s, context):
        raise ZeroDivisionError

    task = Task(name="broken", version=1, question="?", paper="", propose=broken, labels=("A", "B"))
    (found,) = make_sets(small, [("mine", task, Policy())])
    assert (found.name, found.kind) == ("mine/broken", "failed")
    assert "ZeroDivisionError" in found.reason


def test_sentences_without_a_column_are_left_out_one_by_one(small):
    some = [replace(s, heads=None, deprels=None) if i % 3 == 0 else s for i, s in enumerate(small)]
    found = list(make_sets(Corpus.of(some), select_tasks(["universal2019", "xprobe2019"], [], sizes="100/20/20")))
    for d in found:
        assert isinstance(d, Dataset) or d.task == "tree_depth", d
    (passive,) = [d for d in found if d.task == "passive"]
    assert passive.manifest["stages"]["rejected"]["the sentence lacks a column"] > 900


def test_a_changed_sentence_is_no_other_row_s_sentence():
    # every sentence is there with each pair of neighbouring words exchanged as well
    some = []
    for s in Corpus.synthetic(400):
        some.append(s)
        for i in range(1, len(s) - 1):
            forms = (*s.forms[:i], s.forms[i + 1], s.forms[i], *s.forms[i + 2 :])
            some.append(Sentence(f"{s.id}-{i}", " ".join(forms), forms, upos=s.upos))
    (found,) = make_sets(Corpus.of(some), select_tasks([], ["bigram_shift"], sizes="200/40/40"))
    assert isinstance(found, Dataset), found
    keys = [near_duplicate_key(row.text) for _, row in found]
    assert len(keys) == len(set(keys))


def test_an_unsound_set_is_not_made(small):
    def torn(s, context):
        return Example("AB"[context.draw(2)], ("same",), "the same text", s.id)

    task = Task(name="torn", version=1, question="?", paper="", propose=torn, labels=("A", "B"))
    (found,) = make_sets(small, [("mine", task, Policy(sizes=(100, 20, 20)))])
    assert isinstance(found, SkippedTask)
    assert found.kind == "unsound"
    assert "two labels" in found.reason


def test_exclusive_tasks_of_one_pool_find_enough(small):
    found = list(make_sets(small, select_tasks(["adi2017"], [], sizes="200/40/40"), exclusive=True))
    for d in found:
        assert isinstance(d, Dataset), d
        assert d.manifest["sizes"]["drawn"] == {"tr": 200, "va": 40, "te": 40}


def test_natural_classes_are_as_frequent_as_in_the_corpus(builtin):
    (found,) = make_sets(builtin, select_tasks(["adi2017"], ["sentence_length"], sizes="600/120/120"))
    proposed = found.manifest["stages"]["proposed"]
    counts = Counter(row.label for _, row in found)
    for label in found.labels:
        expected = proposed[label] / sum(proposed.values())
        # five standard errors of a share of 840 rows
        assert abs(counts[label] / 840 - expected) < 5 * math.sqrt(expected * (1 - expected) / 840)


def test_a_narrow_window_of_lengths_is_filled(builtin):
    (found,) = make_sets(builtin, select_tasks([], ["bigram_shift"], sizes="1000/100/100", length="9-12"))
    assert len(found) == 1200


def test_original_and_changed_rows_are_rendered_alike():
    # a text that its tokens do not spell: if only changed rows were rendered anew, it would tell them apart
    odd = [replace(s, text=s.text.replace(" ", "  ")) for s in Corpus.synthetic(1500)]
    for task in ("bigram_shift", "odd_man_out", "coordination_inversion"):
        (found,) = make_sets(Corpus.of(odd), select_tasks([], [task], sizes="100/20/20"))
        assert isinstance(found, Dataset), found
        assert not any("  " in row.text for _, row in found)


def test_many_small_classes_do_not_seem_to_tell_the_length(conneau):
    # two test rows a class: the plain correlation ratio of random lengths would be about 0.7
    assert conneau["word_content"].manifest["label_length_correlation"]["te"] < 0.45


TURKISH = """
{} NOUN X Number={} 4 nsubj
{} ADJ X _ 3 amod
evden NOUN X Case=Abl 4 obl
geldi VERB X VerbForm=Fin|Tense=Past 0 root
. PUNCT X _ 4 punct
"""


def _turkish(first):
    """Every noun once at the start of a sentence, where it has a capital, and once behind another word."""
    nouns = [f"i{a}{b}a" for a in "bdfgklmnprstvyz" for b in "bdfgklmnprst"]
    colours = [f"r{a}{b}nk" for a in "aeo" for b in "aeou"]
    for i, noun in enumerate(nouns):
        number = ("Sing", "Plur")[i % 2]
        start = sentence(TURKISH.format(first + noun[1:], number, colours[i % 12]), id=f"a{i}")
        cells = TURKISH.format(noun, number, colours[i % 12 - 5]).strip().splitlines()
        order = [cells[1], cells[0], *cells[2:]]  # heads are the same, but for the adjective's
        yield start
        yield sentence("\n".join(order), id=f"b{i}")


@pytest.mark.parametrize(("first", "language"), [("İ", "tr"), ("İ", None), ("I", "en")])
def test_a_form_with_a_capital_is_the_same_form(first, language):
    corpus = Corpus.of(_turkish(first), language=language)
    requests = select_tasks("xprobe2019", "subj_number", sizes="120/60/60", settings=["strata=[]"])
    (found,) = make_sets(corpus, requests)
    forms = [{row.tokens[row.marks[0]] for row in found.rows[split]} for split in SPLITS]
    assert any(form[0] == first for form in set().union(*forms))
    small = [{"i" + form[1:] for form in own} for own in forms]
    assert not (small[0] & small[1] | small[0] & small[2] | small[1] & small[2])
    assert sum(len(f) for f in small) < sum(len(f) for f in forms)  # some were there in both spellings


def test_forms_that_a_task_does_not_fold_are_kept_apart_all_the_same():
    def propose(s, context):
        return Example.of(s, "A" if s.id[0] == "a" else "B", key=s.forms[0 if s.id[0] == "a" else 1])

    task = Task(
        name="mine", version=1, question="?", paper="", propose=propose, labels=("A", "B"),
        policies={"own": Policy(sizes=(120, 60, 60), strata=(), disjoint=True)},
    )  # fmt: skip
    (found,) = make_sets(Corpus.of(_turkish("İ"), language="tr"), task)
    keys = [{row.key.replace("İ", "i") for row in found.rows[split]} for split in SPLITS]
    assert any("İ" in row.key for _, row in found)
    assert not (keys[0] & keys[1] | keys[0] & keys[2] | keys[1] & keys[2])
    assert found.manifest["targets"]["shared"] == 0
