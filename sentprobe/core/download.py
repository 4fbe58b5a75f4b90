"""One file from the network: resumed where it was interrupted, limited in size, from the named host only."""

from __future__ import annotations

import hashlib
import http.client
import os
import random
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from sentprobe import __version__
from sentprobe.core.progress import Progress
from sentprobe.errors import DataError, Offline

_PIECE = 1 << 16
_DOWNLOAD_RETRY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ABSENT = frozenset({404, 410})


def offline() -> bool:
    """Whether ``$SENTPROBE_OFFLINE`` forbids the network; only this and proxies are read from the environment."""
    return os.environ.get("SENTPROBE_OFFLINE", "") not in ("", "0")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient to be with a server."""

    timeout: float = 60.0
    """Seconds without data."""
    tries: int = 5
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)


class _Broken(Exception):
    """The connection or the server failed in a way that may be temporary."""


class _Unknown(_Broken):
    """There is no such host, or no network."""


class _Refused(Exception):
    """This address does not serve the file; another may."""

    def __init__(self, message: str, absent: bool = False) -> None:
        super().__init__(message)
        self.absent = absent


class NotOnServer(DataError):
    """The server has no such file."""


def download(
    urls: tuple[str, ...],
    path: Path,
    *,
    limit: int,
    has_checksum: bool,
    retries: RetryPolicy | None = None,
    progress: Progress | None = None,
) -> None:
    """Download a file from the first of these addresses that has it; an incomplete download is kept in a .part file.

    ``has_checksum`` says that a checksum will be compared, so that parts of two versions cannot be mixed unnoticed.
    """
    reasons: list[str] = []
    reached, absent = False, 0
    for url in urls:
        try:
            _from(url, path, limit, has_checksum, retries or RetryPolicy(), progress)
            return
        except _Broken as error:
            reasons.append(f"{url}: {error}")
        except _Refused as error:
            reached = True
            absent += error.absent
            reasons.append(f"{url}: {error}")
    why = "; ".join(reasons)
    if absent == len(urls):
        raise NotOnServer(f"A file could not be downloaded: {why}.")
    if reached:
        raise DataError(f"A file could not be downloaded: {why}.")
    part = _part(path)
    kept = (
        f" {part.stat().st_size:,} bytes are kept; run the same command to continue from there."
        if part.exists()
        else ""
    )
    raise Offline(f"A file could not be downloaded: {why}.{kept}")


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: Path) -> str:
    """The name that git gives to the content of a file: what a repository says a file at one of its tags must be."""
    # git's own choice of hash; it finds every damage and every other version of a file
    hashed = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            hashed.update(piece)
    return hashed.hexdigest()


def _from(
    url: str, path: Path, limit: int, has_checksum: bool, retries: RetryPolicy, progress: Progress | None
) -> None:
    for attempt in range(retries.tries):
        try:
            _attempt(url, path, limit, has_checksum, retries.timeout, progress)
            return
        except _Broken as error:
            if attempt + 1 == retries.tries or isinstance(error, _Unknown):
                raise
        retries.sleep(2.0**attempt * (0.5 + random.random() / 2))


def _attempt(url: str, path: Path, limit: int, has_checksum: bool, timeout: float, progress: Progress | None) -> None:
    """Request what is missing, write it, and rename the file when it is complete."""
    part, tag = _part(path), path.with_name(f"{path.name}.tag")
    have = part.stat().st_size if part.exists() else 0
    whose, _, validator = tag.read_text("utf-8").partition("\n") if tag.exists() else ("", "", "")
    validator = validator if whose == url else ""
    if not validator and not has_checksum:
        have = 0  # the rest could be of another file, and nobody would notice
    request = _request(url, have, validator)
    try:
        with _opener(url).open(request, timeout=timeout) as answer:
            total = _total(answer, have, limit, url)
            if answer.status != 206:
                have = 0
            with _on_disk(tag):
                tag.write_text(f"{url}\n{_validator(answer)}", "utf-8")
            got = _write(answer, part, have, total, limit, url, progress)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:
                if error.headers.get("Content-Range", "").endswith(f"/{have}"):
                    got = total = have
                else:
                    part.unlink()
                    raise _Broken("the file on the server has changed") from None
            elif error.code in _DOWNLOAD_RETRY_STATUSES:
                raise _Broken(f"the server answered {error.code}") from None
            else:
                reason = " ".join(str(error.reason).split())[:200]
                raise _Refused(f"the server answered {error.code} ({reason})", error.code in _ABSENT) from None
    except (OSError, http.client.HTTPException) as error:
        raise _network(error, timeout) from None
    if total is not None and got != total:
        if got > total:
            part.unlink()
        raise _Broken(f"the connection ended after {got:,} of {total:,} bytes")
    part.replace(path)
    tag.unlink(missing_ok=True)


def _request(url: str, have: int, validator: str) -> urllib.request.Request:
    headers = {"User-Agent": f"sentprobe/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if validator:
            headers["If-Range"] = validator
    return urllib.request.Request(url, headers=headers)  # noqa: S310 - the opener knows http and https only


def _total(answer: Any, have: int, limit: int, url: str) -> int | None:
    """The size of the complete file in bytes, if the server says so."""
    header = answer.headers.get("Content-Length", "")
    length = int(header) if re.fullmatch(r"\d{1,15}", header) else None
    if answer.status == 206:
        span = re.fullmatch(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15}|\*)", answer.headers.get("Content-Range", ""))
        if not span or int(span[1]) != have:
            raise _Broken("the server sent another part than the one requested")
        total = int(span[2]) if span[2] != "*" else None if length is None else have + length
    else:
        total = length
    if total is not None and total > limit:
        raise DataError(
            f"{url} has {total:,} bytes; expected at most {limit:,}. The file has changed, and was not downloaded."
        )
    return total


def _write(
    answer: IO[bytes], part: Path, have: int, total: int | None, limit: int, url: str, progress: Progress | None
) -> int:
    """Write what comes after the first ``have`` bytes; the total number of bytes."""
    with _on_disk(part):
        out = part.open("r+b" if have else "wb")
        out.seek(have)
    with out:
        while have <= limit and (piece := answer.read(_PIECE)):
            have += len(piece)
            with _on_disk(part):
                out.write(piece)
            if progress:
                progress(urlsplit(url).path.rpartition("/")[2], have, total)
        with _on_disk(part):
            out.flush()
            os.fsync(out.fileno())
    if have > limit:
        part.unlink()
        raise DataError(f"{url} sends more than {limit:,} bytes; the file has changed, and the download was deleted.")
    return have


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    """Report an error as one of the disk, not of the network."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. Free some space or choose another folder."
        ) from None


def _validator(answer: Any) -> str:
    """What identifies this version of a file: a strong ETag, or otherwise the date."""
    etag = str(answer.headers.get("ETag", ""))
    return etag if etag.startswith('"') else str(answer.headers.get("Last-Modified", ""))


def _network(error: OSError | http.client.HTTPException, timeout: float) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return _Broken(f"no answer within {timeout:g} seconds")
    if isinstance(reason, socket.gaierror):
        return _Unknown(f"unknown host ({reason.strerror})")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return _Refused(f"its certificate is not valid ({reason.verify_message})")
    return _Broken(f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _opener(url: str) -> urllib.request.OpenerDirector:
    """An opener for HTTP and HTTPS, through the proxies of the environment, and for nothing else: no files, no FTP."""
    found = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameHost(url),
    ):
        found.add_handler(handler)
    return found


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects within the named host only, and never from HTTPS back to HTTP."""

    def __init__(self, url: str) -> None:
        self.requested = urlsplit(url)

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        to = urlsplit(newurl)
        schemes = ("https",) if self.requested.scheme == "https" else ("http", "https")
        if to.scheme not in schemes or to.hostname != self.requested.hostname:
            raise _Refused(f"it redirects to {newurl[:200]}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
