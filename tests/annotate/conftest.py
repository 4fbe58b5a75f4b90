import shutil
from io import StringIO
from pathlib import Path

import pytest

from sentprobe import Corpus
from sentprobe.annotate.work import loaded_annotator
from sentprobe.core import processes
from sentprobe.corpus.conllu import write_conllu


@pytest.fixture(scope="session")
def udpipe_model(tmp_path_factory):
    """A model of UDPipe 1, trained on sentences of the built-in grammar for a second."""
    udpipe = pytest.importorskip("ufal.udpipe")
    out = StringIO()
    write_conllu(Corpus.synthetic(60), out)
    reader, failure, sentences = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError(), udpipe.Sentences()
    reader.setText(out.getvalue())
    while reader.nextSentence(sentence := udpipe.Sentence(), failure):
        sentences.push_back(sentence)
    model = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(),
        "epochs=1;batch_size=5;segment_size=10;early_stopping=0;dimension=16",
        "models=1;iterations=1;guesser_prefixes_max=0;guesser_suffix_rules=2;guesser_enrich_dictionary=1",
        "iterations=1;embedding_form=4;embedding_upostag=4;embedding_feats=4;embedding_deprel=4;hidden_layer=10;"
        "transition_system=projective;transition_oracle=static;structured_interval=0;use_gold_tags=1",
        failure,
    )  # fmt: skip
    assert not failure.occurred(), failure.message
    path = tmp_path_factory.mktemp("udpipe") / "english-builtin-ud-2.5-191206.udpipe"
    path.write_bytes(model)
    return path


@pytest.fixture(scope="session")
def stanza_models(tmp_path_factory):
    """Models of Stanza for English, tiny, trained on sentences of the built-in grammar for seconds."""
    pytest.importorskip("stanza")
    from tests.annotate.tiny_stanza import build

    folder = tmp_path_factory.mktemp("stanza")
    build(folder)
    return folder


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """The annotator by rules in an empty working directory; what is typed to use it."""
    shutil.copy(Path(__file__).with_name("rules.py"), tmp_path / "rules.py")
    monkeypatch.chdir(tmp_path)
    loaded_annotator.cache_clear()  # that of another folder
    return "py:rules.py:annotate"


class NoChild(processes.Child):
    """Its calls are made in this process."""

    def __init__(self):
        super().__init__()
        loaded_annotator.cache_clear()  # a new child has loaded nothing

    def call(self, function, *arguments):
        return function(*arguments)


@pytest.fixture
def no_children(monkeypatch):
    """Annotators are called in this process: it takes longer to start a child than most tests do."""
    monkeypatch.setattr(processes, "Child", NoChild)
