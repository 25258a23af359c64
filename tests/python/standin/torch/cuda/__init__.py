"""Two GPUs of 1 GiB."""

from __future__ import annotations

from types import SimpleNamespace

CAPACITY = 1 << 30


class OutOfMemoryError(RuntimeError):
    pass


from . import memory  # noqa: E402

backend = "native"
available = True
inside_observer: list[str] = []


def is_available() -> bool:
    return available


def get_allocator_backend() -> str:
    return backend


def device_count() -> int:
    return 2


def current_device() -> int:
    return 0


def synchronize(*_: object) -> None:
    raise AssertionError("a recorder never synchronises")


def get_device_properties(device: int) -> SimpleNamespace:
    return SimpleNamespace(name="Stand-in", total_memory=CAPACITY, uuid="0-0")


def mem_get_info(device: int) -> tuple[int, int]:
    assert not memory.is_in_observer, "the driver was queried inside a failing allocation"
    return CAPACITY - memory.reserved(device), CAPACITY


def reset_peak_memory_stats(device: int) -> None:
    memory.reset_peak(device)


def empty_cache() -> None:
    pass


def memory_stats(device: int) -> dict[str, object]:
    return memory.stats(device)
