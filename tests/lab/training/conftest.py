import signal

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Threads that wait for each other make tiny networks slow where other tests run at the same time."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
    torch.set_num_threads(before)


@pytest.fixture
def interruptible():
    """Ctrl-C as in a terminal: shells have background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
