"""A dump of a wiki, ``…-pages-articles.xml.bz2``: an article is a document; its id is that of the wiki and the page.

Redirects and pages of other namespaces (talk, templates, portals) are left out. ``sentprobe/annotate/wikitext.py``
makes prose of the markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError, XMLPullParser

from sentprobe.annotate.source import Piece, ReadOptions, TextSource, cut
from sentprobe.annotate.wikitext import prose
from sentprobe.core.files import open_bytes
from sentprobe.core.reader import OnBad
from sentprobe.errors import CorpusError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ARTICLES = "0"
FILES_AND_CATEGORIES = ("6", "14")
WIKITEXT = "wikitext"
LARGEST_PAGE = 1 << 26
"""Bytes of a page with all of its revisions; a larger one is not read into memory."""


def read(path: str, name: str, reading: ReadOptions, on_bad: OnBad | None) -> Iterator[Piece]:
    """The markup of every article."""
    wiki = name
    namespaces: tuple[str, ...] = ()
    for tag, element in _elements(path):
        if tag == "siteinfo":
            wiki = _text(element, "dbname") or name
            namespaces = tuple(
                child.text.lower()
                for child in element.iter()
                if _bare(child.tag) == "namespace" and child.get("key") in FILES_AND_CATEGORIES and child.text
            )
        elif (markup := _article(element)) is not None:
            yield Piece(f"{wiki}-{_text(element, 'id')}", markup, first=True, facts=namespaces)


def _elements(path: str) -> Iterator[tuple[str, Element]]:
    """The description of the wiki and its pages, one at a time; what was read is forgotten."""
    parser: Any = XMLPullParser(("start", "end"))
    root: Any = None
    size, line = 0, 1
    try:
        for chunk in open_bytes(path):
            if root is None and b"<!DOCTYPE" in chunk:  # whose entities could stand for any amount of text
                raise CorpusError(path, line, "a document type (<!DOCTYPE)", "a dump of a wiki, which has none")
            size += len(chunk)
            line += chunk.count(b"\n")
            if size > LARGEST_PAGE:
                got = f"a page of more than {LARGEST_PAGE >> 20} MiB"
                raise CorpusError(path, line, got, "pages of a few megabytes, as in pages-articles.xml.bz2")
            parser.feed(chunk)
            for event, element in parser.read_events():
                if root is None:
                    root = element
                    if _bare(root.tag) != "mediawiki":
                        got = f"XML with the element {_bare(root.tag)!r}"
                        raise CorpusError(path, 1, got, "a dump of a wiki: <mediawiki>, as in pages-articles.xml.bz2")
                elif event == "end" and (tag := _bare(element.tag)) in ("siteinfo", "page"):
                    yield tag, element
                    root.clear()
                    size = 0
        parser.close()
    except ParseError as e:
        line = e.position[0]
        raise CorpusError(path, line, f"malformed XML ({e})", "a complete dump; download it again") from None


def _article(page: Element) -> str | None:
    """The markup of a page if it is an article and no redirect."""
    if _text(page, "ns") not in (ARTICLES, "") or _find(page, "redirect") is not None:
        return None
    revision = next((child for child in reversed(page) if _bare(child.tag) == "revision"), None)
    if revision is None or _text(revision, "model") not in (WIKITEXT, ""):
        return None
    return _text(revision, "text")


def _find(element: Element, tag: str) -> Element | None:
    return next((child for child in element if _bare(child.tag) == tag), None)


def _text(element: Element, tag: str) -> str:
    child = _find(element, tag)
    return "" if child is None else (child.text or "")


def _bare(tag: str) -> str:
    """The name of an element without its XML namespace, which has the version of the format."""
    return tag.rpartition("}")[2]


def paragraphs(piece: Piece, reading: ReadOptions) -> list[str]:
    """The prose of an article."""
    return [part for paragraph in prose(piece.text, piece.facts) for part in cut(paragraph)]


text_source = TextSource(
    name="wikipedia",
    summary="A dump of a wiki, pages-articles.xml.bz2: the prose of its articles.",
    suffixes=(".xml",),
    read=read,
    paragraphs=paragraphs,
    lines="paragraphs",
    is_prose=True,
    order=40,
)
