"""The tokenisation of SentEval's download script, so that numbers on fresh downloads compare with published ones.

``visible`` is ``cat -v`` and ``treebank`` the Penn Treebank's sed script: MR, CR, SUBJ, MPQA and SNLI. ``moses`` is
Moses's tokenizer.perl with ``-l en -no-escape``, by sacremoses: SICK, and lower-cased the STS sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sentprobe.errors import CorpusError, NotInstalled

_TREEBANK_RULES = [
    # directional quotes; closing ones at the end
    (r'^"', "`` "),
    (r'([ (\[{<])"', r"\1 `` "),
    (r"\.\.\.", " ... "),
    (r"[,;:@#$%&]", r" \g<0> "),
    # a full stop at the end only
    (r"([^.])(\.)([\])}>\"']*) *$", r"\1 \2\3 "),
    (r"[?!]", r" \g<0> "),
    (r"[\]\[(){}<>]", r" \g<0> "),
    (r"--", " -- "),
    (r"$", " "),
    (r"^", " "),
    (r'"', " '' "),
    (r"([^'])' ", r"\1 ' "),
    (r"'([sSmMdD]) ", r" '\1 "),
    *((ending + " ", f" {ending} ") for ending in ("'ll", "'re", "'ve", "n't", "'LL", "'RE", "'VE", "N'T")),
    # two words that are written as one
    (r" ([Cc])annot ", r" \1an not "),
    (r" ([Dd])'ye ", r" \1' ye "),
    (r" ([Gg])imme ", r" \1im me "),
    (r" ([Gg])onna ", r" \1on na "),
    (r" ([Gg])otta ", r" \1ot ta "),
    (r" ([Ll])emme ", r" \1em me "),
    (r" ([Mm])ore'n ", r" \1ore 'n "),
    (r" '([Tt])is ", r" '\1 is "),
    (r" '([Tt])was ", r" '\1 was "),
    (r" ([Ww])anna ", r" \1an na "),
    (r" +", " "),
    (r"^ +", ""),
]
"""Patterns and replacements, in order; as in the script, a space is left at the end of a line."""
_COMPILED_RULES = [(re.compile(pattern), replacement) for pattern, replacement in _TREEBANK_RULES]
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f]")
"""Moses removes them; those that are white space become a space before."""


def visible(line: bytes) -> str:
    """A line with its bytes made visible as by ``cat -v``: ``M-`` stands for the highest bit, ``^`` for a control."""
    return "".join(map(_visible_byte, line))


def _visible_byte(byte: int) -> str:
    if byte >= 128:
        low = byte - 128
        return "M-" + (f"^{chr(low + 64)}" if low < 32 else "^?" if low == 127 else chr(low))
    if byte == 127:
        return "^?"
    return f"^{chr(byte + 64)}" if byte < 32 and byte != 9 else chr(byte)


def treebank(line: str) -> str:
    """A line tokenised as by the Penn Treebank's sed script.

    >>> treebank('He said: "I cannot (really) go."')
    "He said : `` I can not ( really ) go. '' "
    """
    for pattern, replacement in _COMPILED_RULES:
        line = pattern.sub(replacement, line)
    return line


def moses(line: str, lower: bool = False) -> str:
    """A line tokenised as by tokenizer.perl, and lower-cased as by lowercase.perl."""
    tokens = _moses()(_CONTROLS.sub("", line))
    # newer than sacremoses: a full stop at the end of the line is a token, whatever word is before it
    if tokens and tokens[-1].endswith(".") and tokens[-1].strip("."):
        tokens[-1:] = [tokens[-1][:-1], "."]
    text = " ".join(tokens)
    return "".join(map(str.lower, text)) if lower else text  # one by one: a final sigma is no special case in Perl


@cache
def _moses() -> Callable[[str], list[str]]:
    from sentprobe.corpus.tokenisers import tokeniser

    return tokeniser("moses-en")


def check_tokeniser(kind: str) -> None:
    """NotInstalled if the package of a tokeniser is missing."""
    if kind.startswith("moses"):
        try:
            _moses()
        except NotInstalled as error:
            raise NotInstalled(f"{error} Or use --as-downloaded, which does not tokenise.") from None


def tokenise_folder(folder: Path, kind: str) -> None:
    """Tokenise the files of a set in place: ``lines``, ``visible lines``, or the ``moses`` columns of SICK and STS."""
    for path in sorted(folder.iterdir()):
        match kind:
            case "visible lines":
                _rewrite(path, lambda line, _: treebank(visible(line)))
            case "lines" if path.name.startswith("s"):
                _rewrite(path, lambda line, number: treebank(_decode(path, number, line)))  # noqa: B023 - called here
            case "moses SICK":
                _rewrite_columns(path, (1, 2), 5, header=True)
            case "moses STSBenchmark":
                _rewrite_columns(path, (5, 6), 7, lower=True)
            case "moses STS" if path.name.startswith("STS.input."):
                _rewrite_columns(path, (0, 1), 2, lower=True)


def _rewrite(path: Path, change: Callable[[bytes, int], str]) -> None:
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    path.write_text("".join(f"{change(line, number)}\n" for number, line in enumerate(lines, 1)), "utf-8", newline="\n")


def _rewrite_columns(
    path: Path, columns: tuple[int, ...], width: int, *, lower: bool = False, header: bool = False
) -> None:
    """Tokenise some columns of a table, and leave out those beyond ``width``."""

    def change(line: bytes, number: int) -> str:
        cells = _decode(path, number, line).removesuffix("\r").split("\t")
        if header and number == 1:
            return "\t".join(cells)
        if len(cells) < width:
            raise CorpusError(str(path), number, f"{len(cells)} columns", f"at least {width}")
        return "\t".join(moses(cell, lower) if i in columns else cell for i, cell in enumerate(cells[:width]))

    _rewrite(path, change)


def _decode(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise CorpusError(str(path), number, "bytes that are not UTF-8", "UTF-8") from None
