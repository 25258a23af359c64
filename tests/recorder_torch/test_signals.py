"""Signals that arrive while the program does something else."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memscape
from conftest import Fork, MiB, allocate, load, names
from memscape import _signals


class Mutex:
    """A lock of C. A thread that waits for it runs no Python, and does not return on a signal, as in a collective."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)
        self._lock = ctypes.create_string_buffer(128)
        self._libc.pthread_mutex_init(self._lock, None)
        self.acquire()

    def acquire(self) -> None:
        self._libc.pthread_mutex_lock(self._lock)

    def release(self) -> None:
        self._libc.pthread_mutex_unlock(self._lock)


def when_saved(rec: Any, count: int, then: Any) -> None:
    """Call a function in a thread once so many files are written."""

    def wait() -> None:
        while sum(name.endswith(".gz") for name in names(rec.folder)) < count:
            threading.Event().wait(0.01)
        then()

    threading.Thread(target=wait, daemon=True).start()


def test_signal_is_saved_while_the_main_thread_hangs_in_c(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_signal=["SIGUSR1", "SIGUSR2"], on_exit=False)
        kept = allocate(MiB)
        mutex = Mutex()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR2)).start()
        # The file is written before the main thread goes on.
        when_saved(rec, 1, mutex.release)
        mutex.acquire()
        os.kill(os.getpid(), signal.SIGUSR1)
        assert kept.numel() == MiB

    fork(job)
    assert names(tmp_path) == [f"rank00000_step000000_signal{more}.pickle.gz" for more in ("-2", "")]


def test_sigterm_ends_a_program_that_hangs_in_c_after_it_was_saved(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        _signals._GRACE_S = 0.1
        memscape.start(tmp_path, on_signal="SIGTERM")
        allocate(MiB)
        mutex = Mutex()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        mutex.acquire()

    assert fork.start(job).wait(check=False).status == -signal.SIGTERM
    assert names(tmp_path) == ["rank00000_step000000_signal.pickle.gz"]


def test_sigterm_during_a_save_ends_the_program_once_both_files_are_complete(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_signal="SIGTERM")
        allocate(MiB)
        rec.contribute(lambda reason, snapshot: os.kill(os.getpid(), signal.SIGTERM) if reason == "manual" else None)
        rec.save()
        os._exit(0)

    assert fork.start(job).wait(check=False).status == -signal.SIGTERM
    assert names(tmp_path) == [f"rank00000_step000000_{reason}.pickle.gz" for reason in ("manual", "signal")]
    assert all(load(path)["segments"] for path in tmp_path.iterdir())


def test_sigterm_while_an_error_is_saved_saves_nothing_more(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        with memscape.record(tmp_path, on_signal="SIGTERM") as rec:
            allocate(MiB)
            rec.contribute(lambda reason, snapshot: os.kill(os.getpid(), signal.SIGTERM) if reason == "error" else None)
            raise ValueError("the connection to another rank was closed")

    assert fork.start(job).wait(check=False).status == -signal.SIGTERM
    assert names(tmp_path) == ["rank00000_step000000_error.pickle.gz"]


def test_many_signals_do_not_stop_the_program(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_signal="SIGUSR2", on_exit=False, keep=None)
        allocate(MiB)
        done = threading.Event()

        def storm() -> None:
            for _ in range(2000):
                os.kill(os.getpid(), signal.SIGUSR2)
            done.set()

        thread = threading.Thread(target=storm)
        thread.start()
        steps = 0
        while steps < 20 or not done.is_set():
            with rec.step():
                allocate(MiB)
            steps += 1
        thread.join()
        rec.stop()

    fork(job)
    saved = [name for name in names(tmp_path) if "_signal" in name]
    assert 1 <= len(saved) <= _signals._MOST_A_MINUTE
    assert all(load(tmp_path / name)["memscape"]["reason"] == "signal" for name in saved)


def test_signal_in_a_forked_process_does_not_reach_the_parent(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        rec = memscape.start(tmp_path, on_signal="SIGUSR2", on_exit=False)
        allocate(MiB)
        child = os.fork()
        if not child:
            signal.signal(signal.SIGUSR2, lambda *_: os._exit(7))
            os.kill(os.getpid(), signal.SIGUSR2)
            threading.Event().wait(30)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        rec.stop()

    fork(job)
    assert names(tmp_path) == []


def test_signals_reach_asyncio_and_its_descriptor_is_restored(fork: Fork, tmp_path: Path) -> None:
    async def program() -> list[str]:
        seen: list[str] = []
        both = asyncio.Event()

        def handler() -> None:
            seen.append("asyncio")
            both.set()

        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, handler)
        rec = memscape.start(tmp_path, on_signal="SIGUSR2", on_exit=False)
        allocate(MiB)
        os.kill(os.getpid(), signal.SIGUSR2)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(both.wait(), 30)
        rec.stop()
        both.clear()
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(both.wait(), 30)
        return seen

    def job() -> None:
        assert asyncio.run(program()) == ["asyncio", "asyncio"]

    fork(job)
    assert names(tmp_path) == ["rank00000_step000000_signal.pickle.gz"]


def test_handlers_of_the_program_are_called_after_the_snapshot(fork: Fork, tmp_path: Path) -> None:
    @contextlib.contextmanager
    def handled(number: signal.Signals) -> Iterator[list[list[str]]]:
        seen: list[list[str]] = []
        signal.signal(number, lambda *_: seen.append(names(tmp_path)))
        yield seen

    def job() -> None:
        with handled(signal.SIGTERM) as seen:
            memscape.start(tmp_path, on_signal={"SIGTERM", "SIGUSR1"}, on_exit=False)
            allocate(MiB)
            os.kill(os.getpid(), signal.SIGTERM)
            assert seen == [["rank00000_step000000_signal.pickle.gz"]]

    fork(job)


@pytest.mark.parametrize("ends", [False, True])
def test_full_disk_does_not_hold_up_a_signal(fork: Fork, tmp_path: Path, ends: bool) -> None:
    def job() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        memscape.start(tmp_path, on_signal=["SIGTERM", "SIGUSR2"])
        allocate(MiB)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        os.kill(os.getpid(), signal.SIGTERM if ends else signal.SIGUSR2)

    assert fork.start(job).wait(check=False).status == (-signal.SIGTERM if ends else 0)
    assert names(tmp_path) == []
