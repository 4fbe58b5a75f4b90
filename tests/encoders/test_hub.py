"""Where models are found: folders by their content, and a hub on loopback that has one model."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from sentprobe.encoders import hub, load
from sentprobe.errors import EncoderError, Offline, UsageError
from tests.encoders.test_hf import TEXTS, assert_near, bert, copy

client = pytest.importorskip("huggingface_hub")
pytest.importorskip("transformers")

__all__ = ["bert", "copy"]  # fixtures

COMMIT = "0123456789abcdef0123456789abcdef01234567"


# folders


def test_files_that_are_read_are_told_from_those_that_are_not():
    paths = [
        "model-00001-of-00002.safetensors", "model.safetensors.index.json", "consolidated.safetensors", "vocab.txt",
        "pytorch_model.bin", "spiece.model", "bpe.codes", "tf_model.h5", "README.md", ".gitattributes", "own.py",
        "1_Pooling/config.json", "2_Dense/pytorch_model.bin", "onnx/model.onnx_data", "checkpoint-5/pytorch_model.bin",
    ]  # fmt: skip
    top = ["bpe.codes", "model-00001-of-00002.safetensors", "model.safetensors.index.json", "spiece.model", "vocab.txt"]
    assert hub.loadable_files(paths, recursive=False) == top
    assert hub.loadable_files(paths, recursive=True) == sorted(
        [*top, "1_Pooling/config.json", "2_Dense/pytorch_model.bin"]
    )
    assert hub.loadable_files(["pytorch_model.bin"], recursive=False) == ["pytorch_model.bin"]


# the hub


class Hub(http.server.ThreadingHTTPServer):
    """A model hub on loopback with one model, ``mill/geese``, of one commit."""

    def __init__(self, folder):
        self.folder, self.asked = folder, []
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(http.server.BaseHTTPRequestHandler):
    """The few answers of the hub's protocol that fetching a model takes."""

    def log_message(self, *args):
        pass

    def reply(self, body, status=200, **headers):
        self.send_response(status)
        headers = {
            "Content-Length": len(body),
            "X-Repo-Commit": COMMIT,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self):
        path, folder = self.path.partition("?")[0], self.server.folder
        self.server.asked.append(path)
        names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
        if path.startswith("/api/models/mill/closed"):
            self.reply(b"{}", 403, X_Error_Code="GatedRepo")
        elif path.startswith("/api/models/mill/broken"):
            self.reply(b"{}", 503)
        elif "/mill/geese" not in path:
            self.reply(b"{}", 404, X_Error_Code="RepoNotFound")
        elif path.startswith("/api/models/mill/geese/tree/"):
            files = [{"type": "file", "path": n, "size": (folder / n).stat().st_size, "oid": n} for n in names]
            self.reply(json.dumps(files).encode())
        elif path in ("/api/models/mill/geese", "/api/models/mill/geese/revision/main"):
            there = {"id": "mill/geese", "sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}
            self.reply(json.dumps(there).encode())
        elif path.startswith("/api/"):
            self.reply(b"{}", 404, X_Error_Code="RevisionNotFound")
        else:
            name = path.partition("/resolve/")[2].partition("/")[2]
            self.reply((folder / name).read_bytes(), ETag=f'"{name.replace("/", "-")}"')

    def do_HEAD(self):
        self.do_GET()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and a hub that nobody answers at."""
    monkeypatch.setattr(client.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(client.constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    monkeypatch.setattr(client.constants, "ENDPOINT", "http://127.0.0.1:9")  # the discard port: nothing listens
    yield tmp_path / "cache"
    client.close_session()


@pytest.fixture
def geese(copy, cache, monkeypatch):
    """A hub that has the little BERT."""
    (copy / "README.md").write_text("Geese.")
    (copy / "tf_model.h5").write_bytes(b"unread")
    with Hub(copy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(client.constants, "ENDPOINT", server.address)
        template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(client.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield server
        client.close_session()
        server.shutdown()


def test_a_model_of_the_hub_is_fetched_once_and_serves_without_the_hub(bert, geese, cache, monkeypatch):
    fetched = load("hf:mill/geese?layer=*")
    assert_near(fetched(TEXTS), load(f"hf:{bert}?layer=*")(TEXTS), 0)
    assert fetched.identity.name == "mill/geese"
    assert dict(fetched.identity.facts)["revision"] == COMMIT
    assert not [path for path in geese.asked if path.endswith("tf_model.h5")]
    monkeypatch.setattr(client.constants, "ENDPOINT", "http://127.0.0.1:9")
    assert load("hf:mill/geese?layer=*").identity == fetched.identity
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    assert load("hf:mill/geese?layer=*").identity == fetched.identity


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("mill/ducks", UsageError, "no folder mill/ducks here and no model mill/ducks on the hub"),
        ("mill/geese@v7", UsageError, "mill/geese has no revision v7"),
        ("mill/closed", EncoderError, "is gated: request access at .*/mill/closed, then `hf auth login`"),
        ("mill/broken", Offline, "the model hub cannot be reached .* and mill/broken is not in the local cache"),
    ],
)
def test_what_the_hub_does_not_give_is_named(geese, name, error, message):
    with pytest.raises(error, match=message):
        load(f"hf:{name}")


def test_a_model_of_the_hub_without_a_configuration_is_refused(geese):
    (geese.folder / "config.json").unlink()
    with pytest.raises(EncoderError, match=r"mill/geese on the hub has no config\.json"):
        load("hf:mill/geese")


def test_without_a_network_the_model_is_named_with_how_to_get_it(cache):
    message = (
        r"cannot be reached \(Connect.*mill/geese is not in .*`hf download mill/geese --local-dir FOLDER`; .*hf:FOLDER"
    )
    with pytest.raises(Offline, match=message):
        load("hf:mill/geese")


def test_a_network_that_swallows_every_packet_is_given_up_in_time(cache, monkeypatch):
    """A stand-in for a hub that never answers: a request ends only when the test does."""
    asked, over = [], threading.Event()

    class Api:
        def model_info(self, name, **options):
            asked.append((name, options))
            over.wait()

    monkeypatch.setattr(client, "HfApi", Api)
    assert hub.HUB_TIMEOUT_SECONDS <= 5
    monkeypatch.setattr(hub, "HUB_TIMEOUT_SECONDS", 0.05)
    try:
        with pytest.raises(Offline, match=r"no answer within 0\.05 seconds\) and mill/geese is not in .*`hf download"):
            load("hf:mill/geese")
    finally:
        over.set()
    assert asked == [("mill/geese", {"revision": None, "timeout": 0.05})]  # once


def test_an_environment_that_is_offline_asks_nobody(geese, monkeypatch):
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        Offline, match=r"\(HF_HUB_OFFLINE is set\) .* `hf download mill/geese --revision v7 --local-dir"
    ):
        load("hf:mill/geese@v7")
    assert geese.asked == []


# the cache that the hub's client leaves, in a process of its own: there, nobody has imported its submodules before


def cached(folder, home):
    """The cache of a machine that fetched ``mill/geese`` once: blobs named by their hashes, links, and a ref."""
    root = home / "hub" / "models--mill--geese"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(COMMIT)
    (root / "blobs").mkdir()
    (root / "snapshots" / COMMIT).mkdir(parents=True)
    for file in folder.iterdir():
        content = file.read_bytes()
        name = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # git's
        if file.suffix == ".safetensors":
            name = hashlib.sha256(content).hexdigest()  # git-lfs
        (root / "blobs" / name).write_bytes(content)
        (root / "snapshots" / COMMIT / file.name).symlink_to(f"../../blobs/{name}")
    return root


def fresh(home, code, offline="1"):
    """What a new process prints that is asked to do this."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE_"))}
    told |= {"HF_HOME": str(home), "HF_HUB_OFFLINE": offline, "HF_ENDPOINT": "http://127.0.0.1:9"}
    code = f"from sentprobe.encoders import load\nfrom sentprobe.errors import SentProbeError\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=told, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


TRY = "try:\n    print(load('hf:mill/geese').identity)\nexcept SentProbeError as e:\n    print(type(e).__name__, e)"


def test_a_model_by_name_loads_in_a_fresh_process_without_the_hub(copy, tmp_path):
    cached(copy, tmp_path)
    assert f"revision={COMMIT}" in fresh(tmp_path, TRY)


def test_a_name_that_is_not_in_the_cache_is_explained_in_a_fresh_process(tmp_path):
    heavy = "import sys\nprint({'torch', 'transformers'} & set(sys.modules))"  # whose import takes seconds
    offline, imported = fresh(tmp_path, f"{TRY}\n{heavy}").splitlines()
    assert offline.startswith("Offline hf:mill/geese: the model hub cannot be reached (HF_HUB_OFFLINE is set)")
    assert "`hf download mill/geese --local-dir FOLDER`" in offline
    assert imported == "set()"


@pytest.mark.parametrize("lacks", [{}, {"try_to_load_from_cache": lambda name: None}])
def test_a_client_that_lacks_what_is_asked_of_it_is_named(cache, monkeypatch, lacks):
    """A name that is gone, or one that takes other arguments."""
    other, import_optional = SimpleNamespace(__version__="9.1", **lacks), hub.import_optional
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(
        hub, "import_optional", lambda name: other if name == "huggingface_hub" else import_optional(name)
    )
    message = r"huggingface_hub 9\.1 is not a supported version \((Attribute|Type)Error: .*use hf:FOLDER"
    with pytest.raises(EncoderError, match=message):
        load("hf:mill/geese")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_damaged_file_of_the_cache_is_refused(copy, cache, monkeypatch, name):
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    root = cached(copy, cache.parent)
    monkeypatch.setattr(client.constants, "HF_HUB_CACHE", str(root.parent))
    assert dict(load("hf:mill/geese").identity.facts)["revision"] == COMMIT
    blob = (root / "snapshots" / COMMIT / name).resolve()
    content = bytearray(blob.read_bytes())
    content[-3] ^= 0x80 if name.endswith("tensors") else 0x01  # a sign bit; another digit or brace
    blob.write_bytes(content)
    with pytest.raises(EncoderError, match=rf"{name} in the local cache is damaged"):
        load("hf:mill/geese")
