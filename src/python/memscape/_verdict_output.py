"""Where the text about a failed allocation goes, and which rank of a job prints it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from pathlib import Path

from . import _ranks
from ._settings import Verdict

_CLAIM = ".memscape-oom"
# Age in s after which the file belongs to an earlier failure.
_CLAIM_EXPIRES_S = 600


class VerdictOutput:
    """Prints to standard error, to the log, or calls a function. Never raises."""

    def __init__(self, to: Verdict, folder: Path) -> None:
        self._to, self._folder = to, folder
        self._started = time.time()
        self._is_claimed = False

    @property
    def is_off(self) -> bool:
        """True if no verdict is printed."""
        return self._to is None

    def write(self, text: str) -> None:
        """Print a text that ends with a line break."""
        with contextlib.suppress(Exception):
            if callable(self._to):
                self._to(text)
            elif self._to == "log":
                logging.getLogger("memscape").error("%s", text.rstrip("\n"))
            elif self._to == "stderr":
                _to_stderr(text)

    def is_first_rank(self) -> bool:
        """Return whether this rank prints the whole text, as the first of its job in this folder to run out of memory.

        Ranks that share no folder each are the first.
        """
        if self._is_claimed or (_ranks.world() or 1) <= 1:
            return True
        path = self._folder / _CLAIM
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            self._is_claimed = True
        except FileExistsError:
            self._is_claimed = self._take_over(path)
        except OSError:
            return True
        return self._is_claimed

    def _take_over(self, path: Path) -> bool:
        """Claim a file that an earlier run left, or an earlier failure of this one."""
        with contextlib.suppress(OSError):
            created = path.stat().st_mtime
            if created < self._started - 1 or created < time.time() - _CLAIM_EXPIRES_S:
                os.utime(path)
                return True
        return False


def _to_stderr(text: str) -> None:
    if sys.stderr is not None and sys.stderr is not sys.__stderr__:  # notebooks, Ray, pytest
        sys.stderr.write(text)
        sys.stderr.flush()
    else:
        # One write, so that texts of several ranks on a pipe are not mixed.
        os.write(2, text.encode("utf-8", "replace"))
