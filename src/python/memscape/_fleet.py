"""`memscape fleet`: survey, ask, report, open, views and compact, and tables for `memscape serve`.

Its actions import what the extras of the package install.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from ._binary import MemscapeError, program

# Status of a program that Ctrl+C ended.
_INTERRUPTED = 130


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise argparse.ArgumentTypeError("expected i/n, such as 0/100")
    return int(index), int(count)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise argparse.ArgumentTypeError("expected a date or time, such as 2026-11-04") from None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def _bytes(text: str) -> int:
    units = {"KiB": 10, "MiB": 20, "GiB": 30, "K": 10, "M": 20, "G": 30}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    number = text[: len(text) - len(unit)]
    if not number.isdecimal():
        raise argparse.ArgumentTypeError("expected bytes, such as 8GiB")
    return int(number) << units.get(unit, 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memscape fleet", description="Survey the snapshots of many jobs, and query them."
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

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
        "--workers", type=int, metavar="N", help="batches at the same time; by default one for each core"
    )
    survey.add_argument("--since", type=_time, metavar="TIME", help="only files that changed at this time or later")
    survey.add_argument(
        "--again", action="store_true", help="read files again whose failure may have passed, such as denied"
    )
    survey.add_argument("--upgrade", action="store_true", help="read files again whose rows were made by older rules")
    survey.add_argument("--files", type=int, default=64, metavar="N", help="files of a batch, at most [default: 64]")
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
            "--sign", type=int, metavar="HOURS", help="sign the addresses in links, so that they open for so long"
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
            "--storage", type=json.loads, default={}, metavar="JSON", help="options of the file system, as for fsspec"
        )
    return parser


def _survey(chosen: argparse.Namespace) -> int:
    from .fleet.driver import Progress, survey

    is_terminal = sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if is_terminal:
            print(f"\r\x1b[K{progress.text()}", end="", file=sys.stderr, flush=True)

    if bool(chosen.urls) == bool(chosen.list):
        raise MemscapeError("name folders to survey, or --list FILE")
    done = survey(
        chosen.urls,
        chosen.lake,
        engine=chosen.engine,
        storage=chosen.storage,
        list_file=chosen.list,
        since=chosen.since,
        again=chosen.again,
        upgrade=chosen.upgrade,
        shard=chosen.shard,
        files=chosen.files,
        workers=chosen.workers,
        roots=chosen.root,
        memory=chosen.memory,
        seconds=chosen.timeout,
        report=show,
    )
    if is_terminal:
        print(file=sys.stderr)
    if chosen.json:
        counts = {"listed": done.listed, "new": done.new, "done": done.done, "batches": done.batches}
        sizes = {
            "source_bytes": done.source_bytes,
            "written_bytes": done.written_bytes,
            "seconds": round(done.seconds, 3),
        }
        print(json.dumps({**counts, **sizes, "statuses": dict(sorted(done.statuses.items()))}))
    else:
        print(f"{done.listed:,} listed, {done.new:,} new. {done.text() if done.new else 'Nothing to read.'}")
    if done.is_stopped:
        print("memscape: stopped; the same command continues", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _terms(chosen: argparse.Namespace) -> dict[str, Any]:
    since = chosen.since.astimezone(timezone.utc).replace(tzinfo=None).isoformat() if chosen.since else None
    return {"sign_hours": chosen.sign, "since": since, "viewer": chosen.viewer}


def _ask(chosen: argparse.Namespace) -> int:
    from .fleet.answers import answer
    from .fleet.questions import QUESTIONS

    if chosen.question is None:
        for name, sql in QUESTIONS.items():
            print(f"{name:<14}{sql.splitlines()[0].removeprefix('-- ')}")
        return 0
    names, rows = answer(chosen.lake, chosen.question, chosen.storage, **_terms(chosen))
    if chosen.json:
        print(json.dumps([dict(zip(names, row)) for row in rows], default=str, indent=2))
    elif chosen.csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([names, *rows])
    else:
        # Without an address of the page, a link leads nowhere.
        hidden = () if chosen.viewer else ("link",)
        for row in rows:
            shown = [(name, value) for name, value in zip(names, row) if name not in hidden]
            print("\n".join(f"{name:<22}{_plain(name, value)}" for name, value in shown), end="\n\n")
        print("no rows" if not rows else f"{len(rows)} rows" if len(rows) > 1 else "1 row")
    return 0


def _plain(name: str, value: Any) -> str:
    from .fleet.report import is_bytes, size

    if is_bytes(name, value):
        return size(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    # Texts of files may contain escape sequences that a terminal would interpret.
    text = "\u2013" if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _report(chosen: argparse.Namespace) -> int:
    from .fleet.report import write

    write(chosen.lake, chosen.output, chosen.storage, **_terms(chosen))
    return 0


def _views(chosen: argparse.Namespace) -> int:
    from .fleet.ddl import views

    print(views(chosen.lake, chosen.engine, chosen.storage))
    return 0


def _compact(chosen: argparse.Namespace) -> int:
    from .fleet.compaction import compact

    for table, counts in compact(chosen.lake, storage=chosen.storage).items():
        print(f"{table:<10}{counts['parts']:,} parts registered, {counts['files']:,} files")
    return 0


def _open(chosen: argparse.Namespace) -> int:
    from .fleet.worker import fetch

    with tempfile.TemporaryDirectory(prefix="memscape-") as folder:
        path = fetch(chosen.url, os.path.join(folder, os.path.basename(chosen.url)), chosen.storage)
        command, *options = chosen.command or ["serve"]
        return subprocess.run([program(), command, path, *options], check=False).returncode


def _tables(chosen: argparse.Namespace) -> int:
    from .fleet.serving import serve

    serve(chosen.lake, chosen.storage)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an action and return the exit status."""
    chosen = _parser().parse_args(arguments)
    actions = {
        "survey": _survey,
        "ask": _ask,
        "report": _report,
        "views": _views,
        "compact": _compact,
        "open": _open,
        "tables": _tables,
    }
    try:
        return actions[chosen.action](chosen)
    except ModuleNotFoundError as error:
        extras = {"duckdb": "fleet", "fsspec": "fleet", "s3fs": "s3", "gcsfs": "gcs", "adlfs": "azure", "ray": "ray"}
        extra = extras.get(error.name or "", "delta" if error.name == "deltalake" else "")
        if not extra:
            raise
        print(f"memscape: {error.name} is missing: pip install 'memscape[{extra}]'", file=sys.stderr)
    except BrokenPipeError:
        # The reader of the output has enough, such as head. Python would report it again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (MemscapeError, OSError) as error:
        # Clients of stores give only the address.
        is_address = isinstance(error, FileNotFoundError) and error.errno is None
        print(f"memscape: {'not found: ' if is_address else ''}{error}", file=sys.stderr)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        # Errors of stores and engines have types of their own. Others are errors of ours.
        if type(error).__module__ == "builtins":
            raise
        print(f"memscape: {type(error).__name__}: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
