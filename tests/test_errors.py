import pytest

from sentprobe import errors


def test_the_tree_is_as_drawn():
    drawn = {
        "UsageError": "SentProbeError",
        "DataError": "SentProbeError",
        "CorpusError": "DataError",
        "TooFewError": "DataError",
        "EncoderError": "SentProbeError",
        "ShapeError": "EncoderError",
        "NotInstalled": "EncoderError",
        "Offline": "EncoderError",
        "AnnotatorError": "SentProbeError",
        "RunError": "SentProbeError",
    }
    found = {c.__name__: c.__base__.__name__ for c in vars(errors).values() if isinstance(c, type)}
    assert found.pop("SentProbeWarning") == "UserWarning"
    assert found.pop("CorruptionWarning") == "SentProbeWarning"
    assert found.pop("FailureWarning") == "SentProbeWarning"
    assert found.pop("HardExit") == "SystemExit"
    assert found == drawn | {"SentProbeError": "Exception"}
    for name in drawn:
        assert name in errors.__doc__


def test_a_corpus_error_names_its_place_and_survives_pickling():
    import pickle  # workers send errors back this way

    error = errors.CorpusError("a.conllu", 7, "9 columns", "10")
    assert str(error) == "a.conllu:7: got 9 columns; expected 10"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(errors.DataError):
        raise error
