"""A report of text, tables, claims and figures, as one self-contained HTML page or as Markdown."""

import base64
import dataclasses
import html
import io
import re
import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.figure import Figure

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1150px; margin: 2em auto; padding: 0 1em; color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
caption { text-align: left; color: #555; padding: .3em 0; }
th, td { padding: .2em .5em; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th:first-child, td:first-child, .text th, .text td { text-align: left; }
td.verdict { white-space: nowrap; } details { text-align: left; min-width: 11em; } summary { cursor: pointer; }
figure { margin: 1.5em 0; } figure img { max-width: 100%; } figcaption { color: #555; font-size: 13px; }
.holds { color: #176d2f; } .does { color: #a11; } .cannot { color: #865a00; }
"""
#: A longer entry among numbers is folded, so that rows stay low.
FOLD = 100
VERDICTS = ("holds", "does not hold", "cannot be decided")


@dataclasses.dataclass(frozen=True)
class Heading:
    text: str


@dataclasses.dataclass(frozen=True)
class Prose:
    text: str


@dataclasses.dataclass(frozen=True)
class Grid:
    """A table of text; `caption` says what is in it, with units."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: bool = False
    """Columns of words, which begin at the left; numbers end at the right."""


@dataclasses.dataclass(frozen=True)
class Picture:
    """A matplotlib figure; `caption` says what to see in it."""

    caption: str
    figure: Figure


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a paper says, whether it is so here, and the number behind that."""

    text: str
    verdict: str
    number: str

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise ValueError(f"A claim has the verdict '{self.verdict}', which is none of {', '.join(VERDICTS)}.")


def claim(text: str, holds: bool | np.bool | None, number: str) -> Claim:
    """A claim that holds (True), does not (False), or cannot be decided (None)."""
    return Claim(text, VERDICTS[2] if holds is None else VERDICTS[0 if holds else 1], number)


@dataclasses.dataclass(frozen=True)
class Claims:
    claims: Sequence[Claim]


Block = Heading | Prose | Grid | Picture | Claims


@dataclasses.dataclass(frozen=True)
class Report:
    """A title and what follows it, in order."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def claims(self) -> list[Claim]:
        """All claims of the report."""
        return [claim for block in self.blocks if isinstance(block, Claims) for claim in block.claims]

    @property
    def figures(self) -> list[Figure]:
        """All figures of the report."""
        return [block.figure for block in self.blocks if isinstance(block, Picture)]

    def html(self) -> str:
        """One page that needs nothing else: pictures are inside."""
        body = "\n".join(_html(block) for block in self.blocks)
        title = html.escape(self.title)
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\n</body></html>\n"
        )

    def markdown(self) -> str:
        """The same with the captions of the pictures instead of them."""
        return "\n\n".join([f"# {self.title}", *map(_markdown, self.blocks)]) + "\n"


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{html.escape(text)}</h2>"
        case Prose(text):
            return f"<p>{html.escape(text)}</p>"
        case Picture(caption, figure):
            return (
                f'<figure><img alt="{html.escape(caption)}" src="{_data_address(figure)}">'
                f"<figcaption>{html.escape(caption)}</figcaption></figure>"
            )
        case Grid():
            return _html_table(block)
        case Claims(claims):
            rows = [
                f'<tr><td>{html.escape(c.text)}</td><td class="verdict {c.verdict.split()[0]}">{c.verdict}</td>'
                f"<td>{html.escape(c.number)}</td></tr>"
                for c in claims
            ]
            return f'<table class="text">{_row("th", ("claim", "verdict", "number"))}{"".join(rows)}</table>'


def _html_table(grid: Grid) -> str:
    body = "".join(_row("td", row, fold=not grid.words) for row in grid.rows)
    # A heading may break between words, but not within 1e-06.
    header = re.sub(r"(\de)-(\d)", r"\1&#8209;\2", _row("th", grid.header))
    start = '<table class="text">' if grid.words else "<table>"
    return f"{start}<caption>{html.escape(grid.caption)}</caption>{header}{body}</table>"


def _row(tag: str, entries: Iterable[str], fold: bool = False) -> str:
    return "<tr>" + "".join(f"<{tag}>{_entry(entry, fold)}</{tag}>" for entry in entries) + "</tr>"


def _entry(text: str, fold: bool) -> str:
    if not fold or len(text) <= FOLD:
        return html.escape(text)
    start = textwrap.shorten(text, FOLD // 2, placeholder=" ...")
    return f"<details><summary>{html.escape(start)}</summary>{html.escape(text)}</details>"


def _data_address(figure: Figure) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {text}"
        case Prose(text):
            return text
        case Grid(caption, header, rows):
            return f"{caption}\n\n{_markdown_table(header, rows)}"
        case Claims(claims):
            return _markdown_table(("claim", "verdict", "number"), [(c.text, c.verdict, c.number) for c in claims])
        case Picture(caption, _):
            return f"(Figure: {caption})"


def _markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(entry.replace("|", "\\|") for entry in line) + " |" for line in lines)
