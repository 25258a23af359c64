"""A `memscape ask` process, which keeps a snapshot open and answers one question per line.

A request is `{"id": 3, "command": "live", "arguments": ["--at", "oom"]}`: a command of the program and its arguments,
without the file. Its reply is `{"id": 3, "answer": …}` with the command's `--json` output, or
`{"id": 3, "error": "one sentence"}`. The first line of output, before any request, says whether the file was opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import threading
from typing import IO, Any

from ._binary import MemscapeError, error_text, program


class Process:
    """The process. It ends on `close`, or when this process ends."""

    def __init__(self, path: str, device: int | None) -> None:
        """Start the process and wait until the file is open.

        Raises:
            MemscapeError: The file cannot be read, or the program is missing.

        """
        command = program()
        self._lock = threading.Lock()
        self._next = 0
        self._pid = os.getpid()
        # Standard error goes to a file, because a pipe that is not read would fill up and block the process.
        self._errors: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        chosen = [] if device is None else ["--device", str(device)]
        self._process = subprocess.Popen(
            [command, "ask", *chosen, "--", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            # Notebooks interrupt a cell by a signal to the process group of the kernel, which must not reach it.
            start_new_session=True,
        )
        try:
            self._checked(self._read())
        except BaseException:
            self.close()
            raise

    def ask(self, command: str, *arguments: str) -> Any:
        """Ask a question and return the answer.

        Raises:
            MemscapeError: The arguments are invalid or the command failed. The message is one sentence.

        """
        with self._lock:
            self._next += 1
            request = json.dumps({"id": self._next, "command": command, "arguments": arguments})
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(request + "\n")
                self._process.stdin.flush()
            except (OSError, ValueError):
                raise self._ended() from None
            # Skip answers that were not read because of a KeyboardInterrupt.
            while (reply := self._read()).get("id") != self._next and reply.get("id") is not None:
                pass
            return self._checked(reply).get("answer")

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            line = self._process.stdout.readline()
        except ValueError:
            line = ""
        if not line:
            raise self._ended()
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _checked(self, reply: dict[str, Any]) -> dict[str, Any]:
        if "error" in reply:
            raise MemscapeError(str(reply["error"]))
        return reply

    def _ended(self) -> MemscapeError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        with contextlib.suppress(ValueError, OSError):
            self._errors.seek(0)
            if text := error_text(self._errors.read()):
                return MemscapeError(text)
        return MemscapeError("the session is closed" if self._errors.closed else "memscape ask ended")

    def close(self) -> None:
        """End the process."""
        if os.getpid() != self._pid:
            return
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
