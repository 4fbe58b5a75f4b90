"""What is wrong with --cluster is said at once. What a cluster does is in test_on_clusters.py."""

import socket
from importlib.util import find_spec

import pytest

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
def test_a_worker_with_another_version_of_a_package(monkeypatch, there):
    own = core_cluster._installed_version

    def on_nodes(call):
        with monkeypatch.context() as patch:
            patch.setattr(core_cluster, "_installed_version", lambda name: there if name == "scipy" else own(name))
            return {"node-7": call()}

    cluster = core_cluster.Cluster("a test", 1, on_nodes, "sequential")
    monkeypatch.setattr(core_cluster, "_join", lambda kind: lambda address, stack: cluster)
    monkeypatch.setattr(core_cluster, "find_spec", lambda name: name)
    assert f"the worker node-7 has scipy {there}, and this process {own('scipy')}; expected the same" in refused("ray")


def test_calls_are_made_in_the_working_directory_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    assert call_on_worker(str(tmp_path / "below"), lambda: __import__("os").getcwd(), ()) == str(tmp_path / "below")
    assert call_on_worker(str(tmp_path / "gone"), lambda n: n + 1, (1,)) == 2
