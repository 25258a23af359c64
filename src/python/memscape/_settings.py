"""The options of a recorder, validated at the start."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Any, Union

from . import _options
from ._holders import Holders
from ._ranks import Ranks
from ._triggers import Bytes, Triggers

ENTRIES = 1_000_000
Verdict = Union[str, Callable[[str], Any], None]


@dataclass
class Settings:
    """Options of a recorder, as documented by `memscape.start`.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: An option has an invalid value.

    """

    folder: str | os.PathLike[str]
    entries: int = ENTRIES
    stacks: str = "python"
    context: str | None = "all"
    every: int | None = None
    steps: Collection[int] = ()
    on_new_peak: bool = False
    on_growth: Bytes | None = None
    on_oom: bool = True
    on_exit: bool = True
    on_signal: str | int | Collection[str | int] | None = None
    ranks: Ranks = "all"
    mesh: Any = None
    keep: int | None = 5
    sources: bool = False
    verdict: Verdict = "stderr"
    sample_every: int | None = 1
    sample_s: float | None = None
    replace: bool = False
    holders: Holders = "auto"

    def __post_init__(self) -> None:
        """Validate the options, and convert them to the types that the recorder uses."""
        self.path: Path = _options.folder(self.folder)
        self.triggers = Triggers(
            None if self.every is None else _options.whole("every", self.every, _options.EVERY),
            _options.numbers("steps", self.steps, _options.STEPS),
            _options.flag("on_new_peak", self.on_new_peak),
            _options.growth(self.on_growth),
        )
        self.entries = _options.whole("entries", self.entries, _options.ENTRIES)
        self.stacks = _options.choice("stacks", self.stacks, _options.STACKS)
        self.context = _options.choice("context", self.context, _options.CONTEXTS)
        for name in ("on_oom", "on_exit", "sources", "replace"):
            _options.flag(name, getattr(self, name))
        self.mesh = _options.mesh(self.mesh)
        self.signals: frozenset[Signals] = _options.signal_numbers(self.on_signal)
        self.ranks = _options.rank_numbers(self.ranks)
        self.keep = None if self.keep is None else _options.whole("keep", self.keep, _options.KEEP)
        self.verdict = _options.verdict(self.verdict)
        if self.sample_every is not None:
            self.sample_every = _options.whole("sample_every", self.sample_every, _options.SAMPLE_EVERY)
        self.sample_s = _options.seconds("sample_s", self.sample_s)
        self.holders = _options.holders(self.holders)
