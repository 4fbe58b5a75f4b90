"""The package that scripts import as ``senteval``."""

import os
import subprocess
import sys

import pytest

from sentprobe.errors import UsageError
from sentprobe.senteval.install import MODULES, install

BAG = """
import io, logging, sys

sys.path.insert(0, {path!r})
import senteval
import numpy as np


def prepare(params, samples):
    _, params.word2id = senteval.utils.create_dictionary(samples)
    params.word_vec = {{word: np.random.RandomState(i).randn(5) for word, i in params.word2id.items()}}
    params.wvec_dim = 5


def batcher(params, batch):
    batch = [sent if sent != [] else ["."] for sent in batch]
    embeddings = []
    for sent in batch:
        vectors = [params.word_vec[word] for word in sent if word in params.word_vec] or [np.zeros(params.wvec_dim)]
        embeddings.append(np.mean(vectors, 0))
    return np.vstack(embeddings)


params = {{"task_path": {data!r}, "usepytorch": True, "kfold": 2}}
params["classifier"] = {{"nhid": 0, "optim": "rmsprop", "batch_size": 128, "tenacity": 3, "epoch_size": 2}}
logging.basicConfig(format="%(asctime)s : %(message)s", level=logging.DEBUG)

se = senteval.engine.SE(params, batcher, prepare)
tasks = ["STS12", "SST5", "TREC", "MRPC", "SICKRelatedness", "WordContent"]
results = se.eval(tasks)
assert list(results) == tasks
print(*(results[task]["acc"] for task in tasks if "acc" in results[task]))
print(results["STS12"]["all"]["pearson"]["wmean"], results["SICKRelatedness"]["devpearson"])
"""
"""What a client of SentEval looks like that has word vectors."""

TENSORS = """
import sys

sys.path.insert(0, {path!r})
import senteval
import torch

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
table = torch.randn(4096, 6, generator=generator)


def batcher(params, batch, max_length=None):
    if len(batch) >= 1 and len(batch[0]) >= 1 and isinstance(batch[0][0], bytes):
        batch = [[word.decode("utf-8") for word in s] for s in batch]
    sentences = [" ".join(s) for s in batch]
    return torch.stack([table[[sum(map(ord, word)) % 4096 for word in s.split()]].mean(0) for s in sentences]).cpu()


params = {{"task_path": {data!r}, "usepytorch": True, "kfold": 2}}
params["classifier"] = {{"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 1, "epoch_size": 1, "max_epoch": 3}}
results = {{}}
for task in ["STS13", "STSBenchmark", "CR"]:
    se = senteval.engine.SE(params, batcher, lambda params, samples: None)
    results[task] = se.eval(task)
print("%.2f" % (results["STSBenchmark"]["dev"]["spearman"][0] * 100))
print("%.2f" % (results["STS13"]["all"]["spearman"]["all"] * 100))
print("%.2f" % (results["STSBenchmark"]["test"]["spearman"].correlation * 100))
print("%.2f" % results["CR"]["devacc"], "%.2f" % results["CR"]["acc"])
"""
"""What a client of SimCSE's copy looks like, with tensors and an SE for every task."""


def run(code, tmp_path):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=300)


def sentprobe(*words):
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "sentprobe", *map(str, words)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )


def test_scripts_run_with_what_the_command_writes(data, tmp_path):
    done = sentprobe("senteval", "install", tmp_path / "SentEval")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "SentEval" / "senteval"))
    bag = run(BAG.format(path="SentEval", data=data), tmp_path)
    assert bag.returncode == 0, bag.stderr
    first, second = bag.stdout.splitlines()
    assert len(first.split()) == 4
    assert all(0 <= float(value) <= 100 for value in first.split())
    assert all(-1 <= float(value) <= 1 for value in second.split())
    pytest.importorskip("torch")
    tensors = run(TENSORS.format(path="SentEval", data=data), tmp_path)
    assert tensors.returncode == 0, tensors.stderr
    assert len(tensors.stdout.split()) == 5


def test_every_module_can_be_imported_by_senteval_s_name(tmp_path):
    install(tmp_path)
    code = "\n".join(
        [
            "import sys",
            "import senteval",
            *(f"import senteval.{name}" for name in MODULES),
            "from senteval.tools.validation import InnerKFoldClassifier, KFoldClassifier, SplitClassifier",
            "from senteval.tools.classifier import MLP, PyTorchClassifier",
            "from senteval.probing import *",
            "assert senteval.SE is senteval.engine.SE and LengthEval is senteval.probing.LengthEval",
            "assert senteval.sts.STSBenchmarkFinetune and senteval.sick.SICKEval and senteval.tools.ranking",
            "assert not {'torch', 'sklearn'} & set(sys.modules)",
        ]
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_is_not_ours_is_written_over_by_force_only(tmp_path):
    theirs = tmp_path / "senteval" / "engine.py"
    theirs.parent.mkdir()
    theirs.write_text("# a copy of SentEval with changes\n")
    (theirs.parent / "mine.py").write_text("kept\n")
    with pytest.raises(UsageError, match="--force"):
        install(tmp_path)
    assert theirs.read_text() == "# a copy of SentEval with changes\n"
    refused = sentprobe("senteval", "install", tmp_path)
    assert refused.returncode == 1
    assert "was not written by sentprobe" in refused.stderr
    install(tmp_path, force=True)
    written = theirs.read_text()
    assert "sentprobe" in written
    assert (theirs.parent / "mine.py").read_text() == "kept\n"
    install(tmp_path)  # what is ours is written again without ado
    assert theirs.read_text() == written


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        install(tmp_path / "file")
