"""The model card of a trained encoder, ``card.md``: what it is, what it was trained on, how well, and how to use it.

It is written from ``config.json`` and ``training.jsonl``, so that it can be written again at any time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from shlex import quote
from typing import Any

from sentprobe.core.table import in_markdown, markdown_table, plain
from sentprobe.encoders import Spec
from sentprobe.errors import SentProbeError
from sentprobe.lab.networks.folder import TrainedFolder, is_language_model
from sentprobe.lab.training.history import History, read_history, score_text, score_title

SOFTWARE_TITLE = "sentprobe: ask a sentence encoder what it knows"
PARAMETERS = {
    "encoder": "in the encoder",
    "others": "in the rest of the model, which encoding does not use",
    "fixed": "frozen",
}
"""Where parameters are; the first two are trained."""
IN_WORDS = ("vectors", "vectors digest", "unknown words")
"""Facts that the line on words has."""
LISTED = 20
"""Values of a list that are shown."""
REQUEST = {
    "held_out": "rows held out as dev",
    "columns": "columns",
    "words": "largest vocabulary",
    "max_length": "longest example in words",
}
"""What else of a request the card lists, and what it calls it."""


def write_card(folder: TrainedFolder) -> None:
    """Write ``card.md``."""
    folder.job.write_card(card_text(folder))


def card_text(folder: TrainedFolder) -> str:
    """The card in Markdown, with the front matter that model hubs read."""
    history = read_history(folder)
    parts = (_front(folder), _about(folder, history), _data(folder), _settings(folder), _scores(history))
    return "\n".join(line for part in (*parts, _use(folder), _citation(folder)) for line in (*part, "")).rstrip() + "\n"


def main_facts(folder: TrainedFolder, history: History) -> dict[str, str]:
    """What an encoder is in a few lines of plain text, by what each says."""
    config, request = folder.config, folder.config.get("request", {})
    net, counts = folder.network, config.get("parameters", {})
    sizes = ", ".join(f"{key} {_value(value)}" for key, value in net.settings.items())
    return {
        "encoder": f"{net.architecture} ({sizes})" if sizes else net.architecture,
        **({"preset": request["preset"]} if request.get("preset") else {}),
        "objective": str(request.get("objective", "unknown")),
        **({"dimensions": f"{config['size']:,}"} if "size" in config else {}),
        "parameters": ", ".join(f"{counts[key]:,} {where}" for key, where in PARAMETERS.items() if counts.get(key)),
        "words": _words(folder),
        **{role: _rows(rows) for role, rows in config.get("rows", {}).items()},
        "best": _best(history),
        "training": _training(history),
    }


def encoder_name(path: str, languages: Sequence[str] = ()) -> str:
    """What names the encoder of a folder; what has a meaning of its own in names, such as ``?``, is percent-encoded.

    Of several languages, it is the encoder of the first one.
    """
    query = f"?lang={languages[0]}" if len(languages) > 1 else ""
    spec = Spec("trained", path)
    with suppress(SentProbeError):
        if Spec.parse(f"trained:{path}") == spec:
            return f"trained:{path}{query}"
    return f"{spec}{query}"


def languages_of(folder: TrainedFolder) -> tuple[str, ...]:
    """The languages of a language model that has vectors of them; none of any other encoder."""
    config = folder.config
    return tuple(config["lang2id"]) if is_language_model(config) and config.get("use_lang_emb") else ()


def translation_command(folder: TrainedFolder, path: str) -> str:
    """The command that translates with a folder of ``mt``; nothing for any other."""
    directions = folder.config.get("facts", {}).get("directions", ())
    if not directions:
        return ""
    first, _, second = str(directions[0]).partition("-")
    return f"sentprobe translate {quote(plain(path))} --to {plain(second)} < text.{plain(first)}"


def _front(folder: TrainedFolder) -> Iterator[str]:
    objective = folder.config.get("request", {}).get("objective", "")
    library = "transformers" if is_language_model(folder.config) else "sentprobe"
    yield from ("---", f"library_name: {library}", "pipeline_tag: feature-extraction", "tags:")
    yield from (f"- {tag}" for tag in ("sentprobe", "sentence-embeddings", *([_tag(objective)] if objective else [])))
    yield "---"


def _about(folder: TrainedFolder, history: History) -> Iterator[str]:
    yield from (f"# {in_markdown(folder.path.resolve().name)}", "")
    trained = folder.config.get("trains", True)
    if is_language_model(folder.config):
        languages = ", ".join(map(in_markdown, folder.config["lang2id"]))
        yield f"A Transformer over {languages}, trained with `sentprobe train`. `transformers` loads it as XLM, "
        yield "and each checkpoint, with its tokenizer."
    else:
        yield "A sentence encoder" + (" with random weights." if not trained else ", trained with `sentprobe train`.")
    yield ""
    facts = main_facts(folder, history)
    yield from markdown_table(("", ""), ((name, in_markdown(text)) for name, text in facts.items()), ["left", "left"])


def _data(folder: TrainedFolder) -> Iterator[str]:
    config = folder.config
    yield from ("## Data", "")
    rows = config.get("rows", {})
    if rows:
        kinds = list(dict.fromkeys(kind for counts in rows.values() for kind in counts))
        cells = ((role, *(f"{counts.get(kind, 0):,}" for kind in kinds)) for role, counts in rows.items())
        yield from markdown_table(("rows", *map(in_markdown, kinds)), cells)
        yield ""
    files = [(role, file) for role, every in config.get("data", {}).items() for file in every]
    if files:
        cells = (
            (role, in_markdown(file["name"]), f"{file['bytes']:,}" if "bytes" in file else "", file.get("blake2b", ""))
            for role, file in files
        )
        yield from markdown_table(("for", "file", "bytes", "BLAKE2b-128"), cells, ["left", "left"])
    if not rows and not files:
        yield "None."
    withheld = rows.get("train", {}).get("withheld", 0)
    if config.get("request", {}).get("withhold"):
        yield from (
            "",
            f"{withheld:,} training rows were left out because a sentence of them is in the probing sets that were "
            "withheld; case, digits and punctuation are ignored.",
        )


def _settings(folder: TrainedFolder) -> Iterator[str]:
    config, request = folder.config, folder.config.get("request", {})
    yield from ("## Settings", "")
    groups: dict[str, Mapping[str, Any]] = {
        "encoder": request.get("encoder_settings", {}),
        "objective": request.get("objective_settings", {}),
        "training": request.get("options", {}),
        "data": {name: request.get(key) for key, name in REQUEST.items() if request.get(key)},
        "model": {key: value for key, value in config.get("facts", {}).items() if key not in IN_WORDS},
    }
    cells = (
        (group, in_markdown(key.replace("_", " ")), in_markdown(_value(value)))
        for group, values in groups.items()
        for key, value in values.items()
    )
    yield from markdown_table(("of", "setting", "value"), cells, ["left", "left"])
    software = ", ".join(f"{name} {version}" for name, version in config.get("software", {}).items())
    yield from ("", f"Software: sentprobe {config.get('sentprobe', 'unknown')}, {software}".removesuffix(", ") + ".")


def _scores(history: History) -> Iterator[str]:
    yield from ("## Scores", "")
    if not history.finished:
        yield "No epoch is finished yet." if not history.stopped else "Nothing was trained."
        return
    header, *rows = curve(history)
    yield from markdown_table(tuple(map(in_markdown, header)), rows)
    yield ""
    yield "Scores are on dev; * marks the best checkpoint. The loss is the mean over training examples, or over the "
    yield "tokens that a decoder predicts. words/s counts the tokens of all texts, targets included."


def curve(history: History) -> Iterator[tuple[str, ...]]:
    """A table of the epochs in plain text: first its header, then a row per epoch; the best one has an asterisk."""
    scores = history.score_names
    yield ("epoch", "step", "loss", *map(score_title, scores), "learning rate", "words/s", "seconds")
    for epoch in history.epochs:
        yield (
            f"{epoch.number}{' *' * epoch.best}",
            f"{epoch.steps:,}",
            "" if math.isnan(epoch.loss) else f"{epoch.loss:.4f}",
            *(score_text(epoch.scores[name]) if name in epoch.scores else "" for name in scores),
            f"{epoch.lr:.3g}",
            f"{epoch.words_per_second:,.0f}",
            f"{epoch.seconds:,.1f}",
        )


def _use(folder: TrainedFolder) -> Iterator[str]:
    name = encoder_name(folder.path.resolve().name, languages_of(folder))
    yield from ("## Use", "", "From the folder in which this one is:", "", "```sh")
    if translates := translation_command(folder, folder.path.resolve().name):
        yield translates
    yield f"sentprobe run -e {quote(plain(name))} -d SETS"
    yield from ("```", "", "```python", "from sentprobe import load_encoder", "")
    yield f"encoder = load_encoder({plain(name)!r})"
    yield from ('vectors = encoder(["A sentence.", "Another one."])', "```", "")
    ask = "&" if "?" in name else "?"
    yield (
        f"`{plain(name)}` is the best checkpoint; `{ask}epoch=N` another one, `{ask}random=SEED` the network before "
        "training."
    )


def _citation(folder: TrainedFolder) -> Iterator[str]:
    yield from (
        "## Citation",
        "",
        f"- The sentprobe authors, {SOFTWARE_TITLE}, version {folder.config.get('sentprobe')}.",
    )
    if paper := folder.config.get("paper"):
        yield f"- {in_markdown(str(paper)).rstrip('.')}."


def _words(folder: TrainedFolder) -> str:
    net, facts = folder.network, folder.config.get("facts", {})
    if "vectors" in facts:
        how = "fixed" if net.frozen else "fine-tuned"
        digest = f" (digest {facts['vectors digest']})" if facts.get("vectors digest") else ""
        source = f"{how} vectors of {facts['vectors']}{digest}"
    else:
        source = "learned vectors" if folder.config.get("trains", True) else "random vectors"
    share = facts.get("unknown words")
    unknown = "" if share is None else f"; {100 * share:.2g} % of the running words of the training texts are unknown"
    projection = f", projected to {net.projection}" if net.projection else ""
    return f"{net.words:,}, {source}, {net.width} dimensions{projection}{unknown}"


def _rows(counts: Mapping[str, int]) -> str:
    left_out = ", ".join(f"{n:,} {why}" for why, n in counts.items() if n and why not in ("read", "used"))
    return f"{counts.get('used', 0):,} of {counts.get('read', 0):,} rows used" + (f" ({left_out})" if left_out else "")


def _best(history: History) -> str:
    if history.best is None and history.selection:
        return history.best_checkpoint or "none yet"
    if history.best is None:
        return (
            f"epoch {history.finished[-1].number}, the last one" if history.finished else "the network as initialised"
        )
    score = history.best.scores.get(history.selection)
    score_note = "" if score is None else f", {history.selection} {score_text(score)} on dev"
    return f"epoch {history.best.number}{score_note}"


def _training(history: History) -> str:
    done, state = len(history.finished), f"ended: {history.stopped}" if history.stopped else "not ended"
    seconds = f"{history.seconds:.1f}" if history.seconds < 10 else f"{history.seconds:,.0f}"
    words = f"{history.words:,} words in {seconds} seconds"
    return f"{done} epoch{'s' * (done != 1)}, {words}; {state}" if history.epochs else state


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value[:LISTED])) + f", … ({len(value):,} in all)" * (len(value) > LISTED)
    return str(value)


def _tag(objective: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in objective)
