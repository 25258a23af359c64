"""Actions and options of `memscape fleet`."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from typing import Any


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise argparse.ArgumentTypeError("expected i/n, such as 0/100")
    return int(index), int(count)


def _time(text: str) -> datetime:
    from .fleet.sources import as_time

    try:
        return as_time(text)
    except ValueError:
        raise argparse.ArgumentTypeError("expected a date or time, such as 2026-11-04") from None


def _bytes(text: str) -> int:
    units = {"KiB": 10, "MiB": 20, "GiB": 30, "K": 10, "M": 20, "G": 30}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    number = text[: len(text) - len(unit)]
    if not number.isdecimal():
        raise argparse.ArgumentTypeError("expected bytes, such as 8GiB")
    return int(number) << units.get(unit, 0)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError("expected a whole number, 1 or more")
    return int(text)


def _options(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a JSON object, such as '{{\"anon\": true}}': {error}") from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError("expected a JSON object, such as '{\"anon\": true}'")
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of all actions."""
    made = argparse.ArgumentParser(
        prog="memscape fleet", description="Survey the snapshots of many jobs, and query them."
    )
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, words: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=words, description=words)

    survey = action("survey", "Read the snapshots below these addresses that the lake does not have yet.")
    survey.add_argument(
        "urls", nargs="*", metavar="URL", help="folder or snapshot: a path, or an address such as s3://bucket/runs"
    )
    survey.add_argument("lake", metavar="LAKE", help="folder of the tables, which is created")
    survey.add_argument(
        "--list", metavar="FILE", help="file with URLs, JSON lines, or an S3 Inventory in Parquet, instead of URL"
    )
    survey.add_argument(
        "--engine", choices=("local", "ray"), default="local", help="this machine, or the Ray cluster of RAY_ADDRESS"
    )
    survey.add_argument(
        "--shard",
        type=_shard,
        default=(0, 1),
        metavar="I/N",
        help="survey only shard I of N, as one task of a SLURM array",
    )
    survey.add_argument(
        "--workers", type=_count, metavar="N", help="batches at the same time; by default one for each core"
    )
    survey.add_argument("--since", type=_time, metavar="TIME", help="only files that changed at this time or later")
    survey.add_argument(
        "--again", action="store_true", help="read files again whose failure may have passed, such as denied"
    )
    survey.add_argument("--upgrade", action="store_true", help="read files again whose rows were made by older rules")
    survey.add_argument("--files", type=_count, default=64, metavar="N", help="files of a batch, at most [default: 64]")
    survey.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder of the program's source code; may be repeated",
    )
    survey.add_argument(
        "--memory", type=_bytes, metavar="BYTES", help="memory to read a file; a larger one gets the status too_big"
    )
    survey.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time limit of a file, and 1 s for each 5 MB [default: 60]",
    )
    survey.add_argument("--json", action="store_true", help="print the counts as JSON")

    ask = action("ask", "Answer a question by name, or in SQL.")
    ask.add_argument("lake", metavar="LAKE", help="folder of the tables")
    ask.add_argument("question", nargs="?", metavar="QUESTION", help="name or SQL; if omitted, all names are listed")
    form = ask.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, a list of objects")
    form.add_argument("--csv", action="store_true", help="print CSV")

    report = action("report", "Write a page without scripts: what is wrong, with links to the files that show it.")
    report.add_argument("lake", metavar="LAKE", help="folder of the tables")
    report.add_argument("-o", "--output", required=True, metavar="OUT.html", help="file to write")
    for command in (ask, report):
        command.add_argument(
            "--since", type=_time, metavar="TIME", help="only snapshots that changed at this time or later"
        )
        command.add_argument(
            "--viewer", metavar="URL", help="address of the page, for links such as URL#url=...&at=oom"
        )
        command.add_argument(
            "--sign", type=_count, metavar="HOURS", help="sign the addresses in links, so that they open for so long"
        )

    views = action("views", "Print the views as SQL.")
    views.add_argument("lake", metavar="LAKE", help="folder of the tables")
    views.add_argument("--for", dest="engine", default="duckdb", choices=("duckdb", "clickhouse", "spark", "trino"))

    compact = action("compact", "Register the parts of the lake as Delta tables, and merge them.")
    compact.add_argument("lake", metavar="LAKE", help="folder of the tables")
    opened = action("open", "Open a stored snapshot, or run another command of memscape on it.")
    opened.add_argument(
        "url", metavar="URL", help="path or address of the snapshot, such as a telling_file of an answer"
    )
    opened.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="command and its options [default: serve]"
    )
    # Run by memscape serve --lake. Without help, it is not listed.
    tables = actions.add_parser("tables")
    tables.add_argument("lake")
    for command in (survey, ask, report, views, compact, opened, tables):
        command.add_argument(
            "--storage", type=_options, default={}, metavar="JSON", help="options of the file system, as for fsspec"
        )
    return made
