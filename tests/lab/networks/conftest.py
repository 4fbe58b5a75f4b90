import pytest


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Networks as small as those of these tests wait for threads longer than they compute."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
