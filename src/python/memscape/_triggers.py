"""Conditions on which a recorder saves by itself."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Union

Bytes = Union[int, str]

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
# Minimum ratio of a new peak to the previous one. Rounding and the order of frees cause smaller differences.
_HIGHER = 1.01


def in_bytes(size: Bytes) -> int:
    """Convert a size such as 268435456 or "256MiB" to bytes.

    Raises:
        ValueError: It is neither a whole number nor a number with a unit (B, KiB, MiB, GiB, kB, MB, GB).

    """
    if isinstance(size, int):
        return size
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
    if not found or found[2] not in _UNITS:
        raise ValueError(f"not a size: {size!r}; expected a number of bytes, or one with a unit such as '256MiB'")
    return int(float(found[1]) * _UNITS[found[2]])


@dataclass
class Triggers:
    """Conditions evaluated at the end of each step. Values are validated by _options.py."""

    every: int | None = None
    """Save after every this many completed steps."""
    steps: Collection[int] = ()
    """Save after the steps with these numbers."""
    on_new_peak: bool = False
    """Save when the peak is 1 % above the highest one so far, starting with that of the first step."""
    on_growth: int | None = None
    """Save when live bytes have grown by this many bytes since the first step or the last save for this reason."""
    _completed: int = field(default=0, init=False)
    _peak: int | None = field(default=None, init=False)
    _live: int | None = field(default=None, init=False)

    @property
    def need_live_bytes(self) -> bool:
        """True if `after` uses live bytes."""
        return self.on_new_peak or self.on_growth is not None

    def after(self, step: int, live: int, peak: int) -> str | None:
        """Return the reason to save after this step, "step", "peak" or "growth", or None. Sizes are in bytes."""
        self._completed += 1
        reason = None
        if self.on_growth is not None:
            if self._live is None:
                self._live = live
            elif live - self._live >= self.on_growth:
                self._live, reason = live, "growth"
        if self.on_new_peak:
            if self._peak is None:
                self._peak = peak
            elif peak > self._peak * _HIGHER:
                self._peak, reason = peak, "peak"
        if step in self.steps or (self.every is not None and self._completed % self.every == 0):
            reason = "step"
        return reason
