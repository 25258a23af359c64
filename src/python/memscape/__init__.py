"""memscape records, opens and explains PyTorch memory snapshots.

    with memscape.record("runs/a"):                  # saves at the end and on any error, including OOM
        train()

    memscape.view("runs/a")                          # the page, in the browser
    memscape.show("runs/a/rank00000_step000000_exit.pickle.gz")   # in a notebook
    memscape.open("runs/a/…").insight("oom")         # answers, in Python

Importing memscape imports only the standard library, not PyTorch.
"""

from ._binary import MemscapeError
from ._facts import version as _version
from ._peak import PeakExceeded, assert_peak_below
from ._start import record, start
from .answers import Answer, Device, Live, Rows, Summary
from .insights import Insight, Plan, Segments, Statement, WhatIf
from .looking import View, show, view
from .recorder import Recorder
from .session import Session, open  # noqa: A004
from .table import Table
from .zeta import save_memory_snapshot

__version__ = _version()

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
