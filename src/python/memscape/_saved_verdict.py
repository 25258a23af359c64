"""The text about a failed allocation that is printed once its snapshot is saved, from insights of the program."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._binary import MemscapeError, program
from .table import size

MAX_LINES = 12
LIMIT_S = 20.0
"""Time after which the program is ended."""
_MOST_STATEMENTS = 3
_MOST_OUTPUT = 4 << 20
# End of a statement about memory that may be a leak.
_LEAK = "a leak)"
Statements = list[tuple[str, str]]
"""The first sentences of statements, with what holds the memory, and of their fixes."""


def read_statements(path: Path, topics: Sequence[str], limit_s: float | None = None) -> Statements | None:
    """Ask the program about a file, and return the statements of the first topic that has some.

    Returns None if the program fails or takes too long.
    """
    try:
        command = program()
    except MemscapeError:
        return None
    arguments = ["--top", str(_MOST_STATEMENTS)]
    requests = [
        json.dumps({"id": number, "command": topic, "arguments": arguments}) for number, topic in enumerate(topics)
    ]
    try:
        limit_s = LIMIT_S if limit_s is None else limit_s
        output = _output([command, "ask", "--", os.fspath(path)], "\n".join(requests), limit_s)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found: dict[int, Statements] = {}
    for line in output.splitlines():
        if b'"id"' not in line:
            continue
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
            reply = json.loads(line)
            found[reply["id"]] = _sentences(reply["answer"]["statements"])
    return next(filter(None, map(found.get, range(len(topics)))), [] if found else None)


def _output(command: list[str], request: str, limit_s: float) -> bytes:
    """Run a command until it ends, until the time has passed, or until it has written too much."""
    if not hasattr(select, "poll"):  # Windows
        done = subprocess.run(command, input=request.encode(), capture_output=True, timeout=limit_s, check=False)
        return done.stdout
    end = time.monotonic() + limit_s
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # A signal to the process group of the program is not for this process.
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    data = bytearray()
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(request.encode() + b"\n")
            process.stdin.close()
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN | select.POLLHUP)
        while (left := end - time.monotonic()) > 0 and len(data) < _MOST_OUTPUT:
            if not poll.poll(1000 * left):
                break
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                break
            data += part
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with contextlib.suppress(OSError):
            process.stdin.close()
    return bytes(data)


def _sentences(statements: list[dict[str, Any]]) -> Statements:
    """Return the statements that say what to change, or what may be a leak."""
    found = [
        (_first_sentence(it["text"]) + _holder(it["text"]), _first_sentence(it.get("fix") or "")) for it in statements
    ]
    # Some refer to the table below them, which is not printed here.
    is_useful = [(fix or _LEAK in text) and "below" not in text + fix for text, fix in found]
    return [it for it, useful in zip(found, is_useful) if useful][:_MOST_STATEMENTS]


def _first_sentence(text: str) -> str:
    # File names and numbers have no space after their dots.
    sentence = text.split(". ", maxsplit=1)[0].strip()
    return f"{sentence.rstrip('.')}." if sentence else ""


def _holder(text: str) -> str:
    """Return the sentence of a statement about the object that holds the memory, with a space before it, or nothing."""
    _, found, holder = text.partition(" Held by ")
    return found + holder if found else ""


def lines(path: Path, saved_s: float, read_s: float, statements: Statements | None, *, has_advice: bool) -> list[str]:
    """Return the lines about a saved snapshot. If nothing was advised so far, its first fix is the thing to do."""
    file = f"saved in {saved_s:.1f} s, read in {read_s:.1f} s"
    with contextlib.suppress(OSError):
        file = f"{size(path.stat().st_size)}, {file}"
    found = [f"memscape: what the snapshot says ({file})"]
    # Whether the program trains is not known, so "For inference, ..." is not the thing to do.
    fixes = (fix for _, fix in statements or () if fix and not fix.startswith("For "))
    advised = None if has_advice else next(fixes, None)
    if statements is None:
        found.append("  no answer: the time limit has passed, or the program memscape is missing")
    elif not statements:
        found.append("  - no leak, and no common change that lowers the peak: see the largest lines above")
    for text, fix in statements or ():
        found.append(f"  - {text}")
        if fix:
            # After its statement, since it refers to it.
            found.append(f"  do        {fix}" if fix == advised else f"    {fix}")
            advised = None if fix == advised else advised
    with contextlib.suppress(ValueError, OSError):
        path = path.relative_to(Path.cwd())
    look = f"  look      memscape oom {path}    or    memscape serve {path.parent}"
    return [*found[: MAX_LINES - 2], f"  file      {path}", look]
