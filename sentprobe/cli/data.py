"""`sentprobe data`: the data files of SentEval's and other released sets."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
from cyclopts import Parameter

if TYPE_CHECKING:
    from sentprobe.transfer.remote_sets import RemoteSet

order = 40
group = "Sets"

data = cyclopts.App(
    name="data", help="Download, check and convert the data of SentEval's and other transfer sets.", version_flags=()
)


@data.command
def get(
    *names: str,
    out: Annotated[Path, Parameter(("--out", "-o"))] = Path("data"),
    yes: Annotated[bool, Parameter(("--yes", "-y"))] = False,
    trust: bool = False,
    offline: bool = False,
    as_downloaded: bool = False,
) -> int:
    """Download sets into SentEval's folders, and check them. Without a name: list what there is.

    Parameters
    ----------
    names: str
        Sets, by the names in the list or SentEval's names; all: every set that needs no manual steps.
    out: Path
        The data folder, in which `downstream` and `probing` are made. Default: data.
    yes: bool
        Accept the licences, which are shown first, without a prompt.
    trust: bool
        Accept files whose checksum is not known; their checksums are printed.
    offline: bool
        Do not use the network, as if SENTPROBE_OFFLINE were set.
    as_downloaded: bool
        Leave sentences as published, instead of tokenising them as SentEval's script does.
    """
    from sentprobe.console import announce, progress_bar, say
    from sentprobe.core.network import offline as is_offline
    from sentprobe.transfer import remote_sets as catalogue
    from sentprobe.transfer.check import check
    from sentprobe.transfer.remote_sets import fetch_sets, is_downloaded
    from sentprobe.transfer.show import print_licence, print_manual_steps, print_remote_sets, print_reports

    table = catalogue.remote_sets()
    if not names:
        print_remote_sets(table.values(), out)
        return 0
    if names == ("all",):
        chosen = [remote_set for remote_set in table.values() if not remote_set.manual_steps]
    else:
        chosen = catalogue.select_remote_sets(names, table)
    missing = [remote_set for remote_set in chosen if not is_downloaded(remote_set, out)]
    manual_steps = [remote_set for remote_set in missing if remote_set.manual_steps]
    for remote_set in manual_steps:
        print_manual_steps(remote_set, out)
    requested = [remote_set for remote_set in chosen if remote_set not in manual_steps]
    fetched = [remote_set for remote_set in missing if remote_set not in manual_steps]
    if not (offline or is_offline()):
        for remote_set in fetched:
            print_licence(remote_set)
        _accept(fetched, yes)
    with progress_bar() as progress:
        trusted = fetch_sets(
            requested, out, trust=trust, no_network=offline, tokenise=not as_downloaded, progress=progress
        )
    tokenised = [remote_set.key for remote_set in fetched if remote_set.tokenise and not as_downloaded]
    if tokenised:
        say(f"tokenised as by SentEval's script: {', '.join(tokenised)}")
    for url, sha256 in trusted.items():
        say(f"accepted without verification: {url} has the SHA-256 {sha256}")
    for remote_set in fetched:
        if remote_set.then:
            say(f"{remote_set.key}: {remote_set.then}")
    folders = dict.fromkeys(str(remote_set.folder(out)) for remote_set in requested if remote_set.sets)
    reports = [report for folder in folders for report in check(folder)[0]]
    if reports:
        print_reports(reports, ())
        if all(report.is_valid for report in reports):
            sets = " ".join(f"-d {shlex.quote(folder)}" for folder in folders)
            announce(f"next: sentprobe run -e static: {sets} -o my-run")
    return 1 if any(not report.is_valid for report in reports) else 2 if manual_steps else 0


def _accept(remote_sets: list[RemoteSet], yes: bool) -> None:
    """Prompt the user to accept the licences."""
    from sentprobe.console import err
    from sentprobe.errors import UsageError

    if yes or not remote_sets:
        return
    if not sys.stdin.isatty():
        raise UsageError("The terms above must be accepted before anything is downloaded: add --yes.")
    keys = ", ".join(remote_set.key for remote_set in remote_sets)
    if err().input(rf"Download {keys} on these terms? \[y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("The terms were not accepted; nothing was downloaded.")


@data.command
def check(path: str, /, *, format: Literal["table", "json"] = "table") -> int:
    """Check whether the sets of a folder are as published: rows, labels, malformed and empty lines, encodings.

    Exit code 1 if a set is not as published.

    Parameters
    ----------
    path: str
        SentEval's data folder, its `downstream`, the folder of one set, or any folder above these.
    format: str
        table or json. Default: table.
    """
    from sentprobe.transfer.check import check as examined
    from sentprobe.transfer.show import as_json, print_reports

    reports, absent = examined(path)
    if format == "json":
        sys.stdout.write(as_json(reports, absent))
    else:
        print_reports(reports, absent)
    return 1 if any(not report.is_valid for report in reports) else 0


@data.command
def convert_coco(train: Path, valid: Path, test: Path, /, *, out: Annotated[Path, Parameter(("--out", "-o"))]) -> int:
    """Convert the pickled image features and captions published with SentEval, without executing anything in them.

    Parameters
    ----------
    train: Path
        train.pkl.
    valid: Path
        valid.pkl.
    test: Path
        test.pkl.
    out: Path
        The folder for train.npy, train.json and so on: `downstream/COCO` in the data folder.
    """
    from sentprobe.console import out as console
    from sentprobe.transfer.coco import convert

    for path, images, width in convert((train, valid, test), out):
        console().print(f"{path}: {images:,} images, {width:,} features each", markup=False, soft_wrap=True)
    return 0
