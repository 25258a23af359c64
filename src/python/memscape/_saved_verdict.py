"""The text about a failed allocation that is printed once its snapshot is saved, from insights of the program."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._binary import MemscapeError, program
from .table import size

MAX_LINES = 12
LIMIT_S = 20.0
"""Time after which the program is ended."""
_MOST_STATEMENTS = 3
_MOST_OUTPUT = 16 << 20
Statements = list[tuple[str, str]]
"""The first sentences of statements and of their fixes."""


def read_statements(path: Path, topic: str, limit_s: float | None = None) -> Statements:
    """Ask the program about a file, and return the statements of a topic. Empty if it fails or takes too long."""
    try:
        command = program()
    except MemscapeError:
        return []
    request = json.dumps({"id": 1, "command": topic, "arguments": ["--top", str(_MOST_STATEMENTS)]})
    try:
        output = _output([command, "ask", "--", os.fspath(path)], request, LIMIT_S if limit_s is None else limit_s)
    except (OSError, ValueError):
        return []
    for line in output.splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
            reply = json.loads(line)
            if reply.get("id") == 1:
                return list(_sentences(reply["answer"]["statements"]))
    return []


def _output(command: list[str], request: str, limit_s: float) -> bytes:
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


def _sentences(statements: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for statement in statements[:_MOST_STATEMENTS]:
        yield _first_sentence(statement["text"]), _first_sentence(statement.get("fix") or "")


def _first_sentence(text: str) -> str:
    # File names and numbers have no space after their dots.
    sentence = text.split(". ", maxsplit=1)[0].strip()
    return f"{sentence.rstrip('.')}." if sentence else ""


def lines(path: Path, saved_s: float, read_s: float, statements: Statements, *, has_advice: bool) -> list[str]:
    """Return the lines about a saved snapshot. Without advice so far, the first fix is what to do."""
    with contextlib.suppress(OSError):
        saved_s = round(saved_s, 1)
        file = f"{size(path.stat().st_size)}, saved in {saved_s:.1f} s, read in {read_s:.1f} s"
        found = [f"memscape: what the snapshot says ({file})"]
        break_after = MAX_LINES - 2
        fix = next((fix for _, fix in statements if fix), None)
        if fix is not None and not has_advice:
            found.append(f"  do        {fix}")
        for text, more in statements:
            found.append(f"  - {text}")
            if more:
                found.append(f"    {more}")
        if not statements:
            found.append("  nothing within the time limit, or the program memscape is missing")
        return [*found[:break_after], f"  file      {path}", f"  look      memscape oom {path}"]
    return []
