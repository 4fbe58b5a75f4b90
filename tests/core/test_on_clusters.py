"""Real clusters of two nodes, on loopback: every verb gives what one process gives, whatever dies meanwhile."""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from sentprobe.core import agreement
from sentprobe.core import cluster as core_cluster
from sentprobe.core.cluster import current_cluster, joined
from sentprobe.core.processes import users_of
from sentprobe.core.workers import map_in_workers, merge_in_workers
from sentprobe.corpus import Corpus
from sentprobe.corpus.conllu import write_conllu
from sentprobe.errors import CorpusError, UsageError
from sentprobe.run import Run
from tests.command_line import sentprobe
from tests.run.sets import same

PATIENCE = 120
"""Seconds that a busy machine may take to start what takes a few; nothing is said about speed."""
ROOT = Path(__file__).parents[2]
TIMES = ("seconds", "checksum", "number", "versions")
"""What need not be the same: versions are of the packages that a process has loaded, whatever for."""

pytestmark = [
    # of what Ray and Dask leave open when their processes were killed
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*tasks which were still being processed:UserWarning"),
]

OWN = f"""
import os, signal
from contextlib import suppress
from pathlib import Path
from sentprobe import Example, Policy, Sentence, Task

def die_once(mark):
    # in a worker, the first time; of two workers that come here together, one finds no mark
    if os.getpid() != {os.getpid()}:
        with suppress(FileNotFoundError):
            Path(mark).unlink()
            os.kill(os.getpid(), signal.SIGKILL)

def propose(sentence, context):
    die_once("die-in-propose")
    first = sentence.tokens[0]
    return Example.of(sentence, "long" if len(first) > 3 else "short")

def label_issues(rows):
    die_once("die-in-audit")
    return [""] * len(rows)

def encode(texts):
    die_once("die-in-encode")
    return [[len(text), text.count("e"), text.count("a"), 1.0] for text in texts]

def annotate(texts):
    die_once("die-in-annotate")
    if any("CRASH" in text for text in texts):
        os.kill(os.getpid(), signal.SIGSEGV)
    return [[Sentence("", text, tuple(text.split()), upos=("X",) * len(text.split()))] for text in texts]

annotate.columns = ("upos",)

task = Task(
    name="first_word", version=1, question="Is the first word long?", paper="", propose=propose,
    labels=("long", "short"), policies={{"own": Policy()}}, label_issues=label_issues,
)
"""
MAKE = ("make", "news-*.conllu", "-t", "own.py", "-t", "passive", "--sizes", "120/40/40")
ANNOTATE = ("annotate", "raw.txt", "--with", "py:own.py", "--dedupe", "exact", "--lines", "sentences")
ENCODE = ("encode", "sets", "-e", "builtin:", "-e", "py:own.py:encode")
RUN = ("run", "sets", "-e", "static:?dim=64", "-e", "builtin:", "-e", "py:own.py:encode", "--resample", "10")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A folder with a corpus in files, and what one process makes of it."""
    folder = tmp_path_factory.mktemp("clusters")
    (folder / "own.py").write_text(OWN)
    sentences = list(Corpus.synthetic(900))
    for i in range(9):
        with (folder / f"news-{i}.conllu").open("w", encoding="utf-8") as file:
            write_conllu(sentences[i * 100 : i * 100 + 100], file)
    texts = "".join(f"{sentence.text}\n" for sentence in sentences)
    (folder / "raw.txt").write_text("".join(f"{texts}\nA row of {n} words .\n\n" for n in range(5)), "utf-8")
    assert sentprobe(*MAKE, "-o", "sets", cwd=folder).returncode == 0
    assert sentprobe(*ANNOTATE, "-o", "raw.conllu.gz", cwd=folder).returncode == 0
    audit = sentprobe("audit", "sets", "-t", "own.py", "-t", "passive", "--json", "-j", "1", cwd=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTPROBE_CACHE", str(folder / "cache"))
        assert sentprobe(*ENCODE, "-o", "vectors", "-j", "1", cwd=folder).returncode == 0
        # a cache of its own: the vectors that `encode` stored were computed in other batches, which may round otherwise
        patch.setenv("SENTPROBE_CACHE", str(folder / "run-cache"))
        assert sentprobe(*RUN, "-o", "run", "-j", "1", cwd=folder).returncode == 0
    return SimpleNamespace(folder=folder, audit=audit.stdout, run=Run.load(folder / "run"))


@pytest.fixture(scope="module", params=["dask", "ray"])
def there(request, tmp_path_factory):
    """A cluster of two nodes with a worker each."""
    if find_spec(request.param) is None:  # not imported: Ray reads its variables when it is
        pytest.skip("needs the extra cluster")
    yield from (_dask if request.param == "dask" else _ray)(tmp_path_factory.mktemp(request.param))


def _dask(folder):
    file, env = folder / "scheduler.json", {**os.environ, "PYTHONPATH": str(ROOT)}
    common = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1"]

    def start(*words):
        words = [sys.executable, "-m", "dask", *words, *common]
        return subprocess.Popen(words, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def mend():
        while len([worker for worker in workers if worker.poll() is None]) < 2:
            workers.append(start("worker", "--nthreads", "1", "--no-nanny"))
        client.wait_for_workers(2, timeout=PATIENCE)

    scheduler, workers = start("scheduler", "--port", "0"), []
    from distributed import Client

    until = time.monotonic() + PATIENCE
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.1)
    with Client(scheduler_file=str(file), timeout=PATIENCE, set_as_default=False) as client:
        yield SimpleNamespace(name=f"dask:{file}", env={}, mend=mend, remove=lambda: workers[-1].kill())
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def _ray(folder):
    # a token of their own, by the variables that Ray documents
    env = {
        "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "PYTHONPATH": str(ROOT),
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        import ray
        from ray.cluster_utils import Cluster

        node = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
        # a node that is gone is noticed within seconds; one that is slow to answer has ten, as by default
        soon = {"health_check_initial_delay_ms": 100, "health_check_period_ms": 300}
        head = {**node, "include_dashboard": False, "_system_config": soon}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        nodes = []

        def mend():
            if not nodes:
                nodes.append(cluster.add_node(**node))

        mend()
        ray.init(cluster.address, logging_level="CRITICAL", log_to_driver=False)
        yield SimpleNamespace(
            name=f"ray:{cluster.address}", env=env, mend=mend,
            remove=lambda: cluster.remove_node(nodes.pop(), allow_graceful=False),
        )  # fmt: skip
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def whole(there):
    """The same, with both of its nodes."""
    there.mend()
    return there


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def plain(folder):
    """The records of a run by cell, without what a clock decides, and versions; each cell once."""
    found = {}
    for line in (folder / "results.jsonl").read_text().splitlines():
        record = json.loads(line)["result"]
        assert record["key"] not in found
        found[record["key"]] = {name: value for name, value in record.items() if name not in TIMES}
    return found


def test_calls_are_made_there(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here").touch()
    with joined(whole.name, 0, reads=["here"], writes=[tmp_path / "store"]) as workers:
        assert workers == 2
        pids = set(map_in_workers(_pid, [(i,) for i in range(8)], workers))
        assert os.getpid() not in pids
        assert sorted(map_in_workers(pow, [(2, i) for i in range(20)], workers, in_order=False))[-1] == 2**19
        done = []
        left = merge_in_workers(pow, [(2, i) for i in range(30)], _sum, workers, done.append)
        assert sum(left) == 2**30 - 1
        assert len(left) <= 8
        assert done[-1] == 30
        with pytest.raises(CorpusError, match="x:3: got a; expected b"):
            list(map_in_workers(_fail, [(i,) for i in range(3)], workers))
    assert current_cluster() is None
    assert not list((tmp_path / "store").iterdir())


LOOK = """
import sys
from functools import partial
from tests.core import test_on_clusters as here

with here.joined(sys.argv[1], 0):
    answers = here.current_cluster().on_nodes(partial(here._survive, sys.argv[2]))
print(*sorted(set(answers.values())))
"""


def test_a_worker_that_dies_while_nodes_are_looked_at(whole, tmp_path):
    """In a process of its own: Ray 2.60 now and then aborts the driver of a task whose worker has died ("Tried to
    complete task that was not pending"), and pytest would end with it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **whole.env}
    for _ in range(3):
        (tmp_path / "die").touch()
        command = [sys.executable, "-c", LOOK, whole.name, str(tmp_path / "die")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != -signal.SIGABRT:
            break
    assert not (tmp_path / "die").exists()
    assert (done.returncode, done.stdout.split()) == (0, ["alive"]), done.stderr


def _survive(mark):
    with suppress(FileNotFoundError):
        Path(mark).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def _pid(_):
    time.sleep(0.05)
    assert Path("here").exists()
    return os.getpid()


def _sum(*numbers):
    return sum(numbers)


def _fail(_):
    raise CorpusError("x", 3, "a", "b")


def test_make_gives_the_same_though_a_worker_dies(whole, expected, tmp_path):
    mark = expected.folder / "die-in-propose"
    mark.touch()
    made = sentprobe(*MAKE, "-o", tmp_path / "sets", "--cluster", whole.name, cwd=expected.folder)
    assert made.returncode == 0, made.stderr
    assert not mark.exists()
    assert contents(tmp_path / "sets") == contents(expected.folder / "sets")


def test_annotate_gives_the_same_though_a_worker_dies(whole, expected, tmp_path):
    mark = expected.folder / "die-in-annotate"
    mark.touch()
    done = sentprobe(*ANNOTATE, "-o", tmp_path / "raw.conllu.gz", "--cluster", whole.name, cwd=expected.folder)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    before = (expected.folder / "raw.conllu.gz").read_bytes()
    assert len(before) > 10_000
    assert (tmp_path / "raw.conllu.gz").read_bytes() == before


def test_audit_gives_the_same_though_a_worker_dies(whole, expected):
    mark = expected.folder / "die-in-audit"
    mark.touch()
    audit = sentprobe(
        "audit", "sets", "-t", "own.py", "-t", "passive", "--json", "--cluster", whole.name, cwd=expected.folder
    )
    assert not mark.exists()
    assert audit.stdout == expected.audit


def test_encode_gives_the_same_though_a_worker_dies_and_workers_write_to_the_store(
    whole, expected, tmp_path, monkeypatch
):  # fmt: skip
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    out, mark = tmp_path / "vectors", expected.folder / "die-in-encode"
    mark.touch()
    done = sentprobe(*ENCODE, "-o", out, "--cluster", whole.name, cwd=expected.folder)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert sorted(path.name for path in out.iterdir()) == ["builtin", "py-own.py-encode"]
    assert contents(out) == contents(expected.folder / "vectors")
    shards = [path.name for path in (tmp_path / "store").rglob("*.shard")]
    assert len(shards) > 1
    assert all(f"-{os.getpid():x}-" not in name for name in shards)  # names have the process that wrote them
    again = sentprobe("encode", "sets", "-e", "builtin:", "--cluster", whole.name, cwd=expected.folder)
    assert re.search(r"builtin: +\d+ +0 ", again.stdout)


def test_a_text_that_crashes_the_annotator_costs_no_worker(whole, expected, tmp_path):
    lines = [f"A row of {n} words ." for n in range(600)]
    lines[250] = "A CRASH ."
    (tmp_path / "text.txt").write_text("\n".join(lines))
    words = ("annotate", tmp_path / "text.txt", "--with", "py:own.py", "--lines", "sentences")
    for out, more in (("here.conllu", ()), ("there.conllu", ("--cluster", whole.name))):
        done = sentprobe(*words, "-o", tmp_path / out, *more, cwd=expected.folder)
        assert done.returncode == 0, done.stderr
        assert "the annotator crashed (SIGSEGV)" in done.stderr
    assert (tmp_path / "here.conllu").read_bytes() == (tmp_path / "there.conllu").read_bytes()
    with joined(whole.name, 0) as workers:
        assert workers == 2


def test_run_gives_the_same_though_workers_die(whole, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    mark = expected.folder / "die-in-encode"
    mark.touch()
    done = sentprobe(*RUN, "-o", tmp_path / "run", "--cluster", whole.name, cwd=expected.folder)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert plain(tmp_path / "run") == plain(expected.folder / "run")
    assert same(Run.load(tmp_path / "run"), expected.run)


def test_a_run_resumes_after_its_driver_died_and_a_node_was_removed(whole, expected, tmp_path):
    out, words = tmp_path / "run", [sys.executable, "-m", "sentprobe", *RUN, "-o", tmp_path / "run", "--cluster"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SENTPROBE_CACHE": str(tmp_path / "cache"), **whole.env}
    first = subprocess.Popen([*words, whole.name], cwd=expected.folder, env=env, stderr=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE
    while len(_encoders(out)) < 1 and first.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    first.kill()
    first.wait()
    before = plain(out)
    assert _encoders(out)
    whole.remove()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
        done = sentprobe(*RUN, "-o", out, "--cluster", whole.name, cwd=expected.folder)
    assert done.returncode == 0, done.stderr
    assert plain(out) == plain(expected.folder / "run")
    assert before.items() <= plain(out).items()


def _encoders(folder):
    """The encoders that have results."""
    try:
        lines = (folder / "results.jsonl").read_text().splitlines()
        return {json.loads(line)["result"]["cell"]["encoder"] for line in lines} & {"static:?dim=64", "builtin:"}
    except (OSError, ValueError):
        return set()


# What is wrong is said before any work


def test_versions_that_differ(whole, monkeypatch):
    monkeypatch.setattr(agreement, "own_versions", lambda: {"sentprobe": "0.0"})
    with (
        pytest.raises(UsageError, match=r"the worker .* has sentprobe .*, and this command 0.0; expected the same"),
        joined(whole.name, 0),
    ):
        pass


def test_files_that_nodes_do_not_see(whole, monkeypatch, tmp_path):
    monkeypatch.setattr(agreement, "digest_of", lambda path, share: "0" * 32)
    with (
        pytest.raises(UsageError, match=r"the worker .* has no file gone.conllu: the nodes must share it"),
        joined(whole.name, 0, reads=["gone.conllu"]),
    ):
        pass
    (tmp_path / "a.conllu").touch()
    with (
        pytest.raises(UsageError, match=r"the worker .* has another file .*a.conllu"),
        joined(whole.name, 0, reads=[tmp_path]),
    ):
        pass
    with (
        pytest.raises(UsageError, match=rf"does not see .*: {tmp_path} is not shared.* SENTPROBE_CACHE.* --no-store"),
        joined(whole.name, 0, writes=[tmp_path]),
    ):
        pass


def test_a_worker_that_would_compute_something_else_refuses(whole, tmp_path):
    """As one that joins after the nodes were looked at."""
    (tmp_path / "a.conllu").write_text("one")
    with joined(whole.name, 0, reads=[tmp_path]) as workers:
        assert list(map_in_workers(pow, [(2, 3)], workers)) == [8]
        made = current_cluster()
        for other, said in (
            (replace(made.agreement, versions=(("sentprobe", "0.0 (1234)"),)), "and this command 0.0 \\(1234\\)"),
            (replace(made.agreement, files=((str(tmp_path / "a.conllu"), "0" * 32),)), "has another file"),
        ):
            core_cluster._current = replace(made, agreement=other)
            with pytest.raises(UsageError, match=said):
                list(map_in_workers(pow, [(2, i) for i in range(4)], workers))
            core_cluster._current = made
        assert list(map_in_workers(pow, [(2, 3)], workers)) == [8]


# Clusters that end


SLOW = """
import time

def encode(texts):
    time.sleep(0.05 * len(texts) ** 0.5)
    return [[len(text), text.count("e"), text.count("a"), 1.0] for text in texts]
"""


@pytest.fixture
def single(tmp_path):
    """A Dask cluster of one worker, of which others may be started; all that was started is ended."""
    if find_spec("distributed") is None:
        pytest.skip("needs the extra cluster")
    from distributed import Client

    file, started = tmp_path / "scheduler.json", []

    def start(*words, code=ROOT):
        words = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file), "--no-dashboard"]
        env = {**os.environ, "PYTHONPATH": str(code)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([*words, "--host", "127.0.0.1"], env=env, cwd=tmp_path, **quiet))
        return started[-1]

    worker = ("worker", "--nthreads", "1", "--no-nanny", "--death-timeout", "60")
    try:
        scheduler = start("scheduler", "--port", "0")
        start(*worker)
        until = time.monotonic() + PATIENCE
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        with Client(scheduler_file=str(file), timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
        yield SimpleNamespace(name=f"dask:{file}", scheduler=scheduler, add=partial(start, *worker), started=started)
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_worker_with_other_code_that_joins_later_refuses(single, tmp_path):
    shutil.copytree(ROOT / "sentprobe", tmp_path / "other" / "sentprobe", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other" / "sentprobe" / "stats" / "means.py").open("a") as changed:
        changed.write("# another number\n")
    words = [sys.executable, "-m", "sentprobe", "make", "--builtin", "300000", "-o", str(tmp_path / "p"), "--cluster"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    command = subprocess.Popen([*words, single.name], env=env, stderr=subprocess.PIPE, text=True)
    single.started.append(command)
    until = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("sentprobe-*/*-*")) and command.poll() is None and time.monotonic() < until:
        time.sleep(0.05)  # it has been checked, and works
    assert command.poll() is None
    single.add(code=tmp_path / "other")
    _, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1
    assert re.search(r"The worker .* of the cluster has sentprobe .*, and this command .*; expected the same", said)
    assert "It was given no work." in said


def test_a_scheduler_that_is_killed_is_named_and_results_are_kept(single, expected, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    until = time.monotonic() + PATIENCE
    encoders = [f"py:{tmp_path / 'slow.py'}?version={i}" for i in range(40)]
    words = ["run", "sets", *(w for name in encoders for w in ("-e", name)), "-o", str(tmp_path / "run")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SENTPROBE_CACHE": str(tmp_path / "cache")}
    command = subprocess.Popen(
        [sys.executable, "-m", "sentprobe", *words, "--no-store", "--cluster", single.name],
        cwd=expected.folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    single.started.append(command)
    while not _slow(tmp_path / "run") and command.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    single.scheduler.kill()
    _, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1, said
    assert "The cluster does not answer any more" in said or "Workers of the cluster were lost" in said
    assert "Traceback" not in said
    assert "bug" not in said
    assert _slow(tmp_path / "run")


def _slow(folder):
    """The results of the slow encoder."""
    with suppress(OSError, ValueError):
        lines = (folder / "results.jsonl").read_text().splitlines()
        return [line for line in lines if "slow.py" in json.loads(line)["result"]["cell"]["encoder"]]
    return []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="processes are looked for in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("is_started", [False, True], ids=["while it starts", "at work"])
def test_a_ray_of_ours_leaves_nothing_behind(number, code, is_started):
    if find_spec("ray") is None:
        pytest.skip("needs the extra cluster")
    folder = Path(tempfile.mkdtemp(prefix="r"))  # a short path: Ray has sockets in it
    try:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
        words = [sys.executable, "-m", "sentprobe", "make", "--builtin", "300000", "-o", str(folder / "p")]
        command = subprocess.Popen([*words, "--cluster", "ray"], env=env, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + PATIENCE
        sign = "sentprobe-*/*-*-*-*" if is_started else "sentprobe-*/session_*/logs/gcs_server.out"
        while not list(folder.glob(sign)) and command.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert users_of(str(folder))
        command.send_signal(number)
        _, said = command.communicate(timeout=PATIENCE)
        assert command.returncode == code, said
        assert "Traceback" not in said
        while (users_of(str(folder)) or list(folder.glob("sentprobe-*/session_*"))) and time.monotonic() < until:
            time.sleep(0.1)
        assert not users_of(str(folder))
        assert not list(folder.glob("sentprobe-*/session_*"))
    finally:
        command.kill()
        shutil.rmtree(folder, ignore_errors=True)
