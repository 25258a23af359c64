"""Surveys a batch: fetches its files, runs `memscape survey`, and writes the parts.

The program reads one file at a time, while the next ones are fetched. If it crashes, the batch is surveyed again without
the file that was read.
"""

from __future__ import annotations

import json
import os
import posixpath
import queue
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from memscape._binary import MemscapeError, error_text, program

from .lake import Lake, batch_name
from .sources import Source, Storage
from .stores import open_store

# Programs that run. Another thread may end one, after removing it.
Programs = set[subprocess.Popen[bytes]]
# Status and error of a file that is not read.
Failure = tuple[str, str]
# Number of files that are fetched while another one is read. Object stores answer after 20 to 60 ms.
_AHEAD = 3
# Time limit of a file in seconds, and bytes per second that the limit allows for.
_SECONDS, _BYTES_PER_SECOND = 60.0, 5e6
# Maximum length of the name of a local copy, in bytes.
_MAX_NAME = 200
# Maximum length of an error message in characters.
_MOST_TEXT = 500


@dataclass(frozen=True)
class Options:
    """Settings of a survey that workers need."""

    lake: str
    storage: Storage = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    memory: int | None = None
    seconds: float = _SECONDS
    # Text that differs between surveys that read files again.
    run: str = ""


@dataclass(frozen=True)
class Outcome:
    """Statuses of the files of a batch, their size, and the size of the parts that were written."""

    statuses: Counter[str]
    source_bytes: int
    written_bytes: int


class _EndedError(Exception):
    """The program ended while it read a file."""

    def __init__(self, index: int, status: str, text: str) -> None:
        super().__init__(text)
        self.index, self.status = index, status


def survey_batch(
    batch: list[Source], options: Options, known: dict[int, Failure] | None = None, programs: Programs | None = None
) -> Outcome:
    """Survey the files of a batch and commit it. `known` has the files that are not read, by their index.

    The program that runs is in `programs`.

    Raises:
        MemscapeError: The tables cannot be written, or the program was removed from `programs`.

    """
    failed, programs = dict(known or {}), set() if programs is None else programs
    lake = Lake(options.lake, options.storage)
    with lake.staging() as tables:
        while True:
            try:
                statuses, rows = _run(batch, failed, tables, options, programs)
                break
            except _EndedError as ended:
                if ended.index in failed:
                    # It was not read this time: the program itself does not work.
                    raise MemscapeError(f"{program()}: {ended}") from None
                # The other files are surveyed again without it.
                failed[ended.index] = (ended.status, str(ended))
        written = lake.commit(
            batch_name(batch, options.run), batch[0].day, tables, [table for table, count in rows.items() if count]
        )
    return Outcome(statuses, sum(source.size for source in batch), written)


def _run(
    batch: list[Source], failed: dict[int, Failure], tables: str, options: Options, programs: Programs
) -> tuple[Counter[str], dict[str, int]]:
    command = [program(), "survey", "--to", "lake", "--list", "-", "--batch", batch_name(batch, options.run)]
    command += ["-o", tables, *(f"--root={root}" for root in options.roots)]
    command += [f"--memory={options.memory}"] if options.memory else []
    statuses: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="memscape-") as folder,
        open(os.path.join(folder, "errors"), "w+b") as errors,
    ):
        # A session of its own: Ctrl+C must not end it in the middle of a batch.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        programs.add(process)
        answers = _lines(process.stdout)
        try:
            for index, line in enumerate(_fetched(batch, failed, folder, options)):
                limit = options.seconds + batch[index].size / _BYTES_PER_SECOND
                with suppress(BrokenPipeError):
                    process.stdin.write(json.dumps(line).encode() + b"\n")
                    process.stdin.flush()
                statuses[_answer(process, programs, answers, index, limit)["status"]] += 1
                if line.get("path", "").startswith(folder):
                    os.unlink(line["path"])
            process.stdin.close()
            try:
                last = answers.get(timeout=options.seconds + 60)
            except queue.Empty:
                raise MemscapeError(f"memscape wrote no tables within {options.seconds + 60:.0f} s") from None
            if process.wait() != 0 or last is None:
                raise MemscapeError(_text(errors) or f"memscape ended with status {process.returncode}")
            rows: dict[str, int] = json.loads(last)["rows"]
        except _EndedError as ended:
            text = _text(errors) if ended.status == "crash" else ""
            raise _EndedError(ended.index, ended.status, f"{ended}: {text}" if text else str(ended)) from None
        else:
            return statuses, rows
        finally:
            programs.discard(process)
            process.kill()
            process.wait()
            with suppress(BrokenPipeError):
                process.stdin.close()


def _answer(
    process: subprocess.Popen[bytes], programs: Programs, answers: queue.Queue[Any], index: int, limit: float
) -> dict[str, Any]:
    """Wait for the line about a file."""
    try:
        line = answers.get(timeout=limit)
    except queue.Empty:
        raise _EndedError(index, "timeout", f"no result after {limit:.0f} s") from None
    if line is None:
        status = process.wait()
        if process not in programs:
            raise MemscapeError("the survey was interrupted")
        name = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        raise _EndedError(index, "crash", f"memscape ended with {name}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _lines(out: IO[bytes]) -> queue.Queue[bytes | None]:
    """Return a queue with the lines of a pipe, and `None` at its end."""
    lines: queue.Queue[bytes | None] = queue.Queue()

    def read() -> None:
        for line in out:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _text(errors: IO[bytes]) -> str:
    errors.seek(0)
    return error_text(errors.read().decode(errors="replace"))[:_MOST_TEXT]


def _fetched(
    batch: list[Source], failed: dict[int, Failure], folder: str, options: Options
) -> Iterator[dict[str, Any]]:
    """Yield the line of each source, with the path of the local file. Fetches the next files of a store meanwhile."""
    pool = ThreadPoolExecutor(_AHEAD)
    pending: dict[int, Future[str]] = {}

    def target(index: int) -> str:
        return os.path.join(folder, str(index))

    def fetch_ahead(index: int) -> None:
        for ahead in range(index, min(index + _AHEAD, len(batch))):
            if ahead not in pending and ahead not in failed and not batch[ahead].url.startswith("file:"):
                pending[ahead] = pool.submit(_fetch_whole, batch[ahead], target(ahead), options)

    try:
        for index, source in enumerate(batch):
            fetch_ahead(index)
            if index not in failed:
                try:
                    fetched = pending.pop(index, None)
                    path = fetched.result() if fetched else _fetch_whole(source, target(index), options)
                except Exception as error:
                    # Stays known if the batch is surveyed again.
                    failed[index] = _failure(error)
                else:
                    yield {**source.line(), "path": path}
                    continue
            status, text = failed[index]
            yield {**source.line(), "status": status, "error": text[:_MOST_TEXT]}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _fetch_whole(source: Source, target: str, options: Options) -> str:
    """Fetch a source within its time limit.

    Raises:
        OSError: The transfer broke off, or the object changed since it was listed.

    """
    path = fetch(source.url, target, options.storage, options.seconds + source.size / _BYTES_PER_SECOND)
    # Without a length, an HTTP client takes a body that breaks off for a whole one.
    if path == target and source.size and os.path.getsize(path) != source.size:
        raise OSError(f"{os.path.getsize(path):,} of {source.size:,} B: the transfer broke off, or the object changed")
    return path


def fetch(url: str, target: str, storage: Storage, seconds: float | None = None) -> str:
    """Return the path of a local file with the contents of a stored one, which is copied to `target` if necessary.

    The time limit ends the transfer: a thread that waits for it would keep this process from ending.
    """
    fs, path = open_store(url, storage)
    if "file" in fs.protocol:
        if "\ufffd" in path and not os.path.lexists(path):
            raise OSError("the name of the file or of a folder is not UTF-8: rename it")
        return str(path)
    fs.get_file(path, target, **({"timeout": seconds} if fs.async_impl else {}))
    return target


def copy_name(url: str) -> str:
    """Return a file name for a local copy. Names in a store may be longer than a disk allows."""
    return posixpath.basename(url).encode("utf-8", "surrogateescape")[-_MAX_NAME:].decode(errors="ignore")


def _failure(error: Exception) -> Failure:
    if isinstance(error, PermissionError):
        return "denied", str(error)
    if isinstance(error, FileNotFoundError):
        return "gone", f"not found: {error}"
    if type(error).__name__ == "FSTimeoutError":
        return "timeout", "the store did not answer in time"
    # Clients of stores raise OSError, or exceptions of their own libraries.
    is_ours = isinstance(error, (TypeError, KeyError, AttributeError, AssertionError))
    return "internal" if is_ours else "read", f"{type(error).__name__}: {error}"
