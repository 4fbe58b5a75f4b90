"""Wikitext → paragraphs of prose, by mwparserfromhell.

What is no prose is removed: headings, lists, tables, infoboxes, references, files, categories, comments. Where
something that readers see is removed from within a sentence, such as a formula, or a template, whose text is not in the
page, a ``HOLE`` is left, and the sentence is dropped later: better none than *The river is long*. A template that
follows a word without a space is a footnote mark, and leaves none. Style marks are not parsed, since mwparserfromhell
gives up on what surrounds those that are not closed; nor does it know the names of namespaces, which a dump states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from sentprobe.annotate.source import HOLE, LeftOutError
from sentprobe.core.install import pip_install
from sentprobe.core.words import mark_class
from sentprobe.corpus.languages import UNSPACED
from sentprobe.errors import NotInstalled

UNPARSABLE = "articles whose markup cannot be parsed"
MAX_PAGE_CHARACTERS = 4 << 20
"""Characters; wikis allow two megabytes."""
MAX_CHARACTERS_IN_VAIN = 20_000_000
"""Characters that may be read in vain, which takes up to ten seconds."""
FILE_NAMESPACES = frozenset({"file", "image", "media", "category"})
"""Names that every wiki knows besides its own."""
UNSEEN, TEMPLATE, LIST = "\ue000", "\ue001", "\ue002"
"""Stand for what readers do not see within a text, for a template, and for the mark of a list item."""
NOTES = frozenset({"ref", "templatestyles", "section", "indicator", "includeonly", "rt", "rp", "s", "del", "strike"})
"""Tags without text of their own."""
BLOCKS = frozenset({
    "table", "gallery", "timeline", "imagemap", "categorytree", "graph", "templatedata", "inputbox", "references",
    "score", "ul", "ol", "dl", "poem", "mapframe", "tabber",
})  # fmt: skip
"""Tags that are removed with all that is in them."""
INLINE = frozenset({"math", "ce", "chem", "hiero", "code", "source", "syntaxhighlight", "pre", "kbd", "maplink", "img"})
"""Tags whose content is shown, and is no prose."""
BREAKS = frozenset({"br", "hr", "p", "div", "blockquote", "center"})
_INTERLANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*|simple")
_MAGIC_WORD = re.compile(r"__[A-Z]{3,}__")
_VARIANT = re.compile(r"-\{([^{}:;|]*)\}-")
_QUOTES = re.compile(r"'{2,}")
_UNPARSED_MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?\w|-\{|\}-|\|\||^[|!]")
STOPS = "。！？।॥،؛؟۔"
"""Punctuation of other scripts than Latin that a template may follow, as a source does."""
_SENTENCE_END = re.compile(r"[.!?…:。！？।॥؟۔።။։][\"'”’»」』)\]\s]*$")
_EMPTY_BRACKETS = re.compile(rf"\s*[(\[（][\s,;{UNSEEN}]*[)\]）]")

_MARK = re.compile(
    r"""
      (?P<open>\{\{\{? | \[\[ | ^[ \t:*]*\{\| | <!-- | \[(?=https?: | //))
    | (?P<close>\}\} | \]\]? | ^[ \t]*\|\}(?!\}) | -->)
    | </(?P<end>[a-z]\w*)
    | <(?=[^\s/]) (?: (?P<tag>[a-z]\w*) (?P<attributes> (?: [^<>"'] | "[^"<]*" | '[^'<]*' )*+ > ) )?
    """,
    re.X | re.M,
)
_CLOSES = {"}}": "{{", "]]": "[[", "]": "[", "|}": "{|", "-->": "<!--"}
SINGLE_TAGS = frozenset(("br", "hr", "wbr", "meta", "link", "img"))
"""Tags that are never closed."""
RAW_TAGS = frozenset(("nowiki", "pre", "math", "source", "syntaxhighlight", "score", "timeline", "hiero", "ce", "chem"))
"""Tags in which other marks are text."""


def prose(markup: str, namespaces: Collection[str] = ()) -> list[str]:
    """The paragraphs of a page; ``namespaces`` are the names of its wiki for files and categories, in lower case.

    LeftOutError if parsing it would take forever, or fails.
    """
    try:
        import mwparserfromhell
    except ImportError:
        raise NotInstalled(f"Wikipedia dumps need mwparserfromhell: {pip_install('annotate')}") from None
    if len(markup) > MAX_PAGE_CHARACTERS or characters_read_in_vain(markup) > MAX_CHARACTERS_IN_VAIN:
        raise LeftOutError(UNPARSABLE)
    hidden = FILE_NAMESPACES.union(namespaces)
    try:
        visible = _visible(mwparserfromhell.parse(markup, skip_style_tags=True).nodes, hidden)
    except (RecursionError, mwparserfromhell.parser.ParserError) as e:
        raise LeftOutError(UNPARSABLE) from e
    return [text for paragraph in _paragraphs(visible) if (text := _clean(paragraph))]


def _visible(nodes: Iterable[Any], hidden: Collection[str]) -> str:
    """What readers see of nodes, with marks in place of what is removed."""
    from mwparserfromhell import nodes as kinds

    out: list[str] = []
    for node in nodes:
        match node:
            case kinds.Text():
                out.append(node.value)
            case kinds.Wikilink():
                out.append(_link(node, hidden))
            case kinds.Template():
                out.append(TEMPLATE)
            case kinds.Tag():
                out.append(_tag(node, hidden))
            case kinds.Heading():
                out.append("\n\n")
            case kinds.HTMLEntity():
                character = node.normalize() or HOLE
                out.append(HOLE if "\ud800" <= character <= "\udfff" else character)  # one half of a pair is no text
            case kinds.ExternalLink():
                bare = UNSEEN if node.brackets else HOLE
                out.append(_visible(node.title.nodes, hidden) if node.title else bare)
            case kinds.Argument():
                out.append(HOLE)
            case _:  # a comment
                out.append("")
    return "".join(out)


def _link(node: Any, hidden: Collection[str]) -> str:
    title = str(node.title).strip()
    namespace = title.partition(":")[0].strip().lower().replace("_", " ") if ":" in title else ""
    if namespace in hidden:
        return UNSEEN
    if node.text is not None:
        return _visible(node.text.nodes, hidden)
    if namespace and _INTERLANGUAGE.fullmatch(namespace):
        return UNSEEN
    return _visible(node.title.nodes, hidden).lstrip(":").replace("_", " ")


def _tag(node: Any, hidden: Collection[str]) -> str:
    name = str(node.tag).strip().lower()
    if node.wiki_markup in ("*", "#", ";", ":"):
        return LIST
    if name in BLOCKS:
        return "\n\n"
    if name in NOTES or any("display:none" in str(a.value).replace(" ", "") for a in node.attributes if a.value):
        return UNSEEN
    if name in INLINE:
        return HOLE
    if node.self_closing or node.contents is None:
        return "\n\n" if name in BREAKS else ""
    inside = str(node.contents) if name == "nowiki" else _visible(node.contents.nodes, hidden)
    return f"\n\n{inside}\n\n" if name in BREAKS else inside


def _paragraphs(visible: str) -> list[str]:
    """Lines that follow each other, without those of lists, tables and preformatted text."""
    blocks: list[list[str]] = [[]]
    for line in visible.split("\n"):
        bare = line.strip(f" \t{UNSEEN}")
        is_prose = bare.strip(TEMPLATE) and bare[0] not in f"{LIST}|!*#;:" and line[:1] not in (" ", "\t")
        if is_prose:
            blocks[-1].append(line)
        elif blocks[-1] and not bare.strip(TEMPLATE) and bare:
            continue  # a line of templates does not end a paragraph
        else:
            blocks.append([])
    return [" ".join(_without_quotes(line) for line in block) for block in blocks if block]


def _clean(paragraph: str) -> str:
    """A paragraph with holes in place of what is missing, or nothing if it is no prose."""
    paragraph = " ".join(paragraph.split())  # what follows takes forever with long runs of white space
    text = _VARIANT.sub(r"\1", _MAGIC_WORD.sub("", paragraph))
    text = re.sub(rf"\s+[{UNSEEN}]+(?=[.,)])", "", text)
    text = _EMPTY_BRACKETS.sub("", text).replace(UNSEEN, "").strip()
    text = re.sub(rf"^(?:{TEMPLATE}\s*)+(?=[^\Wa-z\d_]|['\"«“„(¿¡])", "", text)  # an infobox, before a capital letter
    before = rf"[^\W\d]|[.,;:!?)\]»”’\"'…{STOPS}{mark_class()}]"
    text = re.sub(rf"(?<={before})(?:{TEMPLATE})+(?=[\s.,;:!?)\]»{STOPS}]|$)", "", text)
    text = " ".join(text.replace(TEMPLATE, HOLE).split())
    is_complete = _SENTENCE_END.search(text) or UNSPACED.search(text)
    return text if is_complete and not _UNPARSED_MARKUP.search(text) and text.strip(f"{HOLE} .,:;") else ""


def _without_quotes(line: str) -> str:
    """A line without the marks of italic and bold type, which are two and three apostrophes.

    As MediaWiki does it: where both are odd in number, three apostrophes after a letter that stands alone, or else
    after a longer word, are one and the mark of italic type: *l'''Iliade''*.
    """
    runs = list(_QUOTES.finditer(line))
    if not runs:
        return line
    sizes = [min(len(m[0]), 5) if len(m[0]) != 4 else 3 for m in runs]
    extra = [len(m[0]) - size for m, size in zip(runs, sizes, strict=True)]  # apostrophes of the text
    italics, bolds = (sum(size in kinds for size in sizes) % 2 for kinds in ((2, 5), (3, 5)))
    if italics and bolds and (threes := [i for i, size in enumerate(sizes) if size == 3]):
        extra[min(threes, key=lambda i: _rank(line, runs[i].start()))] += 1
    pieces, at = [], 0
    for m, apostrophes in zip(runs, extra, strict=True):
        pieces += [line[at : m.start()], "'" * apostrophes]
        at = m.end()
    return "".join((*pieces, line[at:]))


def _rank(line: str, start: int) -> int:
    """How likely an apostrophe is before this place: after a single letter 0, a longer word 1, a space 2."""
    if start and line[start - 1] == " ":
        return 2
    return 0 if start >= 1 and (start == 1 or line[start - 2] in " (") else 1


# Marks that are opened and not closed
#
# mwparserfromhell reads on from a mark to find where it is closed; if it is not, it goes back and takes the mark for
# text. So a page with many such marks takes time that grows with the square of its length: hours for a page of a
# megabyte, which nobody writes by accident. Here it is only counted how much would be read in vain.


def characters_read_in_vain(markup: str) -> int:
    """The characters from each mark that is not closed to the end of the page, all together.

    Examples
    --------
    >>> characters_read_in_vain("A [[link|with text]], {{a template}} and <b>bold type</b>.")
    0
    >>> characters_read_in_vain("{{a {{b")
    10
    """
    text = markup.lower()
    opened: list[tuple[str, int]] = []
    open_count: Counter[str] = Counter()
    last_end: dict[str, int] = {}
    vain = at = 0
    while m := _MARK.search(text, at):
        start, at = m.span()
        if (tag := m["tag"]) is not None:
            if m["attributes"].endswith("/>") or tag in SINGLE_TAGS:
                continue
            if tag not in RAW_TAGS:
                opened.append((f"<{tag}", start))
                open_count[f"<{tag}"] += 1
                continue
            ending = f"</{tag}"
            if tag not in last_end:
                last_end[tag] = text.rfind(ending)
            if last_end[tag] < at:
                vain += len(text) - start
            else:
                at = text.index(ending, at) + len(ending)
        elif m[0] == "<":  # a tag without an end, or whose quotation mark has none
            vain += len(text) - start
        elif m["open"] is not None:
            mark = m["open"].lstrip(" \t:*").replace("{{{", "{{")
            opened.append((mark, start))
            open_count[mark] += 1
        else:
            closed = f"<{m['end']}" if m["end"] else _CLOSES[m["close"].strip()]
            if closed == "[[" and not open_count[closed]:
                closed = "["
            while open_count[closed]:  # what was opened since then is not closed
                mark, offset = opened.pop()
                open_count[mark] -= 1
                if mark != closed:
                    vain += len(text) - offset
                    continue
                if text.startswith("{{{", offset):
                    if text.startswith("}", at):
                        at += 1
                    else:  # the parser looked for a third bracket
                        vain += len(text) - offset
                break
    return vain + sum(len(text) - offset for _, offset in opened)
