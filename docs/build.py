"""`make docs`: the documents as pages in build/docs, with the Python API and the commands made from the code.

    python docs/build.py [FOLDER]

A link that leads nowhere ends it with exit code 1.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from html import escape
from pathlib import Path

import pdoc
import typer.main
from markdown_it import MarkdownIt
from typer.cli import get_docs_for_click

import dsebo
from dsebo.cli import app, load_command

DOCS = Path(__file__).parent.resolve()
ROOT = DOCS.parent
COMMANDS = "<!-- commands -->"  # where they are put
API = [
    "dsebo",
    "dsebo.methods.base",
    "dsebo.events",
    "dsebo.integrations.optuna",
    "dsebo.experiments.spec",
    "dsebo.store.store",
]
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
nav a { margin-right: 1rem; } img { max-width: 100%; }
pre { padding: .7rem 1rem; overflow-x: auto; background: color-mix(in srgb, currentColor 7%, transparent); }
code { font-size: .92em; } table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; text-align: left; border-bottom: 1px solid gray; }
"""


def commands() -> str:
    """Every command with its options, as Markdown, from the commands themselves."""
    names = [info.name or "" for info in app.registered_commands]
    context = typer.Context(typer.main.get_command(app), info_name="dsebo")
    parts = [
        get_docs_for_click(obj=load_command(name), ctx=context, name=name, call_prefix="dsebo")
        for name in names
    ]
    return "\n".join(part.replace("\n## ", "\n#### ").replace("\n# ", "\n### ") for part in parts)


def anchors(text: str) -> set[str]:
    """What a link may point at within a page."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M)
    return {anchor(head) for head in heads}


def anchor(head: str) -> str:
    """`A heading, so` is `a-heading-so`, as GitHub has it."""
    return re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-")


def broken_links(file: Path, text: str) -> list[str]:
    """Links of a document to files or headings that are not there."""
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, place = link.partition("#")
        if path.startswith(("http:", "https:", "mailto:")):
            continue
        target = (file.parent / path).resolve() if path else file
        if not target.exists():
            wrong.append(f"{file.name}: there is no {link}")
        elif place and place not in anchors(target.read_text(encoding="utf-8")):
            wrong.append(f"{file.name}: {path or file.name} has no heading {place}")
    return wrong


def page(title: str, text: str, names: dict[str, str], folder: Path) -> str:
    """A document as a page of that folder; its links lead to other pages and to the files of the checkout."""

    def placed(match: re.Match[str]) -> str:
        target = (DOCS / match[1]).resolve()
        if target.parent == DOCS:
            return f'href="{target.stem}.html'
        return f'href="{os.path.relpath(target, folder)}'

    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    html = re.sub(r'href="(?!\w+:|#)([^"#]+)', placed, html)
    html = re.sub(r"<h([1-6])>(.*?)</h\1>", _with_anchor, html)
    menu = "".join(f'<a href="{name}.html">{escape(head)}</a>' for name, head in names.items())
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{escape(title)} · DSEBO explorer</title><style>{STYLE}</style>"
        f"<nav>{menu}<a href='api/dsebo.html'>Python API</a></nav>{html}</html>"
    )


def _with_anchor(match: re.Match[str]) -> str:
    level, inner = match[1], match[2]
    return f'<h{level} id="{anchor(re.sub("<[^>]*>", "", inner))}">{inner}</h{level}>'


def main() -> None:
    """Write all pages."""
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build" / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(DOCS.glob("*.md"))}
    names = {file.stem: text.split("\n", 1)[0].removeprefix("# ") for file, text in texts.items()}
    names = {"README": names.pop("README"), **names}
    wrong = []
    for file, text in texts.items():
        wrong += broken_links(file, text)
        whole = text.replace(COMMANDS, commands()) if COMMANDS in text else text
        (folder / f"{file.stem}.html").write_text(
            page(names[file.stem], whole, names, folder), encoding="utf-8"
        )
    if (DOCS / "pictures").is_dir():
        shutil.copytree(DOCS / "pictures", folder / "pictures")
    pdoc.render.configure(docformat="google", footer_text=f"dsebo {dsebo.__version__}")
    pdoc.pdoc(*API, output_directory=folder / "api")
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(folder / "README.html")


if __name__ == "__main__":
    main()
