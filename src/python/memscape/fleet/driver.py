"""Surveys what a lake does not have yet. A survey can be stopped and started again at any time."""

from __future__ import annotations

import signal
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import islice

from memscape._text import counted

from . import lake as layout
from .engines import ENGINES, Batch, Results
from .lake import PASSING, Lake, packed
from .queries import connect
from .sources import Source, Storage, Time, as_time, listed, read_list
from .worker import Options, survey_batch

# Number of sources that are packed at once. A million would take a gigabyte.
_MOST_SOURCES = 100_000


@dataclass
class Progress:
    """Counts of a survey that runs or has ended."""

    listed: int = 0
    new: int = 0
    done: int = 0
    batches: int = 0
    source_bytes: int = 0
    written_bytes: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    is_stopped: bool = False
    seconds: float = 0.0

    def text(self) -> str:
        """Return the progress as one line: files, rate, remaining time and failures."""
        rate = self.done / self.seconds if self.seconds > 0 else 0.0
        parts = [f"{self.done:,} of {counted(self.new, 'file')}", f"{rate:.1f} files/s"]
        if rate and self.done < self.new and not self.is_stopped:
            parts.append(f"{_duration((self.new - self.done) / rate)} left")
        failures = [f"{status} {count:,}" for status, count in sorted(self.statuses.items()) if status != "ok"]
        return ", ".join(parts + failures)


def survey(
    urls: str | Iterable[str],
    lake: str,
    *,
    engine: str = "local",
    storage: Storage | None = None,
    list_file: str | None = None,
    since: Time | None = None,
    again: bool = False,
    upgrade: bool = False,
    shard: tuple[int, int] = (0, 1),
    files: int = 64,
    most_bytes: int = 2 << 30,
    workers: int | None = None,
    roots: Iterable[str] = (),
    memory: int | None = None,
    seconds: float = 60.0,
    report: Callable[[Progress], None] | None = None,
) -> Progress:
    """Survey the snapshots below the URLs that the lake does not have yet.

    Args:
        urls: Folders or files: local paths, or URLs that fsspec can read.
        lake: Folder of the tables, which is created.
        engine: `local` or `ray`.
        storage: Options of the file system, as for `fsspec.filesystem`.
        list_file: File with the sources, instead of `urls`. See `sources.read_list`.
        since: Only files that changed at this time or later, in UTC if it has no zone.
        again: Read files again whose failure may have passed, such as `denied` or `timeout`.
        upgrade: Read files again whose rows were made by older rules.
        shard: Index and number of shards. Each surveys a part of the files, on its own.
        files: Maximum number of files in a batch.
        most_bytes: Maximum size of a batch, in bytes.
        workers: Number of processes or tasks that run at the same time. By default, one for each core.
        roots: Folders of the program's source code, so that call sites in it are equal on all machines.
        memory: Memory that may be used to read a file, in bytes. A larger file gets the status `too_big`.
        seconds: Time limit of a file, in addition to the time for its size.
        report: Called after each batch, and every second.

    """
    storage = storage or {}
    target, progress = Lake(lake, storage), Progress()
    since = None if since is None else as_time(since)
    run = datetime.now(timezone.utc).isoformat() if again or upgrade else ""
    options = Options(lake, storage, tuple(roots), memory, seconds, run)
    has_tables = target.exists()
    known = _known(lake, storage, again, upgrade) if has_tables else set()
    sources = read_list(list_file, storage) if list_file else listed([urls] if isinstance(urls, str) else urls, storage)
    started = time.monotonic()

    def tick() -> None:
        progress.seconds = time.monotonic() - started
        progress.is_stopped = stop.is_set()
        if report:
            report(progress)

    def fresh() -> Iterator[Source]:
        for source in sources:
            if stop.is_set():
                return
            if zlib.crc32(source.url.encode("utf-8", "surrogateescape")) % shard[1] != shard[0]:
                continue
            if since is not None and source.modified < since:
                continue
            progress.listed += 1
            if hash((source.url, source.version)) not in known:
                progress.new += 1
                yield source

    remaining = fresh()
    with _interruptible() as stop:
        some = list(islice(remaining, 1))
        # Create the lake after the first file is found, so that a wrong address leaves no empty lake, but before the rest
        # is listed, so that a wrong lake fails early.
        if not has_tables:
            target.create()
        target.remove_abandoned()
        some += islice(remaining, _MOST_SOURCES - 1)
        while some and not stop.is_set():
            batches = packed(some, files, most_bytes)
            _work(batches, lambda batches: ENGINES[engine](batches, options, stop, workers), options, progress, tick)
            some = list(islice(remaining, _MOST_SOURCES))
    tick()
    return progress


def _known(lake: str, storage: Storage, again: bool, upgrade: bool) -> set[int]:
    """Return hashes of the address and version of each file that is left out."""
    connection = connect(lake, storage=storage, tables=("snapshot",))
    passing = f"AND status NOT IN {PASSING}" if again else ""
    rules = f"AND survey_version >= {layout.RULES_VERSION}" if upgrade else ""
    rows = connection.execute(f"SELECT url, version FROM all_rows WHERE url IS NOT NULL {passing} {rules}")
    found: set[int] = set()
    while some := rows.fetchmany(100_000):
        found.update(map(hash, some))
    return found


def _work(
    batches: list[Batch],
    run: Callable[[list[Batch]], Results],
    options: Options,
    progress: Progress,
    tick: Callable[[], None],
) -> None:
    while batches:
        halves: list[Batch] = []
        for result in run(batches):
            if result is None:
                tick()
                continue
            batch, outcome = result
            if isinstance(outcome, Exception) and len(batch) > 1:
                # The worker died on every attempt. Split the batch to find the file.
                halves += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                continue
            if isinstance(outcome, Exception):
                text = f"the worker died: {outcome}"
                outcome = survey_batch(batch, options, {0: ("lost", text)})
            progress.done += len(batch)
            progress.batches += 1
            progress.source_bytes += outcome.source_bytes
            progress.written_bytes += outcome.written_bytes
            progress.statuses.update(outcome.statuses)
            tick()
        batches = halves


def _duration(seconds: float) -> str:
    """Return a duration in its two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, part = divmod(minutes, 60)
    return f"{hours:,} h {part} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Set the event at the first Ctrl+C, so that running batches are finished. The second one interrupts."""
    stop = threading.Event()

    def interrupt(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
