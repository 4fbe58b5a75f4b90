"""Whether the core, or an extra, installs from wheels alone on every system and Python that it is for.

    python tools/wheels.py [EXTRA ...]

pip resolves the packages for each combination as if it were there, without installing anything, and a table says which
combinations have wheels for everything, with the number of packages; below it, what is missing where. Nothing is run on
these systems: the workflow in .github/workflows/ci.yml does that. Conditions on the system in the metadata of packages
are evaluated on this one, which is pip's limitation: a package that only Windows needs is not looked for.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
PLATFORMS = {
    "Linux x86-64": [f"manylinux{tag}_x86_64" for tag in ("_2_28", "_2_27", "_2_24", "_2_17", "2014")],
    "Linux ARM": [f"manylinux{tag}_aarch64" for tag in ("_2_28", "_2_27", "_2_24", "_2_17", "2014")],
    "macOS x86-64": ["macosx_14_0_x86_64"],
    "macOS ARM": ["macosx_14_0_arm64"],
    "Windows x86-64": ["win_amd64"],
}
"""The tags that pip accepts there: for Linux those of distributions since 2019 (glibc 2.28), for macOS version 14."""


def requirements(extra: str) -> list[str]:
    """What an extra needs, with the extras that it includes; the core's own for an empty name."""
    lines = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    found = []
    for line in lines:
        included = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", line)
        found += [each for name in included[1].split(",") for each in requirements(name)] if included else [line]
    return found


def resolve(python: str, platforms: list[str], packages: list[str]) -> tuple[list[str], str]:
    """The packages that would be installed; or what pip says is missing."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        words = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
                 "--disable-pip-version-check", "--target", folder, "--report", str(report),
                 "--only-binary=:all:", "--python-version", python,
                 *(word for platform in platforms for word in ("--platform", platform)), *packages]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            wrong = re.findall(r"No matching distribution found for (\S+)", done.stderr)
            return [], wrong[0] if wrong else (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        installs = json.loads(report.read_text("utf-8"))["install"]
        return sorted(each["metadata"]["name"] for each in installs), ""


def main() -> int:
    """Print the table; 1 if a combination lacks a wheel."""
    packages = [line for extra in ("", *sys.argv[1:]) for line in requirements(extra)]
    print(f"{'':16}" + "".join(f"{python:>14}" for python in PYTHONS), flush=True)
    missing: dict[str, list[str]] = {}
    for name, platforms in PLATFORMS.items():
        print(f"{name:16}", end="", flush=True)
        for python in PYTHONS:
            found, wrong = resolve(python, platforms, packages)
            if wrong:
                missing.setdefault(wrong, []).append(f"{name} {python}")
            print(f"{'missing' if wrong else f'{len(found)} packages':>14}", end="", flush=True)
        print(flush=True)
    for package, places in missing.items():
        print(f"no wheel of {package}: {', '.join(places)}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
