"""docs/probes.md says of every built-in probe, kind and setting what the objects say."""

from dataclasses import fields
from pathlib import Path

import pytest

from sentprobe.cli import app
from sentprobe.core.plugins import part_modules
from sentprobe.probes import Probe
from sentprobe.probes.kind import COMMON_SETTINGS, PROBE_KINDS
from sentprobe.probes.probe import presets

PAGE = (Path(__file__).parent.parent.parent / "docs/probes.md").read_text("utf-8")
BUILT_IN = list(part_modules("sentprobe.probes.kinds"))
DEFAULT = "linear"


def table(heading):
    """The rows of the table that has this heading."""
    lines = PAGE[PAGE.index(heading) :].splitlines()[2:]
    return [line for line in lines[: lines.index("")] if line.startswith("|")]


def test_every_preset_has_its_row_and_there_are_no_others():
    expected = []
    for name, (preset, probe) in presets().items():
        if probe.kind in BUILT_IN:
            default = " (default)" if name == DEFAULT else ""
            chosen = f" {preset.chosen_on_dev}" if preset.chosen_on_dev else ""
            expected.append(f"| `{name}`{default} | {preset.summary} |{chosen} |")
    assert table("| name | what | chosen on dev |") == expected


def test_every_kind_has_its_row_and_there_are_no_others():
    expected = [
        f"| `{kind.name}` | {kind.summary} | {', '.join(f'`{s}`' for s in kind.settings)} | "
        f"{'yes' if kind.seeded else 'no'} | {kind.resamples} times, without each of {kind.groups} groups of training "
        "rows |"
        for kind in PROBE_KINDS.parts().values()
        if kind.name in BUILT_IN
    ]
    assert table("| kind | what | settings |") == expected


@pytest.mark.parametrize("setting", [f.name for f in fields(Probe)])
def test_every_setting_is_explained_and_read_by_some_kind(setting):
    assert f"    {setting}\n        " in Probe.__doc__
    assert setting in COMMON_SETTINGS or any(setting in kind.settings for kind in PROBE_KINDS.parts().values())


def test_kinds_train_whole_rounds_by_default():
    for kind in PROBE_KINDS.parts().values():
        assert kind.resamples % kind.groups == 0


def test_ls_probes_lists_what_the_docs_list(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    app(["ls", "probes"], result_action="return_value")
    printed = capsys.readouterr().out
    for name, (preset, probe) in presets().items():
        (line,) = (line for line in printed.splitlines() if line.startswith(f"{name} "))
        assert probe.kind in line
        assert preset.summary[:40] in line  # long ones go on in the next line
