"""Record what every command prints and writes, and compare two recordings, before and after a refactoring.

    python tools/golden.py record FOLDER [--only WORD]     # with the sentprobe of this Python; an empty folder
    python tools/golden.py compare BEFORE AFTER [--texts]  # exit code 1 if they differ; --texts: also what is printed

A recording runs the commands of ``golden_commands.txt``, one or more per capability, on the files that
``golden_material.py`` writes, each in a process of its own, with a cache of its own. It keeps everything in FOLDER:
``work/`` with the files, ``steps/`` with output and exit code of each command.

Times, process ids and the paths of the recording are left out of the comparison. Numbers in JSON are compared exactly,
binary files byte by byte. Without ``--texts``, standard output, pages and other prose may differ: their numbers are
compared, in order, and their words are not.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

VOLATILE = frozenset(
    """
    seconds started ended finished updated created date pid host time when elapsed encode fit modified mtime platform
    checksum written last number words_per_second
    """.split()  # noqa: SIM905
)
"""Keys of JSON objects whose values are times, checksums over times, or positions in a log."""
NOT_COMPARED = ("cache/", "__pycache__/", "work.lock")
"""The cache is compared by what comes of it."""
HERE = Path(__file__).resolve().parent
PROSE = {".html", ".md", ".svg", ".tex", ".txt"}


def steps() -> list[str]:
    """The commands, in order."""
    return (HERE / "golden_commands.txt").read_text("utf-8").splitlines()


def record(folder: Path, only: str | None) -> None:
    """Run every command and keep what it prints and writes."""
    work, logs = folder.resolve() / "work", folder.resolve() / "steps"
    work.mkdir(parents=True)
    logs.mkdir()
    settings = {
        "SENTPROBE_CACHE": str(work / "cache"),
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
        "SENTPROBE_OFFLINE": "1",
        "PYTHONHASHSEED": "0",
    }
    env = {**os.environ, **settings}
    subprocess.run([sys.executable, str(HERE / "golden_material.py")], cwd=work, env=env, check=True)
    for i, command in enumerate(steps()):
        if only is not None and only not in command:
            continue
        words = shlex.split(command)
        if command == "repeat":
            words.extend(("--run", "plain-run", _first_signature(work, env)))
        done = subprocess.run(
            [sys.executable, "-m", "sentprobe", *words],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=900,
        )
        step = logs / f"{i:03d}"
        step.mkdir()
        (step / "command").write_text(command, "utf-8")
        (step / "exit").write_text(str(done.returncode), "utf-8")
        (step / "stdout").write_bytes(done.stdout)
        (step / "stderr").write_bytes(done.stderr)
        print(f"{done.returncode}  {command}", flush=True)


def _first_signature(work: Path, env: dict[str, str]) -> str:
    listed = subprocess.run(
        [sys.executable, "-m", "sentprobe", "show", "plain-run", "--signatures"],
        cwd=work,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return next(line.strip() for line in listed.stdout.splitlines() if "enc=static:" in line)


def compare(before: Path, after: Path, *, texts: bool) -> int:
    """Print how two recordings differ; the number of differences."""
    differences = list(_steps_that_differ(before, after, texts=texts))
    differences.extend(_files_that_differ(before, after, texts=texts))
    for difference in differences:
        print(difference)
    print(f"{len(differences)} differences")
    return len(differences)


def _steps_that_differ(before: Path, after: Path, *, texts: bool) -> Iterator[str]:
    for step in sorted((before / "steps").iterdir()):
        other = after / "steps" / step.name
        command = (step / "command").read_text("utf-8")
        if not other.exists() or (other / "command").read_text("utf-8") != command:
            yield f"step {step.name} is missing: {command}"
            continue
        suffix = next((f".{kind}" for kind in ("csv", "json") if f"--format {kind}" in command), ".txt")
        for name in ("exit", "stdout", "stderr"):
            kind, exact = (suffix, texts) if name == "stdout" else (".txt", texts or name == "exit")
            sides = [
                _comparable(kind, (root / name).read_bytes(), base, texts=exact)
                for root, base in ((step, before), (other, after))
            ]
            if name == "stderr" and not texts:
                continue
            if sides[0] != sides[1]:
                yield f"step {step.name} {name}: {command}\n{_excerpt(*map(str, sides))}"


def _files_that_differ(before: Path, after: Path, *, texts: bool) -> Iterator[str]:
    left, right = (_files(folder / "work") for folder in (before, after))
    for name in sorted(left.keys() ^ right.keys()):
        yield f"{'lost' if name in left else 'new'}: {name}"
    for name in sorted(left.keys() & right.keys()):
        contents = [left[name].read_bytes(), right[name].read_bytes()]
        if contents[0] == contents[1]:
            continue
        sides = [
            _comparable(name, content, base, texts=texts)
            for content, base in zip(contents, (before, after), strict=True)
        ]
        if sides[0] != sides[1]:
            shown = _excerpt(*sides) if isinstance(sides[0], str) and isinstance(sides[1], str) else "  bytes differ"
            yield f"{name}\n{shown}"


def _files(work: Path) -> dict[str, Path]:
    paths = ((path.relative_to(work).as_posix(), path) for path in work.rglob("*") if path.is_file())
    return {name: path for name, path in paths if not any(part in name for part in NOT_COMPARED)}


def _comparable(name: str, content: bytes, base: Path, *, texts: bool) -> str | bytes:
    """The content without times, as text if it is text."""
    suffix = Path(f"x{name}" if name.startswith(".") else name).suffix
    if suffix in {".json", ".jsonl"}:
        lines = content.decode().splitlines() if suffix == ".jsonl" else [content.decode()]
        records = [json.dumps(_without_times(_loaded(line, base)), indent=1, sort_keys=True) for line in lines if line]
        return "\n".join(sorted(records))  # results are appended in the order in which jobs end
    if suffix == ".csv":
        return _csv_without_times(_text(content, base))
    if suffix in {".npz", ".zip"}:  # members have times of their own
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return b"".join(member.encode() + archive.read(member) for member in sorted(archive.namelist()))
    if suffix in PROSE:
        text = _plain(_text(content, base))
        return text if texts else _numbers(text)
    return content


def _csv_without_times(text: str) -> str:
    head, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    timed = {i for i, name in enumerate(head) if "second" in name or name in VOLATILE}
    return "\n".join(",".join(cell for i, cell in enumerate(row) if i not in timed) for row in (head, *rows))


def _loaded(line: str, base: Path) -> object:
    try:
        return json.loads(_text(line.encode(), base))
    except ValueError:
        head = line.split(" ", 1)[-1]  # a sealed line: a checksum before the record
        try:
            return json.loads(_text(head.encode(), base))
        except ValueError:
            return line


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(v) for key, v in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [_without_times(v) for v in value]
    return _plain(value) if isinstance(value, str) else value


def _text(content: bytes, base: Path) -> str:
    text = content.decode("utf-8", "replace").replace(str(base.resolve() / "work"), "WORK")
    # names of sets have the last folders of a path; without the slash, "before" and "after" are words of sentences
    return text.replace(f"{base.resolve().name}/", "BASE/")


def _plain(text: str) -> str:
    """The text without times."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "TIME", text)
    text = re.sub(r"\b\d+(\.\d+)?(e-\d+)? ?(s|ms|seconds|minutes|min)\b", "DURATION", text)
    text = re.sub(
        r"((\| |  )[\d,]+ *)?(\| |  )\d+\.\d( \|)?$", "SECONDS", text, flags=re.MULTILINE
    )  # the last column of a history
    text = re.sub(r"[\d,]+ words/s", "SPEED", text)
    text = re.sub(r"\b\d+:\d\d(:\d\d)?\b", "CLOCK", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)  # padding of tables


def _numbers(text: str) -> str:
    return "\n".join(re.findall(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?", text))


def _excerpt(left: str, right: str, *, lines: int = 12) -> str:
    diff = difflib.unified_diff(left.splitlines(), right.splitlines(), lineterm="", n=0)
    shown = [f"    {line[:200]}" for line in diff if not line.startswith(("---", "+++", "@@"))]
    return "\n".join(shown[:lines] + ([f"    … {len(shown) - lines} more"] if len(shown) > lines else []))


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--texts", action="store_true")
    asked = parser.parse_args()
    if asked.verb == "record":
        record(asked.folder, asked.only)
        return 0
    return int(compare(asked.before, asked.after, texts=asked.texts) > 0)


if __name__ == "__main__":
    sys.exit(main())
