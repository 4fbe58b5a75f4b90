"""Small texts in two languages, and small language models of them."""

from sentprobe.corpus import Corpus
from sentprobe.lab.training.request import make_request

SIZES = {"hidden": 16, "layers": 2, "heads": 2, "codes": 120, "tokens": 256, "length": 32, "positions": 64}


def sentences(n, seed=0, language="en"):
    """Texts of the built-in grammar; the second language has the same sentences in other words."""
    own = {} if language == "en" else {"language": language}
    return [sentence.text for sentence in Corpus.synthetic(n, seed=seed, **own)]


def write(path, lines):
    """A file of lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def texts(folder, n=60, seed=0):
    """Files in both languages; line i of one is the translation of line i of the other."""
    return [write(folder / f"{seed}.{name}", sentences(n, seed, name)) for name in ("en", "qto")]


def request(folder, objective="mlm", *, settings=None, options=None, **more):
    """A request that trains in a second."""
    if "train" not in more:
        en, qto = texts(folder)
        pairs, monolingual = (f"en-qto={en},{qto}",), (f"en={en}", f"qto={qto}")
        more["train"] = {"tlm": pairs, "mlm+tlm": monolingual + pairs}.get(objective, monolingual)
        more["held_out"] = 8
    options = {"epochs": 2, "warmup": 5, "patience": 0, "lr": 3e-3, **(options or {})}
    return make_request(objective, settings={**SIZES, **(settings or {})}, options=options, **more)
