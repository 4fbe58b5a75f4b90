"""Presets have the sizes that the papers print, and about the parameters where the papers are consistent."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from sentprobe.lab.training import OBJECTIVES, PRESETS
from sentprobe.lab.training.request import make_request

BY_PAPER = {
    # tables 3.6 of Conneau's thesis; section 3 of Conneau et al. 2018; table 2 of X-Probe; section 4 of Adi et al.
    "conneau2017": ["lstm", "gru", "bigru-last", "bilstm-mean", "bilstm-max", "inner-attention", "hconvnet"],
    "conneau2018": ["bilstm-last", "bilstm-max", "bilstm-last-4m", "bilstm-max-4m", "gated-convnet"],
    "xprobe2019": ["rnn-max", "rnn-last", "attention-max", "attention-last", "cnn-max", "cnn-mean"],
    "adi2017": [f"{kind}-{size}" for kind in ("ed", "cbow") for size in (100, 300, 500, 750, 1000)],
    "krasnowska2019": ["sent2vec"],
    "xnli2018": ["x-cbow", "x-bilstm-last", "x-bilstm-max"],
    "xlm2019": ["12-layers", "6-layers"],
}
every_preset = pytest.mark.parametrize("name", [f"{paper}/{own}" for paper, names in BY_PAPER.items() for own in names])


def network(name):
    """The network of a preset, with shapes but without weights."""
    torch = pytest.importorskip("torch")
    from sentprobe.core.arguments import resolve_settings
    from sentprobe.lab.networks import ARCHITECTURES

    preset = PRESETS[name]
    architecture = ARCHITECTURES.get(preset.encoder)
    settings = resolve_settings(architecture.settings, preset.settings, name)
    with torch.device("meta"):
        return architecture.build(preset.width, settings)


def parameters(name, part=""):
    return sum(p.numel() for key, p in network(name).named_parameters() if part in key)


def test_exactly_these_presets_are_built_in():
    assert list(PRESETS) == [f"{paper}/{name}" for paper, names in BY_PAPER.items() for name in names]


def test_presets_need_no_torch():
    code = "import sys; from sentprobe.lab.training import PRESETS; print(len(PRESETS), 'torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == [str(len(PRESETS)), "False"]


@every_preset
def test_a_preset_builds_at_the_size_that_its_paper_prints(name):
    preset = PRESETS[name]
    assert preset.paper
    assert preset.objective
    assert {*preset.objective, *preset.objective_training} <= {*OBJECTIVES}
    assert network(name).size == (preset.size or network(name).size)
    with pytest.raises(FrozenInstanceError):
        preset.size = 1


def test_batches_and_codes_of_xlm():
    # Lample and Conneau 2019, section 4.2 and 5.1: 64 streams of 256 tokens; 80k codes; 2,000 tokens for translation
    pytest.importorskip("torch")
    for objective, tokens in (("mlm", 64 * 256), ("clm", 64 * 256), ("tlm", 4000), ("mt", 2000)):
        found = make_request(objective, preset="xlm2019/12-layers")
        assert found.objective_settings["tokens"] == tokens
        assert found.objective_settings["codes"] == (8000 if objective == "mt" else 80_000)
        assert (found.options.lr, found.options.warmup) == (1e-4, 4000)
    tuned = make_request("xnli", preset="xlm2019/12-layers").options
    assert (tuned.lr, tuned.warmup, tuned.batch) == (2e-5, 0, 16)


def test_sizes_of_table_3_6():
    # thesis, table 3.6, column "dim"
    sizes = {name.partition("/")[2]: PRESETS[name].size for name in PRESETS if name.startswith("conneau2017/")}
    assert sizes == {
        "lstm": 2048, "gru": 4096, "bigru-last": 4096, "bilstm-mean": 4096, "bilstm-max": 4096,
        "inner-attention": 4096, "hconvnet": 4096,
    }  # fmt: skip


def test_the_gated_convnet_has_about_twelve_million_parameters():
    # Conneau et al. 2018, section 3.3: "about 12M"; 8 layers × 512 inputs × (2 × 512) outputs × kernel 3
    weights = sum(p.numel() for p in network("conneau2018/gated-convnet").convolutions.parameters() if p.dim() == 3)
    assert weights == 8 * 512 * 1024 * 3 == 12_582_912
    # with biases, the projection of 300-d words, and 256 positions
    assert parameters("conneau2018/gated-convnet") == weights + 8 * 1024 + 301 * 512 + 256 * 512
    assert parameters("conneau2018/gated-convnet") == pytest.approx(12e6, rel=0.08)


@pytest.mark.parametrize("pool", ["last", "max"])
def test_the_bilstm_has_about_four_million_parameters_with_256_units_per_direction(pool):
    # Conneau et al. 2018, section 3.3: "512 hidden units", "2 layers", "about 4M", and inputs of 1024 dimensions
    small, large = f"conneau2018/bilstm-{pool}-4m", f"conneau2018/bilstm-{pool}"
    assert PRESETS[small].parameters == PRESETS[large].parameters == 4_000_000
    assert parameters(small) == pytest.approx(4e6, rel=0.06)
    assert network(small).size == 512
    # 512 per direction, as in X-Probe, on words of 300 dimensions: more than twice what the paper says
    assert parameters(large) == pytest.approx(9.63e6, rel=0.001)
    assert network(large).size == 1024
    # weights of an LSTM with h units on i inputs, two directions, torch's two biases
    two_layers = [sum(2 * 4 * h * (i + h + 2) for i in (first, 2 * h)) for first, h in ((1024, 256), (300, 512))]
    assert two_layers == [parameters(small), parameters(large)]


def test_the_cnn_of_x_probe_is_not_ten_times_smaller():
    # The paper says "roughly ten times fewer parameters" than its other encoders. At the sizes of its table 2, the CNN
    # has 800 × 300 × (3 + 4 + 5) = 2.88M weights in filters and 2400 × 1024 = 2.46M in the projection: 1.8 times fewer.
    cnn = parameters("xprobe2019/cnn-max")
    assert cnn == 800 * (300 * 12 + 3) + 2401 * 1024
    for other in ("rnn-max", "rnn-last", "attention-max", "attention-last"):
        assert parameters(f"xprobe2019/{other}") / cnn == pytest.approx(1.8, abs=0.05)
    # filters alone, without the projection, are 3.3 times smaller
    assert parameters("xprobe2019/rnn-max") / parameters("xprobe2019/cnn-max", "convolutions") == pytest.approx(
        3.3, abs=0.05
    )


def test_training_is_what_the_papers_print():
    infersent = PRESETS["conneau2017/bilstm-max"]
    printed = {"optimiser": "sgd", "lr": 0.1, "decay": 0.99, "shrink": 5.0, "min_lr": 1e-5, "batch": 64}
    assert printed.items() <= infersent.training.items()
    assert infersent.objective["nli"] == {"head": 512}
    xprobe = PRESETS["xprobe2019/attention-max"]
    assert {"optimiser": "adam", "lr": 1e-3, "batch": 10}.items() <= xprobe.training.items()
    assert {"hidden": 512, "layers": 2, "dropout": 0.1, "heads": 60, "mlp": 150}.items() <= xprobe.settings.items()
    adi = PRESETS["adi2017/ed-750"]
    printed = {"optimiser": "adagrad", "lr": 0.01, "batch": 32, "patience": 5, "clip": 5.0}
    assert printed.items() <= adi.training.items()
    assert adi.settings == {"hidden": 750, "layers": 1, "dropout": 0.1}
    assert adi.width == 750
    assert PRESETS["conneau2018/gated-convnet"].training["momentum"] > 0
    assert PRESETS["conneau2018/bilstm-max"].training["optimiser"] == "adam"
    one_layer = {"head_layers": 1, "nonlinear": True}
    assert PRESETS["conneau2018/bilstm-max"].objective["nli"] == {"head": 100, **one_layer}
    assert PRESETS["xnli2018/x-bilstm-max"].objective["nli"] == {"head": 128, **one_layer, "head_dropout": 0.1}


@every_preset
def test_settings_and_options_exist(name):
    pytest.importorskip("torch")
    from sentprobe.lab.training.request import TrainingRequest, make_request
    from sentprobe.lab.training.schedule import TrainingOptions

    preset = PRESETS[name]
    assert set(preset.inputs) <= set(TrainingRequest.__dataclass_fields__)
    TrainingOptions().with_values(dict(preset.training), name)
    for objective in set(preset.objective) & set(OBJECTIVES):
        request = make_request(objective, preset=name)
        training = {**preset.training, **preset.objective_training.get(objective, {})}
        assert preset.settings.items() <= request.encoder_settings.items()
        assert preset.objective[objective].items() <= request.objective_settings.items()
        assert all(getattr(request.options, key) == value for key, value in training.items())


def test_no_objective_has_a_setting_of_an_architecture():
    pytest.importorskip("torch")
    from sentprobe.lab.networks import ARCHITECTURES

    for objective in OBJECTIVES:
        for architecture in ARCHITECTURES:
            assert not set(OBJECTIVES[objective].settings) & set(ARCHITECTURES[architecture].settings)


@every_preset
def test_training_is_complete_for_its_optimiser(name):
    # an objective's own decay or stopping must not mix with another optimiser
    training = PRESETS[name].training
    if not {"words", "ngrams"} & set(PRESETS[name].objective):  # which change vectors by themselves
        assert {"optimiser", "lr", "decay", "shrink", "min_lr", "clip", "clip_lr"} <= set(training)
