"""What the docs site has from outside `docs/`: the changelog, how to contribute, and the example notebooks.

Notebooks become ordinary pages of the site, so that search, the table of contents and dark colours work in them, and
nothing of Jupyter is shipped with the site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
FENCE = "`````"
CODE = re.compile(r"`[^`]*`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them to the pages of the site."""
    for page, source in PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        text = re.sub(r"\[([^]]+)\]\([A-Z]+\.md\)", r"`\1`", text)  # a file that is no page of the site
        text = text.replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        files.append(File.generated(config, f"examples/{notebook.stem}.md", content=markdown(notebook)))
        files.append(File(f"examples/{notebook.name}", str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(text: str, **_: object) -> str:
    """A page as this dialect of Markdown has it, and not that of code hosts.

    Links to notebooks lead to their pages here, and not out of `docs/`. In code that stands in a table, a bar needs no
    backslash before it.
    """
    text = re.sub(r"\]\(\.\./(examples/\w+)\.ipynb\)", r"](\1.md)", text)
    return "\n".join(CODE.sub(unescaped, line) if line.startswith("|") else line for line in text.split("\n"))


def unescaped(code: re.Match[str]) -> str:
    """A piece of code without the backslashes before bars."""
    return code[0].replace("\\|", "|")


def markdown(path: Path) -> str:
    """A notebook as a page, with a link to the notebook below the title."""
    title, *parts = (part for cell in json.loads(path.read_text("utf-8"))["cells"] for part in written(cell))
    title, _, rest = title.partition("\n")
    return "\n\n".join([title, f"[Download this page as a notebook]({path.name})", rest, *parts]) + "\n"


def written(cell: dict[str, Any]) -> Iterator[str]:
    """A cell: its text, or its code and what that printed."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source.replace(".ipynb)", ".md)")
    elif source.strip():
        yield f"{FENCE}python\n{source}\n{FENCE}"
        for output in cell["outputs"]:
            shown = output.get("data", {"text/plain": output.get("text", [])})
            if "text/html" in shown:
                # one block of HTML, whatever blank lines it has; tables as they look elsewhere on the site
                table = "".join(shown["text/html"]).replace('<table border="1" class="dataframe">', "<table>")
                yield f'<div class="output">{table}</div>'.replace("\n\n", "\n")
            elif text := "".join(shown.get("text/plain", [])).rstrip("\n"):
                yield f"{FENCE}{{.text .output}}\n{text}\n{FENCE}"
