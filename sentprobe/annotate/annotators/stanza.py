"""Stanza: its models for some eighty languages, and constituency trees where the package has a parser for them.

    stanza:fr
    stanza:en?package=ewt&dir=path/to/stanza_resources&constituency=0

Models are read from Stanza's own folder, or that of ``dir``; nothing is downloaded. The processors are those of the
package: tokenize, mwt, pos, lemma, depparse; and constituency, if its model is there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import fit, tree_of
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.install import pip_install
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError, describe_error
from sentprobe.sentence import Sentence

COLUMNS = {
    "lemma": ("lemmas",),
    "pos": ("upos", "xpos", "feats"),
    "depparse": ("heads", "deprels"),
    "constituency": ("tree",),
}
"""What processors fill."""
PROCESSORS = ("tokenize", "mwt", "pos", "lemma", "depparse")
CONSTITUENCY = "constituency"
IDENTITY = "identity"
"""In place of a model of lemmas: the words themselves."""


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load the models of a package for a language."""
    try:
        import stanza
        from stanza.resources.common import DEFAULT_MODEL_DIR, load_resources_json
    except ImportError:
        raise NotInstalled(f"stanza: needs Stanza: {pip_install('stanza')}") from None
    if not name:
        raise UsageError("stanza: needs a language, such as stanza:fr.")
    package, wants_trees = options.get("package", "default"), options.get("constituency", "")
    if wants_trees not in ("", "0", "1"):
        raise UsageError(f"stanza:{name} has constituency={wants_trees}; expected 0 or 1.")
    folder = str(Path(options["dir"]).expanduser()) if "dir" in options else DEFAULT_MODEL_DIR
    try:
        resources = load_resources_json(folder)
    except (OSError, ValueError):
        raise UsageError(
            f"stanza:{name}: there are no models in {folder}. {_download(name, package, PROCESSORS, options)}"
        ) from None
    language = resources.get(name, {}).get("alias", name)
    packages = resources.get(language, {}).get("packages", {})
    if package not in packages:
        names = packages or [key for key, value in resources.items() if isinstance(value, dict)]
        what = f"package {package!r} for {name}" if packages else f"language {name!r}"
        hint = did_you_mean(package if packages else name, names)
        raise UsageError(f"Stanza has no {what}, by {folder}/resources.json.{hint}")
    models = packages[package]
    chosen = {processor: models[processor] for processor in PROCESSORS if processor in models}
    trees = models.get(CONSTITUENCY) or models.get("optional", {}).get(CONSTITUENCY)
    if wants_trees == "1" and not trees:
        raise UsageError(f"stanza:{name} has constituency=1; Stanza's package {package!r} has no parser for it.")
    if trees and (wants_trees == "1" or (not wants_trees and _file(folder, language, CONSTITUENCY, trees).is_file())):
        chosen[CONSTITUENCY] = trees
    fetch = _download(name, package, tuple(chosen), options)
    files = [_file(folder, language, processor, of) for processor, of in chosen.items() if of != IDENTITY]
    if missing := next((file for file in files if not file.is_file()), None):
        raise UsageError(f"stanza:{name}: there is no {missing}. {fetch}")
    annotate = _StanzaPipeline(language, folder, chosen, fetch)
    model = Model(
        name=f"{language} {package}",
        version=_digest(chosen, files),
        software=f"Stanza {stanza.__version__}",
        licence="",
        language=language.partition("-")[0],
        universal=True,
        columns=tuple(column for processor in chosen for column in COLUMNS.get(processor, ())),
        splits=True,
        notes=("The licence of a model is that of the treebank it was trained on, which Stanza's site names.",),
    )
    return Loaded(model, annotate)


def _file(folder: str, language: str, processor: str, package: str) -> Path:
    return Path(folder, language, processor, f"{package}.pt")


def _digest(chosen: Mapping[str, str], files: Sequence[Path]) -> str:
    digest = blake2b(repr(sorted(chosen.items())).encode(), digest_size=8)
    for file in files:
        with file.open("rb") as source:
            digest.update(file_digest(source, "blake2b").digest())
    return digest.hexdigest()


def _download(language: str, package: str, processors: Sequence[str], options: Mapping[str, str]) -> str:
    """The command that fetches models, as a sentence."""
    where = f", model_dir={options['dir']!r}" if "dir" in options else ""
    call = f"stanza.download({language!r}, package={package!r}, processors={','.join(processors)!r}{where})"
    return f'Download them: python -c "import stanza; {call}"'


class _StanzaPipeline:
    """A pipeline, applied to texts."""

    def __init__(self, language: str, folder: str, chosen: Mapping[str, str], download: str) -> None:
        self._arguments, self._download = (language, folder, dict(chosen)), download
        self._is_split = False
        self._pipeline = self._load(False)

    def _load(self, is_split: bool) -> Any:
        import stanza

        language, folder, processors = self._arguments
        logging.getLogger("stanza").setLevel(logging.ERROR)
        try:
            return stanza.Pipeline(
                language,
                dir=folder,
                package=None,
                processors=processors,
                download_method=None,
                tokenize_no_ssplit=is_split,
                verbose=False,
            )
        except FileNotFoundError as e:  # what a model depends on, such as word vectors
            raise UsageError(f"stanza:{language} cannot be loaded: {e}. {self._download}") from None
        except Exception as e:
            raise AnnotatorError(f"stanza:{language} cannot be loaded: {describe_error(e)}. {self._download}") from e

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        if is_split != self._is_split:  # whether sentences are split is a property of a pipeline
            self._pipeline, self._is_split = self._load(is_split), is_split
        not_blank = [text for text in texts if text.strip()]
        documents = iter(self._pipeline.bulk_process(not_blank) if not_blank else ())
        for text in texts:
            sentences = next(documents).sentences if text.strip() else ()
            yield fit([_sentence(sentence) for sentence in sentences], text)


def _sentence(sentence: Any) -> Sentence:
    words = sentence.words
    forms = tuple([word.text for word in words])

    def column(name: str) -> tuple[str, ...] | None:
        values = [getattr(word, name) or "_" for word in words]
        return tuple(values) if set(values) != {"_"} else None

    heads = None if any(word.head is None for word in words) else tuple([word.head - 1 for word in words])
    tree = getattr(sentence, "constituency", None)
    return Sentence(
        id="",
        text="",
        forms=forms,
        lemmas=column("lemma"),
        upos=column("upos"),
        xpos=column("xpos"),
        feats=column("feats"),
        heads=heads,
        deprels=None if heads is None else tuple([word.deprel or "dep" for word in words]),
        mwts=tuple([(token.id[0] - 1, token.id[-1], token.text) for token in sentence.tokens if len(token.id) > 1]),
        tree=None if tree is None else tree_of(tree, _read_node, forms),
    )


def _read_node(node: Any) -> tuple[str, Sequence[Any]] | None:
    return (node.label, node.children) if node.children else None


annotator = Annotator(
    name="stanza",
    summary="Stanza, by language: stanza:fr; with constituency trees where it has a parser for them.",
    load=load,
    options={
        "package": "which models of the language (default: default)",
        "dir": "the folder of the models (default: Stanza's own)",
        "constituency": "0 or 1: without or with constituency trees (default: with them, if their model is there)",
    },
    order=20,
)
