"""Trained encoders on numpy: the same vectors, layers and shares as torch's, alone and in any batch, without torch."""

import json
import subprocess
import sys

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.errors import DataError, NotInstalled, UsageError
from sentprobe.lab.networks.inference_numpy import FORMS
from sentprobe.testing import check_encoder
from tests.lab.networks.folders import WORDS, one_thread, sealed, write_folder

pytest.importorskip("torch")
TEXTS = ["the river was very high after the rain .", "she never drinks cold milk", "boats", "", "zzz", "a dog " * 40]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("numpy")
    with one_thread():
        yield {
            name: write_folder(place / name, 1, architecture=name, settings=settings, **more)
            for name, settings, more in [
                *((name, {"layers": 2 if name[-1] == "t" else 1}, {}) for name in FORMS if "bow" not in name),
                *((name, {}, {}) for name in FORMS if "bow" in name and name != "bow-mean"),
                ("bow-mean", {}, {"frozen": False, "projection": 5}),
                ("cnn-max", {"kernels": "2-3", "channels": 4, "project": 4}, {}),
            ]
        }


def both(folder, options=""):
    return (load(f"trained:{folder.path}?backend={backend}{options}") for backend in ("torch", "numpy"))


@pytest.mark.parametrize("name", FORMS)
def test_vectors_are_those_of_torch(folders, name):
    rng = np.random.default_rng(3)
    texts = TEXTS + [" ".join(rng.choice(WORDS[:-2], size=n)) for n in rng.integers(1, 50, size=90)]
    for options in ("", "&layer=-1&pool=max", "&layer=0", "&layer=*&pool=last"):
        torch_one, numpy_one = both(folders[name], options)
        assert torch_one.identity == numpy_one.identity
        assert (torch_one.width, torch_one.layers) == (numpy_one.width, numpy_one.layers)
        expected, found = torch_one(texts), numpy_one(texts)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-5, rtol=2e-6)
        np.testing.assert_allclose(numpy_one(texts[5:6]), expected[..., 5:6, :], atol=1e-5, rtol=2e-6)
        np.testing.assert_allclose(numpy_one.words(["boats", "zzz"]), torch_one.words(["boats", "zzz"]), atol=1e-6)


def test_it_follows_the_rules_of_encoders(folders):
    check_encoder(load(f"trained:{folders['bilstm-max'].path}?backend=numpy"))


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.pools_max])
def test_the_words_that_are_selected_are_those_of_torch(folders, name):
    expected, found = (each.selection(TEXTS[:5]) for each in both(folders[name]))
    assert [[word for word, _ in text] for text in found] == [[word for word, _ in text] for text in expected]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose([share for _, share in ours], [share for _, share in theirs], atol=1e-6)
        assert sum(share for _, share in ours) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", ["bilstm-max", "gru", "bow-mean", "bow-weighted"])
def test_untrained_weights_have_the_distributions_of_torch(folders, name):
    """The same spread, other numbers; and the same numbers again for the same seed."""
    texts = [" ".join(WORDS[i : i + 9]) for i in range(25)]
    spreads = [
        np.mean([load(f"trained:{folders[name].path}?random={seed}&backend={backend}")(texts).std(0).mean()
                 for seed in range(12)])
        for backend in ("torch", "numpy")
    ]  # fmt: skip
    assert spreads[1] == pytest.approx(spreads[0], rel=0.2)
    one, again, other = (load(f"trained:{folders[name].path}?random={s}&backend=numpy") for s in (1, 1, 2))
    assert one(texts).tobytes() == again(texts).tobytes()
    assert one.identity == again.identity != other.identity
    assert dict(one.identity.facts)["drawn_by"] == "numpy PCG64"
    assert np.abs(one(texts) - other(texts)).max() > 0.01


def test_half_precision_weights_are_those_that_are_stored(folders, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save

    folder = write_folder(tmp_path / "half", 1)
    file = folder.path / "epoch-001" / "model.safetensors"
    with safe_open(file, "numpy") as opened:
        about = opened.metadata()
    half = save({name: value.astype(np.float16) for name, value in load_file(file).items()}, about)
    with folder.job.writing():
        folder.job.write({"epoch-001/model.safetensors": half}, {"epoch": 1, "step": 10})
    torch_one, numpy_one = both(folder)
    np.testing.assert_allclose(numpy_one(TEXTS), torch_one(TEXTS), atol=1e-5)


def test_without_torch_numpy_computes_and_other_architectures_say_so(folders, monkeypatch):
    expected = load(f"trained:{folders['lstm'].path}")(TEXTS)
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_allclose(load(f"trained:{folders['lstm'].path}")(TEXTS), expected, atol=1e-5, rtol=2e-6)
    with pytest.raises(NotInstalled, match=r"needs torch for cnn-max; .*bow-mean.*pip install .*\[train\]'$"):
        load(f"trained:{folders['cnn-max'].path}")
    for options in ("?backend=torch", "?device=cpu"):
        with pytest.raises(NotInstalled, match=r"^trained: needs torch, .*pip install .*\[train\]'$"):
            load(f"trained:{folders['lstm'].path}{options}")


def test_torch_is_not_imported_for_numpy(folders):
    name = f"trained:{folders['lstm'].path}?backend=numpy"
    code = f"import sys; from sentprobe.encoders import load\nload({name!r})(['boats'])\nprint('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "False\n"


def test_options_and_damage_are_named(folders, tmp_path):
    folder = write_folder(tmp_path / "damaged", 1, architecture="lstm")
    with pytest.raises(UsageError, match="numpy computes on the CPU only"):
        load(f"trained:{folder.path}?backend=numpy&device=cpu")
    with pytest.raises(UsageError, match="expected torch or numpy"):
        load(f"trained:{folder.path}?backend=jax")
    config = json.loads((folder.path / "config.json").read_text())
    config["network"]["settings"]["hidden"] = 9
    sealed(folder.path, config=config)
    with pytest.raises(DataError, match=r"weight_ih_l0 has shape \(32, 6\) and type float32, expected \(36, 6\)"):
        load(f"trained:{folder.path}?backend=numpy")
    del config["network"]["settings"]["hidden"]
    sealed(folder.path, config=config)
    with pytest.raises(DataError, match="cannot be built: KeyError"):
        load(f"trained:{folder.path}?backend=numpy")
