"""Models that `sentprobe train` has written, loaded by their folders: whether they are as they were written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sentprobe.core.job_folder import JobFolder
from sentprobe.networks.folder_files import COMMAND, may_be_deleted, remedy


def check_sealed(folder: Path, digests: Mapping[str, str]) -> None:
    """DataError if a folder is that of a language model, or of one of its checkpoints, and has changed.

    ``digests`` are those of its files, by their names, which have to be computed anyway.
    """
    for whole, prefix in ((folder, ""), (folder.parent, f"{folder.name}/")):
        job = JobFolder(whole, COMMAND, remedy)
        if not job.is_begun or not (sealed := [name for name in job.names(prefix) if "/" not in name[len(prefix) :]]):
            continue
        for name in sealed:
            is_there = (whole / name).is_file() or may_be_deleted(whole, name)
            if not is_there and job.about(name) is not None:  # and it is not being written
                job.verify(name)
        for name, digest in digests.items():
            job.check_digest(prefix + name, digest)
        return
