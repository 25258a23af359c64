"""Builds the `memscape` key of a snapshot, whose layout is documented in _facts.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _facts, _sources
from ._backend import Backend
from ._contributors import Contributors
from ._history import History
from ._settings import Settings
from ._steps import Steps
from ._tensors import Named
from ._warnings import warn


@dataclass
class Description:
    """What a recorder knows about a run."""

    backend: Backend
    options: Settings
    steps: Steps
    named: Named
    contributors: Contributors
    history: History
    oom: dict[str, int] | None = None
    """The last failed request."""

    def __call__(self, snapshot: dict[str, Any], reason: str, error: BaseException | None) -> dict[str, Any]:
        """Return the key for a snapshot. Fields that cannot be found out are left out with a warning."""
        fields: dict[str, Any] = {"schema": _facts.SCHEMA, "reason": reason, "time_us": _facts.now_us()}
        try:
            fields.update(_facts.of_process(self.backend, self.options.mesh), settings=self.history.settings)
            if self.steps.number >= 0:
                fields["step"] = self.steps.number
            if error is not None:
                first = str(error).split("\n", 1)[0]
                fields["error"] = f"{type(error).__name__}: {first}"[:1000]
            if self.oom is not None and reason in ("oom", "error"):
                fields["oom"] = self.oom
            fields["steps"] = self.steps.marks
            fields["devices"] = _facts.of_devices(self.backend, ask_driver=reason != "oom")
            fields.update(_facts.of_current(self.backend, fields["devices"]))
            fields["tensors"], left_out = self.named.tensors()
            if left_out:
                fields["tensors_left_out"] = left_out
            if self.options.sources:
                fields["source"] = _sources.of_stacks(snapshot)
        except Exception as failure:
            warn(f"the snapshot says less of its run: {type(failure).__name__}: {failure}")
        # Last, because readers keep only the first facts.
        return {**fields, **self.contributors.fields(reason, snapshot, warn)}
