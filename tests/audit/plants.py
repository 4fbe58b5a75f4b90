"""A sound set, and the faults that are planted in it, each with the code that must come out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from sentprobe.data.dataset import Dataset
from sentprobe.tasks import Example

DETERMINERS = "the a this that every some one another our their".split()
ADJECTIVES = (
    "small green quiet heavy early bright narrow gentle broken distant hollow patient clever silver wooden "
    "curious eager famous frozen golden honest lively modest nervous polite rapid rough secret sharp steady"
).split()
NOUNS = (
    "garden teacher river window market painter bridge letter doctor island forest singer kitchen ladder "
    "lantern mirror nurse pilot pocket ribbon saddle tailor tunnel valley village wagon weaver willow wizard harbour"
).split()
VERBS = (
    "follows watches paints carries forgets hears leaves finds reaches counts crosses drops folds guards hides "
    "holds joins keeps lifts marks misses needs opens passes pulls reads rings saves seeks shows"
).split()
ADVERBS = "slowly often again gladly never today here twice away early".split()


def sentence(rng, n=None):
    """Five to twelve words and a full stop, all words drawn at random."""

    def phrase():
        return [rng.choice(DETERMINERS), rng.choice(ADJECTIVES), rng.choice(NOUNS)]

    words = [*phrase(), rng.choice(VERBS), *phrase()]
    more = n - len(words) - 1 if n else rng.randrange(5)
    for adverb in rng.sample(ADVERBS, max(0, more)):
        words.insert(rng.randrange(4, len(words) + 1), adverb)
    words = words[: (n or len(words) + 1) - 1]
    words[0] = words[0].capitalize()
    return (*words, ".")


def example(label, tokens, **more):
    return Example(label, tuple(tokens), " ".join(tokens), **more)


@cache
def sentences(n, seed=0, length=None):
    """Different sentences, up to case."""
    rng, seen = Random(seed), {}
    while len(seen) < n:
        tokens = sentence(rng, length)
        seen.setdefault(" ".join(tokens).lower(), tokens)
    return tuple(seen.values())


SIZES = {"tr": 600, "va": 400, "te": 800}


def sound(labels=("A", "B"), sizes=SIZES, task="unheard-of", seed=0, **more):
    """A set with nothing wrong: equal classes, different sentences, labels that nothing tells."""
    pool = iter(sentences(sum(sizes.values()), seed))
    rows = {s: [example(labels[i % len(labels)], next(pool)) for i in range(n)] for s, n in sizes.items()}
    return Dataset("a/set", task, 1, None, tuple(sorted(labels)), rows, more)


def changed(dataset, split, rows):
    labels = {row.label for s in dataset.rows for row in (rows if s == split else dataset.rows[s])}
    return replace(dataset, rows={**dataset.rows, split: rows}, labels=tuple(sorted(labels)))


def added(dataset, split, rows):
    return changed(dataset, split, [*dataset.rows[split], *rows])


def mixed(dataset):
    """The same rows in another order, so that it says nothing about classes."""
    return replace(dataset, rows={s: Random(1).sample(list(rows), len(rows)) for s, rows in dataset.rows.items()})


def other(label):
    return {"A": "B", "B": "A", "PAST": "PRES", "PRES": "PAST"}[label]


# Each plant takes k and gives back a set with the fault k times


def same_split(k):
    clean = sound()
    return changed(clean, "va", clean.rows["te"][:k])


def copies_across(k):
    clean = sound()
    return added(clean, "te", clean.rows["tr"][:k])


def near_copies_across(k):
    clean = sound()
    return added(clean, "te", [example(r.label, (*r.tokens[:-1], "!")) for r in clean.rows["tr"][:k]])


def copies_in(k):
    clean = sound()
    return added(clean, "va", clean.rows["va"][:k])


def near_copies_in(k):
    clean = sound()
    return added(clean, "va", [example(r.label, (*r.tokens[:-1], "!")) for r in clean.rows["va"][:k]])


def exchanged(k):
    clean = sound()
    rows = [
        example(other(r.label), (r.tokens[0], r.tokens[2], r.tokens[1], *r.tokens[3:])) for r in clean.rows["tr"][:k]
    ]
    return added(clean, "te", rows)


def one_word_replaced(k):
    clean = sound(task="odd_man_out", labels=("C", "O"))
    rows = [
        example("C" if r.label == "O" else "O", (*r.tokens[:3], "swallows", *r.tokens[4:]))
        for r in clean.rows["te"][:k]
    ]
    return added(clean, "te", rows)


def absent_split():
    return changed(sound(), "va", [])


def one_class(k):
    clean = sound()
    return changed(clean, "te", [r._replace(label="A") for r in clean.rows["te"]][:k])


def missing_class(k):
    clean = sound(labels="ABCDEFGH")
    return changed(clean, "te", [r for r in clean.rows["te"] if r.label > "ABCDEFGH"[k - 1]])


def two_labels(k):
    clean = sound()
    return added(clean, "te", [r._replace(label=other(r.label)) for r in clean.rows["te"][:k]])


def of_length(k):
    rows = {s: [example("AB"[len(t) > 9], t) for t in sentences(n, seed)] for seed, (s, n) in enumerate(SIZES.items())}
    for s, found in rows.items():
        least = min(sum(r.label == label for r in found) for label in "AB")
        rows[s] = [r for label in "AB" for r in [r for r in found if r.label == label][:least]]
    clean = mixed(Dataset("a/set", "sentence_length", 1, None, ("A", "B"), rows))
    te = clean.rows["te"]
    return changed(clean, "te", [r._replace(label=other(r.label)) if i < k else r for i, r in enumerate(te)])


TARGETS = ("castle", "ticket")


def of_words(k, wrong=0):
    pool = iter(sentences(sum(SIZES.values())))
    rows = {
        s: [example(TARGETS[i % 2], (*next(pool)[:-1], TARGETS[i % 2], ".")) for i in range(n)]
        for s, n in SIZES.items()
    }
    clean = Dataset("a/set", "word_content", 1, None, TARGETS, rows)
    te = list(clean.rows["te"])
    for i in range(k):
        te[i] = example(te[i].label, (*te[i].tokens[:-2], *TARGETS, "."))
    for i in range(wrong):
        te[i] = example(te[i].label, (*te[i].tokens[:-2], "wheel", "."))
    return changed(clean, "te", te)


def no_such_word(k):
    return of_words(0, wrong=k)


def undeclared(k):
    clean = sound(labels=("PAST", "PRES"), task="past_present")
    return mixed(
        changed(clean, "tr", [r._replace(label="FUT") if i < k else r for i, r in enumerate(clean.rows["tr"])])
    )


def mistyped(k):
    return relabelled("al pha", k)


def lookalike(k):
    return relabelled("ALPHA\u200b ", k)


def relabelled(label, k):
    clean = sound(labels=("alpha", "omega"))
    rows = clean.rows["tr"]
    hit = [r._replace(label=label) if i < 2 * k and i % 2 == 0 else r for i, r in enumerate(rows)]
    return changed(clean, "tr", hit)


def rare(k):
    clean = sound()
    extra = iter(sentences(4 * k, seed=9))
    return added(clean, "tr", [example(f"R{i}", next(extra)) for i in range(k) for _ in range(2)])


def shared_targets(k):
    clean = sound(labels=("PAST", "PRES"), task="past_present")
    keyed = {s: [r._replace(key=f"{s}{i}") for i, r in enumerate(rows)] for s, rows in clean.rows.items()}
    keyed["te"] = [r._replace(key=f"tr{i}") if i < k else r for i, r in enumerate(keyed["te"])]
    return replace(clean, rows=keyed)


def targets_in_capitals(k):
    """The same forms in another case: of *i*, the capital of Turkish."""
    made = shared_targets(k)
    test = [r._replace(key=r.key.replace("tr", "TRİ")) if "tr" in r.key else r for r in made.rows["te"]]
    train = [r._replace(key=r.key.replace("tr", "tri")) for r in made.rows["tr"]]
    return replace(made, rows={**made.rows, "tr": train, "te": test})


def likely_shared_targets(k):
    clean = sound(labels=("PAST", "PRES"), task="past_present")
    verbs = [f"{a}{b}ed" for a in ("bl", "cr", "dr", "fl", "gr") for b in ("amm", "ipp", "ott", "urr")]
    pool = iter(sentences(2 * 12 * k, seed=7))
    for split in ("tr", "te"):
        rows = [example("PAST", ((t := next(pool))[0], verb, *t[2:])) for verb in verbs[:k] for _ in range(12)]
        balance = [r for r in clean.rows[split] if r.label == "PAST"][: len(rows)]
        clean = changed(clean, split, [*(r for r in clean.rows[split] if r not in balance), *rows])
    # with more dev rows, which lack these verbs, dev and test would disagree
    return mixed(changed(clean, "va", clean.rows["va"][:60]))


def imbalance():
    clean = sound()
    kept = {
        s: [r for r in rows if r.label == "A"] + [r for r in rows if r.label == "B"][: len(rows) // 4]
        for s, rows in clean.rows.items()
    }
    return mixed(replace(clean, rows=kept))


def drift():
    # class shares 4.7 % apart (p < 0.001 with so many rows), and no class 1.1 times as large as the other
    clean = sound(sizes={"tr": 3400, "va": 400, "te": 3400})
    kept = {"tr": (1548, 1700), "va": (200, 200), "te": (1700, 1548)}
    rows = {
        s: [r for label, n in zip("AB", kept[s], strict=True) for r in [r for r in rows if r.label == label][:n]]
        for s, rows in clean.rows.items()
    }
    return mixed(replace(clean, rows=rows))


def told_by_length():
    rows, pool = {}, {n: iter(sentences(1500, seed=n, length=n)) for n in (8, 12)}
    for s, n in SIZES.items():
        rows[s] = [example("AB"[i % 2], next(pool[12 if i % 2 and i % 3 else 8])) for i in range(n)]
    return Dataset("a/set", "unheard-of", 1, None, ("A", "B"), rows)


def told_by_length_in_bins():
    """In one bin A is longer, in the next B, so that lengths are the same on the whole."""
    rows, pool = {}, {n: iter(sentences(900, seed=n, length=n)) for n in (9, 12, 13, 16)}
    order = {"A": (12, 13), "B": (9, 16)}
    for s, n in SIZES.items():
        rows[s] = [example("AB"[i % 2], next(pool[order["AB"[i % 2]][i // 2 % 2]])) for i in range(n)]
    return Dataset("a/set", "unheard-of", 1, None, ("A", "B"), rows)


def edited(edit, share=2, **more):
    """Every second row of class A goes through ``edit``, unless told otherwise."""
    clean = sound(**more)
    first = clean.labels[0]
    return replace(
        clean,
        rows={
            s: [
                example(r.label, edit(list(r.tokens))) if r.label == first and i // 2 % share == 0 else r
                for i, r in enumerate(rows)
            ]
            for s, rows in clean.rows.items()
        },
    )


def told_by_first_word():
    return edited(lambda t: ["Perhaps", *t])


def told_by_punctuation():
    return edited(lambda t: [*t[:-1], "?"])


def told_by_position():
    clean = sound(labels=("C", "O"), task="odd_man_out")
    rows = {
        s: [r._replace(marks=(2 if r.label == "C" or i // 2 % 3 else 5,)) for i, r in enumerate(found)]
        for s, found in clean.rows.items()
    }
    return replace(clean, rows=rows)


def told_by_a_word():
    return edited(lambda t: [*t[:4], "perhaps", *t[5:]])


def told_by_a_pair():
    """Two words that both classes have, next to each other in one."""
    clean = sound()
    rows = {
        s: [
            example(
                r.label,
                [*r.tokens[:4], *(("red", "hot") if r.label == "A" else ("hot", "red")), *r.tokens[5:]],
            )
            for r in found
        ]
        for s, found in clean.rows.items()
    }
    return replace(clean, rows=rows)


def told_by_letters():
    """A made-up ending on words that are all different, so that no word tells anything."""
    rng = Random(5)

    def ended(tokens):
        stem = "".join(rng.choice("bcdfgklmnprst") + rng.choice("aeiou") for _ in range(4))
        return [*tokens[:4], stem + "zz", *tokens[5:]]

    def plain(tokens):
        return [*tokens[:4], "".join(rng.choice("bcdfgklmnprst") + rng.choice("aeiou") for _ in range(5)), *tokens[5:]]

    clean = sound()
    rows = {
        s: [example(r.label, (ended if r.label == "A" else plain)(list(r.tokens))) for r in found]
        for s, found in clean.rows.items()
    }
    return replace(clean, rows=rows)


def told_by_capitals():
    return edited(lambda t: [*t[:2], t[2].capitalize(), *t[3:]])


def told_by_input():
    clean = sound(inputs=["word"])
    rng = Random(3)
    rows = {
        s: [
            r._replace(extra=(("word", "yes" if r.label == "A" and rng.random() < 0.5 else rng.choice(NOUNS)),))
            for r in found
        ]
        for s, found in clean.rows.items()
    }
    return replace(clean, rows=rows)


def altered(edit, same=True):
    """A plant of test rows that are training rows after an edit."""

    def make(k):
        clean = sound()
        rows = [r for r in clean.rows["tr"] if len(r.tokens) > 9][:k]
        assert len(rows) == k
        return added(clean, "te", [example(r.label if same else other(r.label), edit(list(r.tokens))) for r in rows])

    return make


def dummy_word():
    """A word in every row of one class, of a task that may be solved by words."""
    return edited(lambda t: [*t[:4], "zorp", *t[5:]], share=1, labels=("NN", "NNS"), task="subj_number")


def foreign_letter():
    """A Cyrillic letter in every row of one class."""
    return edited(lambda t: [*t[:-1], "\u0430", "."], share=1, labels=("NN", "NNS"), task="subj_number")


def odd_lengths():
    rows, pool = {}, {n: iter(sentences(600, seed=n, length=n)) for n in (8, 9, 10, 11)}
    for s, n in SIZES.items():
        rows[s] = [example("AB"[i % 2], next(pool[8 + i % 2 + 2 * (i // 2 % 2)])) for i in range(n)]
    return Dataset("a/set", "unheard-of", 1, None, ("A", "B"), rows)


def sorted_rows():
    clean = sound()
    return replace(clean, rows={s: sorted(rows, key=lambda r: r.label) for s, rows in clean.rows.items()})


def sorted_ids():
    clean = sound()
    ids = {"A": iter(range(10_000)), "B": iter(range(10_000, 20_000))}
    rows = {s: [r._replace(source=f"doc-{next(ids[r.label])}") for r in found] for s, found in clean.rows.items()}
    return replace(clean, rows=rows)


def homoglyph(k):
    clean = sound()
    hit = [
        example(r.label, [t.replace("e", "\u0435") for t in r.tokens[:4]] + list(r.tokens[4:]))
        for r in clean.rows["te"]
    ]
    hit = [r for r in hit if not r.text.isascii()][:k]
    rest = [r for r in clean.rows["te"] if r.text not in {h.text.replace("\u0435", "e") for h in hit}]
    return mixed(changed(clean, "te", [*rest, *hit]))


def quoted(k):
    clean = sound()
    te = list(clean.rows["te"])
    for i in range(k):
        words = te[i].text.split()
        te[i] = example(te[i].label, ['"' + words[0], '""' + words[1] + '""', *words[2:-1], '."'])
    return changed(clean, "te", te)


def permuted_test():
    """Words that tell the label in train and dev, and labels of test in another order."""
    clean = sound()
    rng = Random(4)
    words = {"A": ("apple", "almond", "apricot"), "B": ("bread", "butter", "basil")}
    rows = {
        s: [example(r.label, [*r.tokens[:4], rng.choice(words[r.label]), *r.tokens[5:]]) for r in found]
        for s, found in clean.rows.items()
    }
    labels = [r.label for r in rows["te"]]
    rng.shuffle(labels)
    rows["te"] = [r._replace(label=label) for r, label in zip(rows["te"], labels, strict=True)]
    return replace(clean, rows=rows)


def noisy_labels():
    """Words that tell the label, and one label in twenty that is wrong."""
    clean = sound()
    rng = Random(4)
    words = {"A": ("apple", "almond", "apricot"), "B": ("bread", "butter", "basil")}
    rows = {
        s: [
            example(other(r.label) if i // 2 % 20 == 0 else r.label, [*rng.sample(words[r.label], 2), *r.tokens])
            for i, r in enumerate(found)
        ]
        for s, found in clean.rows.items()
    }
    return replace(clean, rows=rows)


def small_test(k):
    clean = sound()
    return changed(clean, "te", clean.rows["te"][:k])


def few_per_class(k):
    labels = [f"L{i:02}" for i in range(25)]
    clean = sound(labels=labels, sizes={"tr": 500, "va": 500, "te": 500})  # 20 rows per class in te
    twenty = {r.label: r for r in clean.rows["te"] if r.label < labels[k]}
    return changed(clean, "te", [r for r in clean.rows["te"] if r not in twenty.values()])


@dataclass(frozen=True)
class Plant:
    """A fault, the code it must bring about, and the sizes it can have."""

    code: str
    make: Callable[[int], Dataset]
    low: int = 1
    high: int = 30


COUNTED = (
    Plant("same-split", same_split, 400, 800),
    Plant("copies-across-splits", copies_across),
    Plant("near-copies-across-splits", near_copies_across),
    Plant("copies-in-split", copies_in),
    Plant("near-copies-in-split", near_copies_in),
    Plant("both-forms", exchanged),
    Plant("altered-copies", altered(lambda t: [*t[:4], "swallows", *t[5:]])),
    Plant("altered-copies", altered(lambda t: [*t[:4], *t[5:]])),
    Plant("altered-copies", altered(lambda t: [*t[:4], "gently", *t[4:]])),
    Plant("altered-copies", altered(lambda t: [*t[-2::-1], "."])),
    Plant("altered-copies", altered(lambda t: [*t[:-3], "."])),
    Plant("mixed-scripts", homoglyph),
    Plant("csv-quoting", quoted),
    Plant("both-forms", one_word_replaced),
    Plant("one-class", one_class, 400, 800),
    Plant("missing-class", missing_class, 1, 3),
    Plant("two-labels", two_labels),
    Plant("wrong-label", of_length),
    Plant("wrong-label", no_such_word),
    Plant("ambiguous-label", of_words),
    Plant("undeclared-label", undeclared),
    Plant("mistyped-label", mistyped, 1, 10),
    Plant("lookalike-labels", lookalike, 1, 10),
    Plant("rare-label", rare, 1, 5),
    Plant("shared-targets", shared_targets),
    Plant("shared-targets", targets_in_capitals),
    Plant("likely-shared-targets", likely_shared_targets, 17, 20),
    Plant("small-test", small_test, 200, 399),
    Plant("few-per-class", few_per_class, 1, 5),
)
"""Faults that are counted: k of them are found as k, and nothing else is."""

UNCOUNTED = {
    "absent-split": absent_split,
    "imbalance": imbalance,
    "drift": drift,
    "ordered-rows": sorted_rows,
}
"""Faults of the set as a whole, of which nothing else is a consequence."""

LEAKS = {
    "giveaway": (dummy_word, foreign_letter, odd_lengths),
    "ordered-rows": (sorted_ids,),
    "splits-disagree": (permuted_test,),
    "doubtful-labels": (noisy_labels,),
}
"""Faults that may have other consequences as well."""

TOLD = {
    "length-correlation": (told_by_length, None),
    "length-correlation-in-bins": (told_by_length_in_bins, None),
    "shortcut-length": (told_by_length, 5 / 6),
    "shortcut-edges": (told_by_first_word, 0.75),
    "shortcut-punctuation": (told_by_punctuation, 0.75),
    "shortcut-position": (told_by_position, 2 / 3),
    "shortcut-unigrams": (told_by_a_word, None),
    "shortcut-bigrams": (told_by_a_pair, 1.0),
    "shortcut-characters": (told_by_letters, None),
    "shortcut-casing": (told_by_capitals, None),
    "shortcut-inputs": (told_by_input, 0.75),
}
"""What tells the label, and the accuracy that follows, where it follows exactly: a shortcut is often seen by several
classifiers, so other shortcuts may be found as well."""
