"""Training steps: their annotations, their times, and the live memory after each."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from typing import Any, NamedTuple

from . import _facts, _options
from ._backend import Backend
from ._warnings import warn

_MOST_STEPS = 10_000
# Number of steps, the last ones, over which growth of live memory is measured.
_MOST_ENDS = 64
# Number of steps whose ends must be known to tell growth from steady memory.
MIN_ENDS = 6
# The first steps allocate what stays, such as optimizer state, so growth is measured after them.
_FIRST_STEPS = 2


class Growth(NamedTuple):
    """Growth of live memory over the last steps."""

    steps: int
    total_bytes: int


class Steps:
    """The steps of a recording."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.number = -1
        """Number of the step that runs, or of the last one. -1 before the first."""
        self._marks: deque[list[int]] = deque(maxlen=_MOST_STEPS)
        self._range: Any = None
        self._began_us: int | None = None
        self.ends: deque[tuple[int, int]] = deque(maxlen=_MOST_ENDS)
        """Number and live bytes after each of the last steps."""
        self.peak = 0
        """Highest live bytes until the last step ended."""

    @property
    def marks(self) -> list[list[int]]:
        """The number, the begin and the end of each completed step, in µs."""
        return list(self._marks)

    @property
    def place(self) -> str:
        """The step in words, such as `in step 24`, or empty before the first."""
        if self.number < 0:
            return ""
        return f"{'after' if self._began_us is None else 'in'} step {self.number}"

    def begin(self, number: int | None, *, is_recording: bool) -> int:
        """Begin a step, end the one that runs, and return its number."""
        self.close()
        self.number = self._valid(number)
        if is_recording:
            self._began_us = _facts.now_us()
            with contextlib.suppress(Exception):
                self._range = self._backend.torch.autograd.profiler.record_function(f"ProfilerStep#{self.number}")
                self._range.__enter__()
        return self.number

    def _valid(self, number: int | None) -> int:
        try:
            return self.number + 1 if number is None else _options.whole("step", number, _options.STEP, -sys.maxsize)
        except (TypeError, ValueError) as error:
            # A wrong step number must not end the training run.
            warn(f"step {self.number + 1} has the number after the last one: {error}")
            return self.number + 1

    def close(self) -> bool:
        """End the step that runs. Returns whether there was one."""
        (span, self._range), (began_us, self._began_us) = (self._range, None), (self._began_us, None)
        if began_us is None:
            return False
        if span is not None:
            with contextlib.suppress(Exception):
                span.__exit__(None, None, None)
        self._marks.append([self.number, began_us, _facts.now_us()])
        return True

    def cancel(self) -> None:
        """Forget the step that runs."""
        if self._began_us is not None:
            self.close()
            self._marks.pop()
            self.number -= 1

    def ended(self, live: int, live_peak: int) -> None:
        """Note the counters of the allocator after a step."""
        self.ends.append((self.number, live))
        # The program may reset PyTorch's peak.
        self.peak = max(self.peak, live_peak)

    def growth(self) -> Growth | None:
        """Return how live memory grew over the last steps, if it did.

        It did if it rose in 80 % of at least three steps, by more than 2 % of what is live, apart from the largest rise.
        """
        ends = [live for _, live in self.ends]
        if len(ends) < MIN_ENDS:
            return None
        if len(ends) < _MOST_ENDS:
            ends = ends[_FIRST_STEPS:]
        rises = [after - before for before, after in zip(ends, ends[1:])]
        total = ends[-1] - ends[0]
        if sum(rise > 0 for rise in rises) < 0.8 * len(rises) or total - max(rises) <= 0.02 * ends[-1]:
            return None
        return Growth(len(rises), total)
