"""Fields of the `memscape` key of a snapshot, each added by a function of the feature that it belongs to."""

from __future__ import annotations

from typing import Any, Callable, Optional

Field = tuple[str, object]
Contributor = Callable[[str, dict[str, Any]], Optional[Field]]
"""Called with the reason for saving and with PyTorch's snapshot, in the thread that saves, before the file is written.

Returns a name and a value made of numbers, texts, lists and dictionaries, or None to add nothing. With the reason
"oom" it runs inside a failing allocation: it must not call CUDA, import modules, or wait for other threads. The garbage
collector is switched off meanwhile.
"""


class Contributors:
    """Functions that add fields to saved snapshots, in the order in which they were added."""

    def __init__(self) -> None:
        self._all: list[Contributor] = []

    def add(self, contributor: Contributor) -> None:
        """Add a function that is called for each snapshot."""
        self._all.append(contributor)

    def fields(self, reason: str, snapshot: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
        """Return the fields for a snapshot. A function that fails is left out with a warning."""
        found: dict[str, Any] = {}
        for contributor in self._all:
            try:
                field = contributor(reason, snapshot)
            except Exception as failure:
                warn(f"the snapshot says less of its run: {type(failure).__name__}: {failure}")
                continue
            if field is not None:
                found[field[0]] = field[1]
        return found
