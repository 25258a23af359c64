"""Answers of questions as lists, with signed links if they are asked for."""

from __future__ import annotations

import difflib
from typing import Any
from urllib.parse import quote

from memscape._binary import MemscapeError

from .queries import connect
from .questions import QUESTIONS
from .sources import Storage, Time
from .stores import named_errors, open_store

Rows = list[tuple[Any, ...]]


def answer(
    lake: str,
    question: str,
    storage: Storage,
    *,
    sign_hours: int | None = None,
    since: Time | None = None,
    viewer: str | None = None,
) -> tuple[list[str], Rows]:
    """Return the names of the columns, and the rows.

    Raises:
        MemscapeError: The lake cannot be read, no question has the name, or the SQL is wrong.

    """
    import duckdb

    if question.isidentifier() and question not in QUESTIONS:
        near = difflib.get_close_matches(question, QUESTIONS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(QUESTIONS)}"
        raise MemscapeError(f"no question is named {question}: {hint}")
    try:
        return asked(connect(lake, storage=storage, since=since, viewer=viewer), question, storage, sign_hours)
    except duckdb.Error as error:
        raise MemscapeError(str(error)) from None


def asked(connection: Any, question: str, storage: Storage, sign_hours: int | None) -> tuple[list[str], Rows]:
    """Answer a question on an open connection."""
    result = connection.execute(QUESTIONS.get(question, question))
    names = [column[0] for column in result.description or ()]
    rows: Rows = result.fetchall()
    if sign_hours and "link" in names:
        rows = [_signed(names, row, storage, sign_hours) for row in rows]
    return names, rows


def _signed(names: list[str], row: tuple[Any, ...], storage: Storage, hours: int) -> tuple[Any, ...]:
    """Replace the addresses in a link by signed ones, which a browser can read without credentials."""
    values = dict(zip(names, row))
    for column in ("telling_file", "first_file"):
        url = values.get(column)
        if url and "://" in url:
            fs, path = open_store(url, storage)
            with named_errors(url, fs):
                try:
                    signed = quote(fs.sign(path, expiration=hours * 3600), safe="")
                except (AttributeError, NotImplementedError):
                    raise MemscapeError(f"{url}: only addresses in a store can be signed: leave out --sign") from None
            for written in (quote(url, safe="/"), quote(url, safe="")):
                values["link"] = values["link"].replace(f"={written}&", f"={signed}&")
                values["link"] = values["link"].removesuffix(f"={written}") + (
                    f"={signed}" if values["link"].endswith(f"={written}") else ""
                )
    return tuple(values.values())
