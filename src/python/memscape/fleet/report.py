"""A page about a lake, without scripts: what is wrong in the fleet, with links to the files that show it."""

from __future__ import annotations

import html
import os
import shlex
import tempfile
from datetime import datetime, timezone
from typing import Any

from memscape._binary import MemscapeError
from memscape._text import counted

from .answers import Rows, asked
from .queries import connect
from .questions import QUESTIONS
from .sources import Storage, Time

# Sections of the page, the most urgent first: question and title.
_SECTIONS = {
    "oom_clusters": "Out of memory",
    "oom_jobs": "Jobs that ran out of memory",
    "growth": "Growing jobs",
    "growing_sites": "Growing call sites",
    "odd_ranks": "Ranks that differ",
    "new_sites": "New places that allocate",
    "headroom": "Least headroom",
    "peaks": "Highest peaks",
    "settings": "Allocator settings",
    "errors": "Files that could not be read",
}
_HEADINGS = {"ooms": "OOMs", "with_oom": "with OOM", "had_oom": "had OOM", "unread": "unreadable", "conf": "settings"}
# Maximum length of a text that is not wrapped, in characters.
_LONGEST_LINE = 40
# Columns whose values matter unless they are 0.
_ALARMS = {"ooms", "with_oom", "unread"}
# Address of the page in links of a report that `memscape serve --lake` serves.
SERVED = "open"
# Maximum number of rows of a section.
_MOST_ROWS = 20

_STYLE = """
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem }
h1 { font-size: 1.4rem; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin: 2rem 0 .25rem }
p { margin: .25rem 0 } form { margin: 1rem 0 }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #8884 }
th { white-space: nowrap } th:first-child, td:first-child { padding-left: 0 }
.n { text-align: right } td:is(.n, .t) { font-variant-numeric: tabular-nums; white-space: nowrap }
td:first-child:has(a) { min-width: 12rem; overflow-wrap: anywhere }
.w { min-width: 16rem } .alarm { color: light-dark(#a4262c, #ff9b94); font-weight: 600 }
code { font-size: .85em; overflow-wrap: anywhere; display: block; min-width: 11rem }
/* Tables scroll sideways on narrow screens, so long texts need not wrap. */
@media (max-width: 60rem) { .w { min-width: 40rem } code { white-space: nowrap } }
"""


def write(
    lake: str,
    output: str,
    storage: Storage,
    *,
    sign_hours: int | None = None,
    since: Time | None = None,
    viewer: str | None = None,
) -> None:
    """Write the page to a file, which appears as a whole.

    Raises:
        MemscapeError: The lake cannot be read, or the file is a part of it.
        OSError: The file cannot be written. No partial file is left behind.

    """
    import duckdb

    place = os.path.realpath(output)
    if os.path.isfile(place) and place.startswith(os.path.realpath(lake) + os.sep) and not place.endswith(".html"):
        raise MemscapeError(f"{output}: would overwrite a file of the lake; name another output file")
    try:
        page = render(lake, storage, sign_hours=sign_hours, since=since, viewer=viewer)
    except duckdb.Error as error:
        raise MemscapeError(str(error)) from None
    if os.path.exists(output) and not os.path.isfile(output):
        # Pipes and devices such as /dev/null must not be replaced by a file. For folders, this is an error.
        with open(output, "w", encoding="utf-8") as file:
            file.write(page)
        return
    handle, temporary = tempfile.mkstemp(prefix=".memscape-", dir=os.path.dirname(place))
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.chmod(temporary, 0o644)
        # A link stays a link.
        os.replace(temporary, place)
    except BaseException:
        os.unlink(temporary)
        raise


def render(
    lake: str, storage: Storage, *, sign_hours: int | None = None, since: Time | None = None, viewer: str | None = None
) -> str:
    """Return the page as HTML."""
    connection = connect(lake, storage=storage, since=since, viewer=viewer)
    counts = connection.execute(
        "SELECT count(DISTINCT url), count(DISTINCT job), min(modified), max(modified), count(*) FROM recent"
    ).fetchone()
    files, jobs, first, last, _ = counts or (0, 0, None, None, 0)
    days = dict.fromkeys(f"{time:%Y-%m-%d}" for time in (first, last) if time)
    span = f", {' to '.join(days)}" if days else ""
    back = "<p><a href='./'>Jobs</a></p>" if viewer == SERVED else ""
    heading = f"Memory of {counted(jobs, 'job')}"
    parts = [f"{back}<h1>{heading}</h1>", f"<p>{counted(files, 'snapshot')}{span} · {escaped(lake)}</p>"]
    for question, title in _SECTIONS.items():
        names, rows = asked(connection, question, storage, sign_hours)
        words = QUESTIONS[question].splitlines()[0].removeprefix("-- ")
        parts.append(f"<h2>{title}</h2><p>{escaped(words)}.</p>{_table(names, rows, viewer)}")
    now = datetime.now(timezone.utc)
    parts.append(
        f"<p>Written by memscape at {now:%Y-%m-%d %H:%M} UTC. Sizes are requested bytes, except reserved memory.</p>"
    )
    return page("Report", "".join(parts))


def page(title: str, body: str) -> str:
    """Return a page without scripts, which loads nothing and sends forms only to its own server."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)} · memscape</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _table(names: list[str], rows: Rows, viewer: str | None) -> str:
    if not rows:
        return "<p>None.</p>"
    shown = [name for name in names if name not in ("link", "telling_file", "first_file", "signature", "place")]
    first = dict(zip(names, rows[0]))
    # The first text of a row is the link: it is in view on narrow screens, and a number is a small target.
    linked = next((name for name in shown if isinstance(first[name], str)), shown[0])
    has_commands = viewer != SERVED
    head = "".join(heading(name, first[name]) for name in shown) + ("<th>open</th>" if has_commands else "")
    body = []
    for row in rows[:_MOST_ROWS]:
        values = dict(zip(names, row))
        link = _link(values, viewer)
        cells = "".join(cell(name, values[name], link if name == linked else "") for name in shown)
        body.append(f"<tr>{cells}{f'<td>{_command(values)}</td>' if has_commands else ''}</tr>")
    more = f"<p>And {len(rows) - _MOST_ROWS} more.</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"


def _link(values: dict[str, Any], viewer: str | None) -> str:
    """Return the address of the file in the viewer, or an empty text."""
    link = (values.get("link") or "") if viewer and values.get("telling_file") else ""
    # The server needs the address, to find the list that the file is in.
    return link.replace("#", "?", 1) if viewer == SERVED else link


def _command(values: dict[str, Any]) -> str:
    """Return the command that opens the file on a machine that can read it."""
    url = values.get("telling_file")
    if not url:
        return ""
    path = url.removeprefix("file://")
    action = "tui" if "://" not in path else "fleet open"
    return f"<code>{escaped(f'memscape {action} {shlex.quote(path)}')}</code>"


def heading(name: str, value: Any) -> str:
    """Return the heading of a column with values like this one. Its cells have the unit."""
    words = _HEADINGS.get(name) or name.removesuffix("_bytes").replace("_", " ")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"<th{' class=n' if number else ''}>{escaped(words)}{' (UTC)' if isinstance(value, datetime) else ''}</th>"


def cell(name: str, value: Any, link: str = "") -> str:
    """Return a cell of a table, as a link if an address is given.

    The name of its column says which values are bytes or shares.
    """
    attributes, text = _attributes_and_text(name, value)
    shown = f'<a href="{escaped(link)}">{text}</a>' if link else text
    return f"<td{attributes}>{shown}</td>"


def _attributes_and_text(name: str, value: Any) -> tuple[str, str]:
    if value is None or value == "":
        return "", "\u2013"
    if isinstance(value, bool):
        return "", "yes" if value else "no"
    if isinstance(value, (int, float)):
        as_bytes = is_bytes(name, value)
        text = size(value) if as_bytes else f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
        if "share" in name:
            text = f"{100 * value:.1f} %"
        title = f' title="{value:,.0f} bytes"' if as_bytes else ""
        return f' class="{"n alarm" if name in _ALARMS and value else "n"}"{title}', text
    if isinstance(value, datetime):
        return ' class="t"', f"{value:%Y-%m-%d %H:%M}"
    return f' class="{"t" if len(str(value)) <= _LONGEST_LINE else "w"}"', escaped(value)


def is_bytes(name: str, value: Any) -> bool:
    """Return whether a value is a number of bytes, by the name of its column."""
    return (
        name.endswith(("bytes", "bytes_per_step")) and isinstance(value, (int, float)) and not isinstance(value, bool)
    )


def size(value: float) -> str:
    """Format bytes with three significant digits."""
    sign, rest, unit = "\u2212" if value < 0 else "", abs(float(value)), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):  # noqa: B007
        if rest < 1000:
            break
        rest /= 1024
    if unit == "B":
        return f"{sign}{rest:,.0f} B"
    decimals = 2 if rest < 9.995 else 1 if rest < 99.95 else 0
    return f"{sign}{rest:.{decimals}f} {unit}"


def escaped(value: Any) -> str:
    """Return a text of a snapshot as HTML, without control characters."""
    return html.escape("".join(letter if letter.isprintable() else "\ufffd" for letter in str(value)))
