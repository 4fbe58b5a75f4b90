import pytest

from sentprobe.lab.training.train import train
from tests.lab.training.mt.tiny import request


@pytest.fixture(scope="package")
def supervised(tmp_path_factory):
    """A model of both directions, and the request that it was trained with."""
    path = tmp_path_factory.mktemp("mt")
    found = request(path)
    return train(found, path / "model"), found
