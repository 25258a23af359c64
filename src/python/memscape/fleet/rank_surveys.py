"""Surveys of ranks from the tables of a lake, in the form of `RankSurvey` in `src/compare/ranks/survey.rs`.

The tables have no curve of the live bytes, and of the steps only the peaks.
"""

from __future__ import annotations

import json
import posixpath
from typing import Any

from .tables import Group, Tables

# Of each snapshot the device that `memscape ranks` compares: one that ran out of memory, else the one with the highest
# peak.
_CHOSEN = """
WITH chosen AS (
  SELECT * FROM snapshot WHERE {where} AND status = 'ok' AND device IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY snapshot ORDER BY coalesce(ooms, 0) > 0 DESC, peak_bytes DESC, device) = 1),
sites AS (
  SELECT u.snapshot, list({{site: u.site, file: c.file, line: c.line, function: c.function, bytes: u.peak_bytes,
    allocations: u.peak_count}} ORDER BY u.peak_bytes DESC, u.site) AS sites
  FROM site_use u SEMI JOIN chosen USING (snapshot, device) LEFT JOIN site c USING (site)
  WHERE u.peak_bytes > 0 GROUP BY u.snapshot),
steps AS (
  SELECT t.snapshot, list(t.peak_bytes ORDER BY t.step) AS steps
  FROM step t SEMI JOIN chosen USING (snapshot, device) GROUP BY t.snapshot),
failed AS (
  SELECT DISTINCT ON (o.snapshot) o.snapshot, o.event, o.requested_bytes, o.device_free_bytes, o.live_bytes,
    o.reserved_bytes FROM oom o SEMI JOIN chosen USING (snapshot, device) ORDER BY o.snapshot, o.event)
SELECT chosen.*, sites.sites, steps.steps, failed.* EXCLUDE (snapshot)
FROM chosen LEFT JOIN sites USING (snapshot) LEFT JOIN steps USING (snapshot) LEFT JOIN failed USING (snapshot)
"""
# Facts of the recorder that the tables have.
_FACTS = ("rank", "step", "host", "reason", "attempt", "git", "torch")


def surveys(tables: Tables, group: Group) -> dict[str, dict[str, Any]]:
    """Return the survey of each snapshot of a list that could be read, by its id."""
    where, parameters = group.where()
    found = tables.rows(_CHOSEN.format(where=where), parameters)
    return {row["snapshot"]: {"is_merged": False, "devices": [_survey(row)]} for row in found}


def _survey(row: dict[str, Any]) -> dict[str, Any]:
    sites, other = _sites(row["sites"] or [])
    settings = json.loads(row["settings"] or "{}")
    return {
        "device": row["device"],
        "events": row["events"] or 0,
        "peak_requested": row["peak_bytes"] or 0,
        "peak_event": -1,
        "peak_reserved": row["peak_reserved_bytes"] or 0,
        "end_requested": max(row["end_bytes"] or 0, 0),
        "out_of_memory": _out_of_memory(row),
        "capacity": row["capacity_bytes"],
        "settings": [
            [name, value if isinstance(value, str) else json.dumps(value)] for name, value in settings.items()
        ],
        "recorder": [[name, str(row[name])] for name in _FACTS if row[name] is not None],
        "sites": sites,
        "other_bytes": other,
        "curve": [],
        "by_time": None,
        "steps_way": "",
        "steps": row["steps"] or [],
        "step_events": [],
    }


def _out_of_memory(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["event"] is None:
        return None
    names = ("event", "requested_bytes", "device_free_bytes", "live_bytes", "reserved_bytes")
    return {"time_us": None, **{name: row[name] for name in names}}


def _sites(found: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return the call sites by the names that `memscape ranks` gives them, and the bytes of those without a row."""
    named: dict[str, dict[str, Any]] = {}
    other = 0
    for site in found:
        if site["site"] == "rest":
            other += site["bytes"]
            continue
        name = _name(site)
        known = named.setdefault(name, {"site": name, "bytes": 0, "allocations": 0})
        known["bytes"] += site["bytes"]
        known["allocations"] += site["allocations"] or 0
    return sorted(named.values(), key=lambda site: (-site["bytes"], site["site"])), other


def _name(site: dict[str, Any]) -> str:
    file, line, function = posixpath.basename(site["file"] or ""), site["line"], site["function"] or ""
    if not file and not function:
        return "no stack"
    return f"{file}:{line} {function}" if line else f"{file} {function}".strip()
