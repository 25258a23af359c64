"""Memory that is reserved and live for PyTorch, but not on the GPU because its owner paused it.

torch_memory_saver and vLLM's sleep mode unmap the physical memory of tensors behind the allocator's back. No event of
the trace shows this, so their functions are wrapped when they are imported.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ._backend import Backend
from ._facts import now_us
from ._import_hook import AfterImport

_MOST_SPANS = 10_000
Range = tuple[int, int]
"""Address and size in bytes."""


class Paused:
    """Spans of time in which memory was paused."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = threading.RLock()
        self._spans: list[dict[str, Any]] = []
        # Segments of each region of torch_memory_saver, by tag.
        self._regions: dict[str, dict[int, int]] = {}
        self._backups: dict[str, str] = {}
        self._hook = AfterImport(
            {"torch_memory_saver": self._wrap_memory_saver, "vllm.device_allocator.cumem": self._wrap_vllm}
        )
        self._undo: list[Callable[[], None]] = []

    def start(self) -> None:
        """Wrap the functions that pause memory, now or when they are imported."""
        self._hook.install()

    def stop(self) -> None:
        """Restore the functions."""
        self._hook.remove()
        while self._undo:
            self._undo.pop()()

    def field(self, reason: str, snapshot: dict[str, Any]) -> tuple[str, object] | None:
        """Return the field `paused` of the `memscape` key."""
        with self._lock:
            return ("paused", [dict(span) for span in self._spans]) if self._spans else None

    def bytes_now(self) -> int:
        """Return the number of bytes that are paused."""
        with self._lock:
            return sum(span["bytes"] for span in self._spans if "end_us" not in span)

    def pause(self, by: str, tag: str, ranges: list[Range], backup: str) -> None:
        """Note that memory was paused. Nothing is noted for a tag that is paused already."""
        with self._lock:
            if any(span["tag"] == tag and span["by"] == by and "end_us" not in span for span in self._spans):
                return
            total = sum(count for _, count in ranges)
            span = {"begin_us": now_us(), "tag": tag, "by": by, "bytes": total}
            self._spans.append({**span, "ranges": [list(it) for it in ranges], "backup": backup})
            if len(self._spans) > _MOST_SPANS:
                ended = next((at for at, span in enumerate(self._spans) if "end_us" in span), 0)
                del self._spans[ended]

    def resume(self, by: str, tags: set[str] | None) -> None:
        """Note that memory with some tags was resumed, or all of it."""
        with self._lock:
            for span in self._spans:
                if span["by"] == by and "end_us" not in span and (tags is None or span["tag"] in tags):
                    span["end_us"] = now_us()

    # torch_memory_saver

    def _segments(self) -> dict[int, int]:
        state = self._backend.state()
        if state is None:  # before PyTorch 2.11
            return {int(it["address"]): int(it["total_size"]) for it in self._backend.memory.memory_snapshot()}
        return {int(it["address"]): int(it["total_size"]) for it in state["segments"]}

    def _wrap_memory_saver(self, module: ModuleType) -> None:
        kind = type(module.torch_memory_saver)
        self._wrap(kind, "region", self._region)
        self._wrap(kind, "pause", self._memory_saver_paused)
        self._wrap(kind, "resume", self._memory_saver_resumed)

    def _region(self, original: Callable[..., Any], saver: Any, *arguments: Any, **options: Any) -> Any:
        @contextlib.contextmanager
        def region() -> Iterator[Any]:
            before: dict[int, int] = {}
            with contextlib.suppress(Exception):
                before = self._segments()
            with original(saver, *arguments, **options) as value:
                yield value
            with contextlib.suppress(Exception), self._lock:
                tag = str(options.get("tag", arguments[0] if arguments else "default"))
                added = {address: size for address, size in self._segments().items() if address not in before}
                self._regions.setdefault(tag, {}).update(added)
                self._backups[tag] = "cpu" if options.get("enable_cpu_backup") else "none"

        return region()

    def _memory_saver_paused(self, original: Callable[..., Any], saver: Any, *arguments: Any, **options: Any) -> Any:
        value = original(saver, *arguments, **options)
        with contextlib.suppress(Exception):
            wanted = _tag(arguments, options)
            present = self._segments()
            for tag, segments in list(self._regions.items()):
                ranges = [(address, size) for address, size in segments.items() if present.get(address) == size]
                if wanted in (None, tag) and ranges:
                    self.pause("torch_memory_saver", tag, ranges, self._backups.get(tag, "none"))
        return value

    def _memory_saver_resumed(self, original: Callable[..., Any], saver: Any, *arguments: Any, **options: Any) -> Any:
        value = original(saver, *arguments, **options)
        wanted = _tag(arguments, options)
        self.resume("torch_memory_saver", None if wanted is None else {wanted})
        return value

    # vLLM

    def _wrap_vllm(self, module: ModuleType) -> None:
        self._wrap(module.CuMemAllocator, "sleep", self._vllm_slept)
        self._wrap(module.CuMemAllocator, "wake_up", self._vllm_woken)

    def _vllm_slept(self, original: Callable[..., Any], allocator: Any, *arguments: Any, **options: Any) -> Any:
        value = original(allocator, *arguments, **options)
        with contextlib.suppress(Exception):
            kept = options.get("offload_tags", arguments[0] if arguments else None)
            kept = (getattr(allocator, "default_tag", "default"),) if kept is None else kept
            kept = (kept,) if isinstance(kept, str) else tuple(kept)
            by_tag: dict[str, list[Range]] = {}
            for address, data in allocator.pointer_to_data.items():
                # A handle is the device, the size, the address, and the driver's handle.
                by_tag.setdefault(str(data.tag), []).append((int(address), int(data.handle[1])))
            for tag, ranges in by_tag.items():
                self.pause("vllm", tag, ranges, "cpu" if tag in kept else "none")
        return value

    def _vllm_woken(self, original: Callable[..., Any], allocator: Any, *arguments: Any, **options: Any) -> Any:
        value = original(allocator, *arguments, **options)
        with contextlib.suppress(Exception):
            tags = options.get("tags", arguments[0] if arguments else None)
            self.resume("vllm", None if tags is None else {tags} if isinstance(tags, str) else set(map(str, tags)))
        return value

    def _wrap(self, kind: Any, name: str, function: Callable[..., Any]) -> None:
        original = getattr(kind, name)

        @functools.wraps(original)
        def wrapper(owner: Any, *arguments: Any, **options: Any) -> Any:
            return function(original, owner, *arguments, **options)

        def undo() -> None:
            if kind.__dict__.get(name) is wrapper:
                setattr(kind, name, original)

        setattr(kind, name, wrapper)
        self._undo.append(undo)


def _tag(arguments: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    tag = options.get("tag", arguments[0] if arguments else None)
    return None if tag is None else str(tag)
