"""What is wrong with --cluster is said at once. What a cluster does is in test_on_clusters.py."""

import os
import socket
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from sentprobe.core import agreement
from sentprobe.core import cluster as core_cluster
from sentprobe.core.cluster import call_on_worker, current_cluster, joined
from sentprobe.errors import NotInstalled, UsageError
from tests.command_line import sentprobe


def refused(typed, jobs=0, **options):
    with pytest.raises(UsageError) as caught, joined(typed, jobs, **options):
        raise AssertionError("it was joined")
    assert current_cluster() is None
    return str(caught.value)


def test_without_a_cluster_jobs_are_processes_of_this_machine():
    with joined(None, 3) as workers:
        assert workers == 3
        assert current_cluster() is None


def test_an_unknown_kind():
    assert refused("rey:1.2.3.4:5") == (
        "--cluster rey:1.2.3.4:5: there is no kind of cluster 'rey'; expected ray or dask. Did you mean ray?"
    )


def test_jobs_and_a_cluster():
    assert "leave one out" in refused("dask", jobs=2)


@pytest.mark.parametrize(("kind", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_a_package_that_is_missing(monkeypatch, kind, package):
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: None if name == package else name)
    with pytest.raises(NotInstalled, match=rf"needs {package}.*: pip install .*\[cluster\]"), joined(kind, 0):
        pass


@pytest.fixture
def nobody():
    """An address at which nobody listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{reserved.getsockname()[1]}"


@pytest.mark.parametrize("kind", ["ray", "dask"])
def test_a_cluster_that_does_not_answer(monkeypatch, kind, nobody, tmp_path):
    if find_spec(kind) is None:
        pytest.skip("needs the extra cluster")
    monkeypatch.setattr(f"sentprobe.core.{kind}_cluster.CONNECT_SECONDS", 0.3)
    typed = f"{kind}:tcp://{nobody}" if kind == "dask" else f"{kind}:{nobody}"
    said = refused(typed)
    assert said.startswith(f"--cluster {typed}: the cluster does not answer: ")
    assert f"`{kind} " in said
    done = sentprobe("make", "--builtin", "50", "-o", "sets", "--cluster", typed, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"sentprobe: --cluster {typed}: the cluster does not answer: ")
    assert not (tmp_path / "sets").exists() or not list((tmp_path / "sets").iterdir())


def test_a_cluster_that_cannot_be_started(monkeypatch):
    def join(address, stack):
        raise RuntimeError("it took too long.\nAnd so on.")

    monkeypatch.setattr(core_cluster, "_join", lambda kind: join)
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: name)
    assert refused("ray") == (
        "--cluster ray: the cluster cannot be started: RuntimeError: it took too long. Is this machine too busy? "
        "--jobs needs no cluster."
    )


def test_a_scheduler_file_that_is_missing():
    pytest.importorskip("distributed", reason="needs the extra cluster")
    assert "there is no such file; expected that of a Dask scheduler" in refused("dask:nothing.json")


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    there = core_cluster.Cluster("a test", 1, lambda call: {"here": call()}, "sequential")
    monkeypatch.setattr(core_cluster, "_join", lambda kind: lambda address, stack: there)
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: name)
    assert "cannot be written to" in refused("ray", writes=[tmp_path / "file" / "store"])


def test_a_worker_that_cannot_import_sentprobe_and_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: name)

    def answers(found):
        there = core_cluster.Cluster("a test", len(found), lambda call: found, "sequential")
        monkeypatch.setattr(core_cluster, "_join", lambda kind: lambda address, stack: there)

    answers({"node-7": ModuleNotFoundError("No module named 'sentprobe'")})
    assert "the worker node-7 cannot run sentprobe: ModuleNotFoundError: No module named 'sentprobe'" in refused(
        "ray:x"
    )
    answers({})
    assert "has no workers" in refused("dask:x")


@pytest.mark.parametrize("there", ["1.2.3", "not installed"])
def test_a_worker_with_another_version_of_a_package(elsewhere, there):
    own = agreement.own_versions()
    elsewhere(own_versions=lambda: {**own, "scipy": there})
    assert f"the worker node-7 has scipy {there}, and this command {own['scipy']}; expected the same" in refused("ray")


@pytest.fixture
def elsewhere(monkeypatch):
    """A cluster of one node, on which functions of ``sentprobe.core.agreement`` find something else."""
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: name)

    def made(**functions):
        def on_nodes(call):
            with monkeypatch.context() as patch:
                for name, function in functions.items():
                    patch.setattr(agreement, name, function)
                return {"node-7": call()}

        cluster = core_cluster.Cluster("a test", 1, on_nodes, "sequential")
        monkeypatch.setattr(core_cluster, "_join", lambda kind: lambda address, stack: cluster)

    return made


def test_files_of_the_same_size_with_other_content(elsewhere, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sets" / "a"
    folder.mkdir(parents=True)
    (tmp_path / "a.conllu").write_text("one\n")
    (folder / "rows").write_text("one\n")
    for changed in (tmp_path / "a.conllu", folder / "rows"):

        def other(path, share, changed=changed):
            return "0" * 32 if Path(path).resolve() == changed else agreement_digest(path, share)

        elsewhere(digest_of=other)
        said = refused("ray", reads=["a.conllu", "sets"])
        assert f"the worker node-7 has another file {os.path.relpath(changed)}: the nodes must share it" in said
    elsewhere(digest_of=lambda path, share: None)
    assert "the worker node-7 has no file a.conllu" in refused("ray", reads=["a.conllu"])
    elsewhere()
    with joined("ray", 0, reads=["a.conllu", "sets", "s3://bucket/elsewhere"]):
        assert [path for path, _ in current_cluster().agreement.files] == ["a.conllu", "sets/a/rows"]


agreement_digest = agreement.digest_of


def test_a_store_that_is_not_shared(elsewhere, tmp_path):
    elsewhere(digest_of=lambda path, share: None)
    said = refused("ray", writes=[tmp_path / "store"])
    assert "does not see" in said
    assert "SENTPROBE_CACHE" in said
    assert "--no-store" in said
    elsewhere()
    with joined("ray", 0, writes=[tmp_path / "store"]):
        assert list((tmp_path / "store").iterdir())  # also for workers that join later
    assert not list((tmp_path / "store").iterdir())


def test_digests_are_of_contents(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    first = agreement.digest_of(str(path))
    assert agreement.digest_of(str(path)) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert agreement.digest_of(str(path)) != first
    assert agreement.digest_of(str(tmp_path / "none")) is None
    assert agreement.digest_of(str(tmp_path)) is None


def test_large_files_are_compared_in_blocks_all_over_them(tmp_path, monkeypatch):
    monkeypatch.setattr(agreement, "BLOCK_BYTES", 4)
    monkeypatch.setattr(agreement, "MAX_HASHED_BYTES", 100)
    path = tmp_path / "a"
    path.write_bytes(bytes(1000))
    made = agreement.WorkerAgreement.of([path])
    assert made.share == 0.1
    assert made.disagreement() == ""
    for place, is_seen in ((0, True), (41, True), (7, False), (999, True)):
        content = bytearray(1000)
        content[place] = 1
        path.write_bytes(content)
        os.utime(path, ns=(place, place))
        assert bool(made.disagreement()) is is_seen


def test_a_worker_refuses_calls_of_a_command_with_other_code_or_files(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("one")
    made = agreement.WorkerAgreement.of([path])
    assert call_on_worker(made, None, pow, (2, 3)) == 8
    other = replace(made, versions=(("sentprobe", "0.0"), *made.versions[2:]))
    said = r"The worker .* \(process \d+\) of the cluster has sentprobe .*, and this command 0.0"
    with pytest.raises(UsageError, match=said):
        call_on_worker(other, None, pow, (2, 3))
    monkeypatch.setattr(agreement, "RECHECK_SECONDS", 0.0)
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    with pytest.raises(UsageError, match=r"has another file .*a: the nodes must share it"):
        call_on_worker(made, None, pow, (2, 3))
    with pytest.raises(UsageError, match="not installed"):
        agreement.require(replace(made, versions=(("a-plugin", "1"),)))


def test_calls_are_made_in_the_working_directory_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    assert call_on_worker(None, str(tmp_path / "below"), lambda: __import__("os").getcwd(), ()) == str(
        tmp_path / "below"
    )
    assert call_on_worker(None, str(tmp_path / "gone"), lambda n: n + 1, (1,)) == 2
