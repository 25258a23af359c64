"""Counts with their nouns, and escaping of text from snapshots for HTML and Markdown. Names in a snapshot are untrusted."""

from __future__ import annotations

import html
import re
import unicodedata

MAX_CELL = 160
"""Maximum length of a cell in a notebook, in characters."""

# Characters with a meaning in Markdown, its tables or its autolinks. Parsers ignore them as character references.
_MARKDOWN = re.compile(r"[&<>|@$`*_~\\\[\]#]|://|(?<=www)\.", re.IGNORECASE)
# Start of a list item, a rule or a heading at the beginning of a line.
_BLOCK = re.compile(r"^(\d{0,9})([-+=.)])(?=[-+=\s]|$)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "@": "&#64;", "://": "&#58;//", ".": "&#46;"}


def counted(count: int, what: str) -> str:
    """Return a count with its noun: `1 row`, `2 rows`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def one_line(text: str) -> str:
    """Return the text with all white space as spaces, and control and direction characters replaced."""
    return "".join(_plain(letter) for letter in text)


def _plain(letter: str) -> str:
    if letter.isspace():
        return " "
    # Control characters, format characters (including direction marks), and surrogates, which cannot be encoded.
    return "\ufffd" if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter


def cut(text: str, most: int = MAX_CELL) -> str:
    """Return the text as one line, cut to at most `most` characters."""
    text = one_line(text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 1]}…"


def html_text(text: str) -> str:
    """Return the text escaped for an HTML element or attribute."""
    return html.escape(one_line(text))


def markdown_text(text: str) -> str:
    """Return the text escaped for a line or a table cell of Markdown."""
    text = one_line(text).strip()
    return _BLOCK.sub(r"\1\\\2", _MARKDOWN.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    letters = found.group()
    if letters == "$":
        # Notebooks typeset text between two dollar signs as math, unless each is in its own element.
        return "<span>$</span>"
    return _ENTITIES.get(letters) or f"\\{letters}"
