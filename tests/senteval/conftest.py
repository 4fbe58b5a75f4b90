import pytest

from tests.senteval import sets


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """SentEval's folder of data with our sentences, and the rows of every set."""
    root = tmp_path_factory.mktemp("senteval")
    return root, sets.write(root)


@pytest.fixture(scope="session")
def data(written):
    return str(written[0])


@pytest.fixture(scope="session")
def rows(written):
    return written[1]
