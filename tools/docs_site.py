"""Hooks for mkdocs: pages for the files outside docs/ that the documentation links to.

The pages are written to be read in a checkout as well, where `[heat.py](../src/hyperheat/nn/heat.py)` opens the file.
On the site the same link opens a page with its text, highlighted. Examples in docstrings that start with `>>>` are
shown as code.
"""

import posixpath
import re
from pathlib import Path

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FOLDER = "source"
"""Where those pages are on the site."""

_LINK = re.compile(r"(?<=\]\()(?:\.\./)+[^)#\s]+")
_LANGUAGES = {".py": "python", ".c": "c", ".toml": "toml", ".yml": "yaml", ".json": "json"}


class _Doctests(Preprocessor):
    """Indents examples, which Markdown takes for quotations otherwise."""

    def run(self, lines: list[str]) -> list[str]:
        result, inside = [], False
        for line in lines:
            inside = line.startswith(">>> ") or (inside and bool(line.strip()))
            result.append("    " + line if inside else line)
        return result


class _DoctestExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(_Doctests(md), "doctests", 40)  # before fences, which are at 25


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.markdown_extensions.append(_DoctestExtension())  # pyright: ignore[reportArgumentType]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for page in files.documentation_pages():
        for link in _LINK.findall(Path(str(page.abs_src_path)).read_text(encoding="utf-8")):
            target = _outside(page.src_uri, link)
            if target is None or files.get_file_from_path(f"{FOLDER}/{target}.md"):
                continue
            shown = File.generated(config, f"{FOLDER}/{target}.md", content=_text(target))
            shown.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(shown)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.src_uri.startswith(f"{FOLDER}/"):
        return markdown

    def lead(match: re.Match[str]) -> str:
        target = _outside(page.file.src_uri, match[0])
        if target is None:
            return match[0]
        return posixpath.relpath(f"{FOLDER}/{target}.md", posixpath.dirname(page.file.src_uri))

    lines = _LINK.sub(lead, markdown).splitlines(keepends=True)
    return "".join(
        re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", line) if line.startswith("|") else line for line in lines
    )


def _outside(page: str, link: str) -> str | None:
    """The path of a linked file below the root, if it is not in docs/; links to nowhere are left for mkdocs to report."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return path if not path.startswith("docs/") and (ROOT / path).is_file() else None


def _text(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    head = "---\nsearch:\n  exclude: true\n---\n"
    if path.endswith(".md"):
        return head + re.sub(
            r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text
        )  # its links are meant for the checkout
    return f"{head}# `{path}`\n\n````{_LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n````\n"
