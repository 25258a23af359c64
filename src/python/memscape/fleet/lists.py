"""Lists of jobs, steps, ranks and snapshots as pages without scripts, for `memscape serve --lake`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .report import cell, escaped, heading, page
from .tables import MOST_ROWS, Group, Tables


def jobs(tables: Tables, part: str) -> str:
    """Return the list of the jobs whose name contains a text."""
    found = tables.jobs(part)
    body = [
        f"<h1>Jobs</h1><p>{escaped(tables.lake)} · <a href='report'>Report</a></p>",
        "<form><label>Name contains <input name='q' type='search'"
        f" value='{escaped(part)}'></label> <button>Search</button></form>",
        _table(found, lambda row: (Group(row["job"]).path(), row["job"] or "without a job"), "job"),
    ]
    return page("Jobs", "".join(body))


def job(tables: Tables, name: str) -> str:
    """Return the lists of the steps and of the ranks of a job."""
    steps, ranks = tables.parts(name, "step"), tables.parts(name, "rank")
    body = [
        f"<p><a href='../'>Jobs</a></p><h1>{escaped(name or 'without a job')}</h1><h2>Steps</h2>",
        _table(steps, lambda row: (f"step={quote(row['step'], safe='')}/", row["step"] or "unknown"), "step"),
        "<h2>Ranks</h2>",
        _table(ranks, lambda row: (f"rank={quote(row['rank'], safe='')}/", row["rank"] or "unknown"), "rank"),
    ]
    return page(name, "".join(body))


def group(tables: Tables, chosen: Group) -> str:
    """Return the list of the snapshots of a step or of a rank. A row for each device opens its snapshot."""
    found = tables.devices(chosen)
    first = found[0]["snapshot"] if found else None
    body = [
        f"<p><a href='../../'>Jobs</a> · <a href='../'>{escaped(chosen.job or 'without a job')}</a></p>",
        f"<h1>{escaped(chosen.title())}</h1>",
    ]
    if first and chosen.step is not None and len({row["snapshot"] for row in found}) > 2:
        body.append(f"<p><a href='{int(first, 16)}?tab=why&amp;topic=ranks'>Compare the ranks</a></p>")
    for row in found:
        name = row["url"].rsplit("/", 1)[-1]
        row["file"] = (f"{int(row['snapshot'], 16)}{'?at=oom' if row['ooms'] else ''}", name)
    same = "step" if chosen.step is not None else "rank"
    body.append(_table(found, lambda row: row["file"], "file", hidden=("snapshot", "url", "status", same)))
    return page(chosen.title(), "".join(body))


def _table(rows: list[dict[str, Any]], link: Any, first: str, hidden: tuple[str, ...] = ()) -> str:
    """Return a table whose first column links to the row's address."""
    if not rows:
        return "<p>None.</p>"
    names = [name for name in rows[0] if name != first and name not in hidden]
    head = f"<th>{escaped(first)}</th>{''.join(heading(name, rows[0][name]) for name in names)}"
    body = []
    for row in rows[:MOST_ROWS]:
        address, text = link(row)
        cells = "".join(cell(name, row[name]) for name in names)
        body.append(f'<tr><td><a href="{escaped(address)}">{escaped(text)}</a></td>{cells}</tr>')
    more = f"<p>Only the first {MOST_ROWS:,} are listed.</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"
