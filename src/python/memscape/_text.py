"""Text from files, made safe for HTML and Markdown. Names in a snapshot are whatever its program called things."""

from __future__ import annotations

import html
import re
import unicodedata

MAX_CELL = 160
"""Characters of a cell that a notebook shows."""

# Letters that Markdown, its tables and its automatic links give a meaning; as references, no parser does.
_MARKDOWN = re.compile(r"[&<>|@$`*_~\\\[\]#]|://|(?<=www)\.", re.IGNORECASE)
# A list, a rule or a heading begins so, at the start of a line.
_BLOCK = re.compile(r"^(\d{0,9})([-+=.)])(?=[-+=\s]|$)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "@": "&#64;", "://": "&#58;//", ".": "&#46;"}


def one_line(text: str) -> str:
    """Return the text with white space as spaces, and without control characters and marks that change the direction."""
    return "".join(_plain(letter) for letter in text)


def _plain(letter: str) -> str:
    if letter.isspace():
        return " "
    # Other, control; other, format (the marks of direction are among them); surrogates, which have no encoding.
    return "\ufffd" if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter


def cut(text: str, most: int = MAX_CELL) -> str:
    """Return the text in one line, without its end where it is longer than `most`."""
    text = one_line(text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 1]}…"


def html_text(text: str) -> str:
    """Return the text for an element or an attribute of HTML."""
    return html.escape(one_line(text))


def markdown_text(text: str) -> str:
    """Return the text for a line or a table of Markdown, in which it reads as itself."""
    text = one_line(text).strip()
    return _BLOCK.sub(r"\1\\\2", _MARKDOWN.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    letters = found.group()
    if letters == "$":
        # Notebooks typeset what stands between two of them, unless an element ends after each.
        return "<span>$</span>"
    return _ENTITIES.get(letters) or f"\\{letters}"
