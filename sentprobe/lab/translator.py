"""A translator: a list of sentences in, a list of as many out; a Python function, a command, a server, or a model.

py:package.module:function          called with a list of sentences, returns a list of translations; or a file.py
command:apertium -u en-fr           a program with its arguments: sentences on its standard input, one per line, and
                                    translations on its standard output; no shell reads the line
http://127.0.0.1:5000/translate     a POST request with {"texts": [...]}, answered by {"translations": [...]}
trained:FOLDER?to=fr&beam=4         a model of `sentprobe train mt`, or translate
"""

from __future__ import annotations

import json
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sentprobe.core.third_party import third_party_code
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError, describe_error

Translator = Callable[[Sequence[str]], list[str]]
BATCH = 256
"""Sentences that are translated together, unless it is a command, which is started once."""
TIMEOUT_SECONDS = 600.0


def find_translator(name: str) -> Callable[[Sequence[str]], Any]:
    """The translator of this name, whose output is not checked yet."""
    scheme, _, target = name.partition(":")
    match scheme:
        case "py" if target:
            from sentprobe.encoders.identity import Spec
            from sentprobe.encoders.schemes.py import load

            function = load(Spec.parse(name)).function
            return lambda texts: function(list(texts))
        case "command" if target.strip():
            return lambda texts: _command(target, texts)
        case "http" | "https":
            return lambda texts: _request(name, texts)
        case "trained" if target:
            from sentprobe.encoders.identity import Spec
            from sentprobe.lab.networks.folder import open_folder
            from sentprobe.lab.training import require_training

            require_training()
            from sentprobe.lab.training.mt.translator import load_translator

            spec = Spec.parse(name)
            options = spec.check_options(("to", "from", "beam"))
            folder = open_folder(Path(spec.path).expanduser())
            return load_translator(folder, options.get("to", ""), options.get("from", ""), spec.integer("beam", 1))
    raise UsageError(
        f"--translator {name}: expected py:MODULE:FUNCTION, command:PROGRAM ARGUMENTS, an address http://…, or "
        "trained:FOLDER of `sentprobe train mt` or `sentprobe train translate`."
    )


def translate(name: str, texts: Sequence[str], progress: Callable[[int], None] = lambda _: None) -> list[str]:
    """Translations of all texts, each distinct text translated once; ``progress`` is called with how many are done."""
    translator = find_translator(name)
    distinct = list(dict.fromkeys(texts))
    translations: dict[str, str] = {}
    for batch in _batches(distinct, len(distinct) if name.startswith("command:") else BATCH):
        translations.update(zip(batch, _checked(name, translator, batch), strict=True))
        progress(len(translations))
    return [translations[text] for text in texts]


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for at in range(0, len(texts), max(1, size)):
        yield texts[at : at + size]


def _checked(name: str, translator: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> list[str]:
    """What a translator makes of texts, checked: as many strings as there were, none with a line break."""
    try:
        with third_party_code:
            output = translator(texts)
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise EncoderError(f"{name} failed: {describe_error(e)}") from e
    if isinstance(output, str) or not isinstance(output, Sequence) or not all(isinstance(text, str) for text in output):
        raise EncoderError(f"{name} gave {type(output).__name__}; expected a list of {len(texts):,} strings.")
    if len(output) != len(texts):
        raise EncoderError(
            f"{name} gave {len(output):,} translations of {len(texts):,} sentences; expected one per sentence."
        )
    return [" ".join(text.split()) for text in output]


def _command(line: str, texts: Sequence[str]) -> list[str]:
    words = shlex.split(line)
    lines = "".join(" ".join(text.split()) + "\n" for text in texts)
    try:
        process = subprocess.run(words, input=lines.encode(), capture_output=True, check=False)  # noqa: S603
    except OSError as e:
        raise UsageError(f"command:{line} cannot be run: {e.strerror}: {words[0]}.") from None
    if process.returncode:
        messages = process.stderr.decode(errors="replace").strip().splitlines()
        raise EncoderError(f"command:{line} ended with {process.returncode}{': ' + messages[-1] if messages else ''}.")
    try:
        return process.stdout.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise DataError(f"command:{line}: its output is not UTF-8.") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Texts go to the address that was typed, and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _request(address: str, texts: Sequence[str]) -> Any:
    if not urlsplit(address).hostname:
        raise UsageError(
            f"--translator {address} is not an address; expected one such as http://127.0.0.1:5000/translate."
        )
    body = json.dumps({"texts": list(texts)}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=TIMEOUT_SECONDS) as reply:
            response = json.loads(reply.read())
    except urllib.error.HTTPError as e:
        raise EncoderError(f"{address} answered {e.code} {e.reason}.") from None
    except (OSError, ValueError) as e:
        raise EncoderError(f"{address} cannot be used: {describe_error(e)}") from None
    if not isinstance(response, dict) or "translations" not in response:
        raise EncoderError(f'{address} gave no translations; expected {{"translations": [...]}}.')
    return response["translations"]
