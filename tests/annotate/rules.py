"""An annotator by rules, as a file that users could write: ``py:rules.py:annotate``. It costs nothing, and has faults
on demand: texts with CYCLE, FAIL, STOP, KILL, CRASH or MEMORY in them."""

import os
import re
import signal
from pathlib import Path

from sentprobe import Sentence

VERBS = {"barks", "sleeps", "ran", "sings", "left", "dort", "mange"}


def annotate(texts, is_split):
    return [[parsed(part) for part in ([text] if is_split else re.findall(r"[^.!?]+[.!?]*", text))] for text in texts]


annotate.version = "1"
annotate.licence = "CC0"
annotate.language = "en"
annotate.columns = ("upos", "heads", "deprels")
annotate.universal = True


def parsed(text):
    if "FAIL" in text:
        raise RuntimeError("no rule for this")
    flag = Path(__file__).with_name("armed")
    if "STOP" in text and flag.exists():
        raise KeyboardInterrupt
    if "KILL" in text and flag.exists():
        os.kill(os.getppid(), signal.SIGKILL)  # the command, whose child annotates
    if "CRASH" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "MEMORY" in text:
        os.kill(os.getpid(), signal.SIGKILL)  # as the system does
    forms = tuple(re.findall(r"\w+|[^\w\s]", text))
    upos = tuple("VERB" if f in VERBS else "PUNCT" if not f[0].isalnum() else "NOUN" for f in forms)
    root = upos.index("VERB") if "VERB" in upos else 0
    heads = tuple(-1 if i == root else root for i in range(len(forms)))
    if "CYCLE" in forms:
        heads = tuple((i + 1) % len(forms) for i in range(len(forms)))
    relations = tuple("root" if i == root else "punct" if u == "PUNCT" else "dep" for i, u in enumerate(upos))
    return Sentence("", text.strip(), forms, upos=upos, heads=heads, deprels=relations)


def lazy(texts):
    """CoNLL-U, one sentence per text, and nothing said about itself."""
    rows = [[f"{i}\t{w}\t_\tX\t_\t_\t{i - 1}\tdep\t_\t_" for i, w in enumerate(t.split(), 1)] for t in texts]
    return ["\n".join(each) + "\n\n" for each in rows]


def broken(texts):
    os.kill(os.getpid(), signal.SIGABRT)


def wrong_columns(texts):
    return [[Sentence("", text, tuple(text.split()), upos=("X",))] for text in texts]


def short(texts):
    return []


annotator = 3
