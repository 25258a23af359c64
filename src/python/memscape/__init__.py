"""memscape records, opens and explains PyTorch memory snapshots.

    with memscape.record("runs/a"):                  # saves at the end and on any error, including OOM
        train()

    memscape.view("runs/a")                          # the page, in the browser
    memscape.show("runs/a/rank00000_step000000_exit.pickle.gz")   # in a notebook
    memscape.open("runs/a/…").insight("oom")         # answers, in Python

Importing memscape imports only the standard library, not PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._binary import MemscapeError
    from ._peak import PeakExceeded, assert_peak_below
    from ._start import record, start
    from .answers import Answer, Device, Live, Rows, Summary
    from .insights import Insight, Plan, Segments, Statement, WhatIf
    from .looking import View, show, view
    from .recorder import Recorder
    from .session import Session, open  # noqa: A004
    from .table import Table
    from .zeta import save_memory_snapshot

    __version__: str

# Names by module, which is imported when one of its names is used: a survey starts many processes that need few of them.
_MODULES = {
    "_binary": ("MemscapeError",),
    "_peak": ("PeakExceeded", "assert_peak_below"),
    "_start": ("record", "start"),
    "answers": ("Answer", "Device", "Live", "Rows", "Summary"),
    "insights": ("Insight", "Plan", "Segments", "Statement", "WhatIf"),
    "looking": ("View", "show", "view"),
    "recorder": ("Recorder",),
    "session": ("Session", "open"),
    "table": ("Table",),
    "zeta": ("save_memory_snapshot",),
}

__all__ = [
    "Answer",
    "Device",
    "Insight",
    "Live",
    "MemscapeError",
    "PeakExceeded",
    "Plan",
    "Recorder",
    "Rows",
    "Segments",
    "Session",
    "Statement",
    "Summary",
    "Table",
    "View",
    "WhatIf",
    "assert_peak_below",
    "open",
    "record",
    "save_memory_snapshot",
    "show",
    "start",
    "view",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._facts import version

        return version()
    for module, names in _MODULES.items():
        if name in (module, *names):
            found = importlib.import_module(f".{module}", __name__)
            value = found if name == module else getattr(found, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    modules = (name for name in _MODULES if not name.startswith("_"))
    return sorted({*__all__, *modules, "__version__", *(name for name in globals() if name.startswith("__"))})
