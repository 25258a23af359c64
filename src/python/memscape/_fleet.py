"""`memscape fleet`: survey, ask, report, open, views and compact, and tables for `memscape serve`.

Its actions import what the extras of the package install.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from ._binary import MemscapeError, program
from ._fleet_options import parser
from ._text import counted, one_line

# Status of a program that Ctrl+C ended.
_INTERRUPTED = 130


def _survey(chosen: argparse.Namespace) -> int:
    from .fleet.driver import Progress, survey

    is_terminal = sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if is_terminal:
            stopping = (
                "Stopping after the running batches (Ctrl+C again stops at once): " if progress.is_stopped else ""
            )
            # A longer line would wrap, and only its last row would be replaced.
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{(stopping + progress.text())[:width]}", end="", file=sys.stderr, flush=True)

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
    return {"sign_hours": chosen.sign, "since": chosen.since, "viewer": chosen.viewer}


def _ask(chosen: argparse.Namespace) -> int:
    from .fleet.answers import answer
    from .fleet.questions import MAX_ROWS, QUESTIONS

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
        # Answers of questions end after the rows that matter most.
        more = ", the most that a question returns" if chosen.question in QUESTIONS and len(rows) == MAX_ROWS else ""
        print("no rows" if not rows else f"{len(rows)} rows{more}" if len(rows) > 1 else "1 row")
    return 0


def _plain(name: str, value: Any) -> str:
    from .fleet.report import is_bytes, size

    if is_bytes(name, value):
        return size(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    # Texts of files may contain escape sequences that a terminal would interpret.
    text = "\u2013" if value is None or value == "" else f"{value:,.4g}" if isinstance(value, float) else str(value)
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
        print(f"{table:<10}{counted(counts['parts'], 'part')} registered, {counted(counts['files'], 'file')}")
    return 0


def _open(chosen: argparse.Namespace) -> int:
    from .fleet.stores import named_errors, open_store
    from .fleet.worker import copy_name, fetch

    fs, _ = open_store(chosen.url, chosen.storage)
    with tempfile.TemporaryDirectory(prefix="memscape-") as folder:
        with named_errors(chosen.url, fs):
            path = fetch(chosen.url, os.path.join(folder, copy_name(chosen.url)), chosen.storage)
        command, *options = chosen.command or ["serve"]
        return subprocess.run([program(), command, path, *options], check=False).returncode


def _tables(chosen: argparse.Namespace) -> int:
    from .fleet.serving import serve

    serve(chosen.lake, chosen.storage)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an action and return the exit status."""
    chosen = parser().parse_args(arguments)
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
        print(f"memscape: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        # Errors of stores and engines have types of their own. Others are errors of ours.
        if type(error).__module__ == "builtins":
            raise
        # delta-rs writes the causes in colored lines.
        text = one_line(" ".join(re.sub(r"\x1b\[[\d;]*m", "", str(error)).split()))
        print(f"memscape: {type(error).__name__}: {text}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
