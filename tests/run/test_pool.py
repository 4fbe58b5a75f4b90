"""Jobs in threads: the largest first, the next encoder meanwhile, and nothing lost."""

import sys
import threading

import numpy as np
import pytest

from sentprobe.data.splits import splits_of
from sentprobe.results.result import Cell
from sentprobe.run import Run, evaluate, pool, variants
from sentprobe.run.job import FitJob, TextIndex, Vectors
from tests.run.sets import Knowing, dataset, same

PATIENCE = 60
"""Seconds that a busy machine may take; nothing is said about speed."""
PLAIN = {"baselines": (), "resample": 0}


class Parallel(Knowing):
    """An encoder that may encode while probes are fitted."""

    parallel = True


def _job(rows, dimensions, classes, encoder="e"):
    parts = splits_of(dataset(f"own/{rows}", n=(rows, 20, 20), classes=classes), None)
    cell = Cell(task=parts.task, version=1, dataset=parts.name, data=parts.digest, encoder=encoder)
    vectors = Vectors([(np.zeros((1, dimensions), np.float32), TextIndex(["a"]))])
    return FitJob(parts, [cell], None, vectors, {}, 0.0)


def test_the_largest_jobs_are_begun_first(monkeypatch):
    begun, gate, last = [], threading.Event(), threading.Event()
    first, second = _job(2000, 4, 2), _job(1900, 4, 2)

    def outcome_of(job):
        begun.append(job)
        if job is first:
            gate.wait(PATIENCE)
        if job is second:  # one thread waits for all the others, so that they are begun one after the other
            last.wait(PATIENCE)
        return []

    monkeypatch.setattr(pool, "outcome_of", outcome_of)
    jobs = pool.JobPool(2)
    jobs.submit([first, second])
    few, many, wide = _job(100, 4, 2), _job(100, 4, 5), _job(90, 9, 2)  # 400, 2000 and 810 by rows × d × outputs
    jobs.submit([few, many, wide])
    gate.set()
    found = [job for job, _ in jobs.outcomes(lambda: jobs.unfinished["e"] == 1)]
    last.set()
    found += [job for job, _ in jobs.outcomes(lambda: False)]
    assert begun[2:] == [many, wide, few]
    assert found == [first, many, wide, few, second]
    assert (jobs.running, jobs.unfinished.total()) == ({}, 0)
    jobs.close()


def test_one_job_computes_in_order_and_when_it_is_asked(monkeypatch):
    begun = []
    monkeypatch.setattr(pool, "outcome_of", lambda job: begun.append(threading.current_thread()))
    jobs = pool.JobPool(1)
    small, large = _job(50, 2, 2), _job(100, 2, 2)
    jobs.submit([small, large])
    assert begun == []
    assert [job for job, _ in jobs.outcomes(lambda: False)] == [small, large]
    assert set(begun) == {threading.current_thread()}


def test_an_encoder_encodes_while_the_probes_of_another_are_fitted(tmp_path, monkeypatch):
    fit, encoding = variants.probe_cells, threading.Event()

    class Second(Parallel):
        def __call__(self, texts):
            encoding.set()
            return super().__call__(texts)

    def patient(job):
        assert encoding.wait(PATIENCE), "the second encoder was not called"
        return fit(job)

    sets = [dataset(f"own/{i}", n=(100 + i, 40, 60)) for i in range(2)]
    encoders = {"one": Knowing(noise=1.0), "two": Second(name="two", noise=1.0)}
    one = evaluate(encoders, sets, tmp_path / "one", **PLAIN)
    encoding.clear()
    monkeypatch.setattr(variants, "probe_cells", patient)
    assert same(one, evaluate(encoders, sets, tmp_path / "two", jobs=2, **PLAIN))


@pytest.mark.parametrize(("kind", "most", "expected"), [(Knowing, 10**6, 0), (Parallel, 0, 0), (Parallel, 10**6, 2)])
def test_an_encoder_waits_for_probes_with_large_vectors(tmp_path, monkeypatch, kind, most, expected):
    pools, seen, fit, all_encoded = [], [], variants.probe_cells, threading.Event()

    class Watched(pool.JobPool):
        def __init__(self, workers):
            super().__init__(workers)
            pools.append(self)

    class Encoder(kind):
        def __call__(self, texts):
            seen.append((self.identity.name, len(pools[0].unfinished), pools[0].vectors_bytes))
            if self.identity.name == "2":
                all_encoded.set()
            return super().__call__(texts)

    def patient(job):
        assert not expected or all_encoded.wait(PATIENCE)
        return fit(job)

    monkeypatch.setattr("sentprobe.run.pool.JobPool", Watched)
    monkeypatch.setattr("sentprobe.run.encoder.MAX_UNFINISHED_BYTES", most)
    monkeypatch.setattr(variants, "probe_cells", patient)
    encoders = {name: Encoder(name=name, noise=1.0) for name in "012"}
    assert len(evaluate(encoders, [dataset()], tmp_path / "run", jobs=2, **PLAIN)) == 3
    texts = len({row.text for _, row in dataset()})
    # vectors of two classes and a length, four bytes each; the second call of an encoder is for its diagnosis
    assert next(s for s in seen if s[0] == "2") == ("2", expected, expected * texts * 3 * 4)
    assert pools[0].vectors_bytes == 0


def test_what_is_finished_when_the_next_encoder_is_interrupted_is_saved(tmp_path, monkeypatch):
    finished = threading.Event()

    class Interrupted(Parallel):
        def __call__(self, texts):
            assert finished.wait(PATIENCE)
            raise KeyboardInterrupt

    class Queue(pool.queue.SimpleQueue):
        def put(self, item):
            super().put(item)
            finished.set()

    monkeypatch.setattr(pool.queue, "SimpleQueue", Queue)
    encoders = {"one": Knowing(noise=1.0), "two": Interrupted(name="two")}
    with pytest.raises(KeyboardInterrupt):
        evaluate(encoders, [dataset()], tmp_path / "run", jobs=2, **PLAIN)
    assert [r.cell.encoder for r in Run.load(tmp_path / "run")] == ["one"]


def test_an_interrupt_inside_a_unit_is_one_of_the_run(tmp_path, monkeypatch):
    def interrupted(job):
        raise KeyboardInterrupt

    monkeypatch.setattr(variants, "probe_cells", interrupted)
    for jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            evaluate({"k": Knowing()}, [dataset()], tmp_path / str(jobs), jobs=jobs, **PLAIN)
        assert Run.load(tmp_path / str(jobs)).failures == ()


def test_closing_while_threads_take_units_ends(monkeypatch):
    monkeypatch.setattr(pool, "outcome_of", lambda job: [])
    job, before = _job(30, 2, 2), sys.getswitchinterval()

    def open_and_close():
        for _ in range(40):
            jobs = pool.JobPool(2)
            jobs.submit([job] * 300)
            jobs.close()

    sys.setswitchinterval(1e-5)
    try:
        thread = threading.Thread(target=open_and_close, daemon=True)
        thread.start()
        thread.join(PATIENCE)
    finally:
        sys.setswitchinterval(before)
    assert not thread.is_alive()
