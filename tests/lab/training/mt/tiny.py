"""Small texts in two languages, word for word but for the order, and small translation models of them."""

from itertools import product
from random import Random

from sentprobe.lab.training.request import make_request

NOUNS = {"dogs": "mife", "cats": "tugo", "girls": "ketim", "boys": "ruyul", "men": "dedif", "birds": "zekat"}
VERBS = {"see": "loru", "hear": "voyan", "like": "pigus", "find": "teyet"}
KINDS = {"big": "sor", "small": "hum", "old": "naki"}
SIZES = {"hidden": 32, "layers": 2, "heads": 2, "dropout": 0.0, "positions": 40}
SETTINGS = {"codes": 200, "tokens": 256, "length": 30}


def pairs(n=240):
    """Sentences and their translations, in which the verb is last and an adjective after its noun."""
    every = [
        (f"{one} {verb} {kind} {two} .", f"{NOUNS[one]} {NOUNS[two]} {KINDS[kind]} {VERBS[verb]} .")
        for one, verb, kind, two in product(NOUNS, VERBS, KINDS, NOUNS)
        if one != two
    ]
    return Random(0).sample(every, n)


def write(path, lines):
    """A file of lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def files(folder, n=240):
    """Aligned files in both languages."""
    both = pairs(n)
    return [write(folder / f"{n}.{name}", [row[place] for row in both]) for place, name in enumerate(("en", "qto"))]


def request(folder, *, settings=None, options=None, sizes=None, **more):
    """A request that trains in a few seconds; by default from pairs, in both directions."""
    if "train" not in more:
        more |= {"train": (f"en-qto={','.join(files(folder))}",), "held_out": 30}
    options = {"epochs": 11, "lr": 5e-3, "warmup": 20, "patience": 0, **(options or {})}
    settings = {**(SIZES if sizes is None else sizes), **SETTINGS, **(settings or {})}
    return make_request("mt", settings=settings, options=options, **more)


def unsupervised(folder, *, settings=None, options=None, n=60):
    """A request for texts without pairs: no sentence is in both languages. There are pairs to score on."""
    en, qto = zip(*pairs(), strict=True)
    texts = (f"en={write(folder / 'half.en', en[:n])}", f"qto={write(folder / 'half.qto', qto[n : 2 * n])}")
    dev = f"en-qto={write(folder / 'dev.en', en[200:])},{write(folder / 'dev.qto', qto[200:])}"
    options = {"epochs": 2, **(options or {})}
    return request(folder, settings=settings, options=options, train=texts, dev=(dev,))
