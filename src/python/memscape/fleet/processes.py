"""Workers of this machine, which survey batches: threads for local files, processes for those of stores.

Processes import this package and not the program that surveys, which `multiprocessing` would run again in each process: a
program from standard input cannot be read again, and a script without `if __name__ == "__main__"` would survey again.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from memscape._binary import MemscapeError

from .sources import Source
from .worker import Options, Outcome, Programs, survey_batch

_START = "import sys; sys.path[:] = {path!r}; from memscape.fleet.processes import serve; serve()"
# Attempts to survey a batch whose worker dies.
_ATTEMPTS = 2


class WorkerDiedError(Exception):
    """A worker ended while it surveyed a batch, in each attempt."""


class _RemoteError(Exception):
    """Traceback in a worker, as the cause of an error that it raised."""


class _Worker:
    """A process that surveys one batch at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _START.format(path=sys.path)]
        # A session of its own: Ctrl+C is for the driver, which lets running batches finish.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    def wait_until_ready(self) -> None:
        """Wait until all modules are imported.

        Raises:
            MemscapeError: The process ended, and wrote the reason to standard error.

        """
        try:
            self._receive()
        except EOFError:
            raise MemscapeError(f"a worker process ended with status {self._process.wait()} when it started") from None

    def run(self, batch: list[Source], options: Options) -> Outcome:
        """Survey a batch.

        Raises:
            WorkerDiedError: The process ended.

        """
        assert self._process.stdin is not None
        try:
            pickle.dump((batch, options), self._process.stdin)
            self._process.stdin.flush()
            outcome, error, text = self._receive()
        except (OSError, EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            name = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
            raise WorkerDiedError(f"it ended with {name}") from None
        if error is not None:
            raise error from _RemoteError(f"\n{text}")
        assert isinstance(outcome, Outcome)
        return outcome

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)  # noqa: S301

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


class Processes:
    """Up to `count` worker processes, which are started when they are needed and end with the `with` statement."""

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count)
        self._lock = threading.Lock()
        self._is_closed = False
        self._workers: set[_Worker] = set()
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_closed = True
            for worker in self._workers:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def submit(self, batch: list[Source], options: Options) -> Future[Outcome | WorkerDiedError]:
        """Survey a batch in a process that is idle, as soon as there is one."""
        return self._threads.submit(self._run, batch, options)

    def _run(self, batch: list[Source], options: Options) -> Outcome | WorkerDiedError:
        death = WorkerDiedError("it was ended")
        for _ in range(_ATTEMPTS):
            worker = self._worker()
            if worker is None:
                break
            try:
                outcome = worker.run(batch, options)
            except WorkerDiedError as error:
                death = error
                continue
            except BaseException:
                self._idle.put(worker)
                raise
            self._idle.put(worker)
            return outcome
        return death

    def _worker(self) -> _Worker | None:
        """Return a worker that is idle, or a new one. `None` after the end."""
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        with self._lock:
            if self._is_closed:
                return None
            worker = _Worker()
            self._workers.add(worker)
        worker.wait_until_ready()
        return worker


class Threads(ThreadPoolExecutor):
    """Threads of this process, each of which surveys one batch at a time. If there is an error, their programs end."""

    def __init__(self, count: int) -> None:
        super().__init__(count, initializer=_block_interrupts)
        self._programs: Programs = set()

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        if kind is not None:
            self.shutdown(wait=False, cancel_futures=True)
            while self._programs:
                self._programs.pop().kill()
        self.shutdown()

    def submit(self, batch: list[Source], options: Options) -> Future[Outcome]:  # type: ignore[override]
        """Survey a batch."""
        return super().submit(survey_batch, batch, options, None, self._programs)


def _block_interrupts() -> None:
    # A program inherits it. Until it has a session of its own, Ctrl+C reaches it too.
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def serve() -> None:
    """Survey the batches that a driver sends to standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a library prints must not get between the replies.
    os.dup2(2, 1)
    received: queue.SimpleQueue[tuple[list[Source], Options]] = queue.SimpleQueue()
    threading.Thread(target=_receive_all, args=(requests, received), daemon=True).start()
    _reply(replies, None)
    while True:
        batch, options = received.get()
        try:
            _reply(replies, (survey_batch(batch, options), None, ""))
        except Exception as error:
            _reply(replies, (None, portable(error), traceback.format_exc()))


def _receive_all(requests: IO[bytes], received: queue.SimpleQueue[Any]) -> None:
    # Also while a batch is surveyed: a worker whose driver was killed ends at once.
    with suppress(EOFError, OSError):
        while True:
            received.put(pickle.load(requests))  # noqa: S301
    os._exit(0)


def _reply(replies: IO[bytes], reply: Any) -> None:
    pickle.dump(reply, replies)
    replies.flush()


def portable(error: Exception) -> Exception:
    """Return an error that the driver can unpickle. Some errors of stores cannot be copied."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:
        return MemscapeError(f"{type(error).__name__}: {error}")
    return error
