"""Engines, which run batches on workers: the cores of this machine, or a Ray cluster.

An engine yields each batch with its outcome, or with the exception that ended its worker, and `None` from time to time,
so that progress is shown while no batch is done. Exceptions of our own code are raised: to split a batch because of them
would only repeat them for every file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Optional, Union

from .processes import Processes, Threads
from .sources import Source
from .worker import Options, Outcome, survey_batch

Batch = list[Source]
Result = tuple[Batch, Union[Outcome, Exception]]
Results = Iterator[Optional[Result]]
Engine = Callable[[list[Batch], Options, threading.Event, Union[int, None]], Results]

# Tables of a snapshot take about four times the size of a compressed file.
_MEMORY_PER_BYTE = 4
# Memory that Ray is asked for only above this size, in bytes.
_SMALL = 1 << 30
# Time between two reports of progress, in seconds.
_TICK = 1


def cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def local(batches: list[Batch], options: Options, stop: threading.Event, workers: int | None = None) -> Results:
    """Run a program for each core."""
    # Clients of stores are written in Python, and only processes use several cores for them.
    is_local = all(source.url.startswith("file:") for batch in batches for source in batch)
    workers, waiting = min(workers or cores(), len(batches)), list(reversed(batches))
    running: dict[Future[Any], Batch] = {}
    with Threads(workers) if is_local else Processes(workers) as pool:
        while running or (waiting and not stop.is_set()):
            # One more than there are processes, so that none waits for the driver.
            while waiting and len(running) <= workers and not stop.is_set():
                batch = waiting.pop()
                running[pool.submit(batch, options)] = batch
            done = wait(running, _TICK, FIRST_COMPLETED).done
            yield from ((running.pop(future), future.result()) for future in done)
            if not done:
                yield None


def on_ray(batches: list[Batch], options: Options, stop: threading.Event, workers: int | None = None) -> Results:
    """Run a task for each batch. Ray repeats the tasks of a lost node."""
    import ray

    if not ray.is_initialized():
        ray.init(address=os.environ.get("RAY_ADDRESS"), log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=3)(survey_batch)
    deaths = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.ObjectLostError)
    waiting = list(reversed(batches))
    running: dict[Any, Batch] = {}
    while running or (waiting and not stop.is_set()):
        # More tasks than cores, because the cluster may grow.
        most = workers or 2 * int(ray.cluster_resources().get("CPU", 1)) + 2
        while waiting and len(running) < most and not stop.is_set():
            batch = waiting.pop()
            need = _MEMORY_PER_BYTE * max(source.size for source in batch)
            running[task.options(memory=need if need > _SMALL else None).remote(batch, options)] = batch
        done, _ = ray.wait(list(running), num_returns=1, timeout=_TICK)
        if not done:
            yield None
        for reference in done:
            batch = running.pop(reference)
            try:
                yield batch, ray.get(reference)
            except deaths as error:
                yield batch, error


ENGINES: dict[str, Engine] = {"local": local, "ray": on_ray}
