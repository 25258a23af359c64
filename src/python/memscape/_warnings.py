"""Warnings of the recorder, which never become exceptions."""

from __future__ import annotations

import sys
import warnings


def warn(text: str) -> None:
    """Emit a RuntimeWarning. With `-W error`, print it instead, so that it does not end the training run."""
    try:
        warnings.warn(f"memscape: {text}", RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        if sys.stderr is not None:
            print(f"memscape: {text}", file=sys.stderr)
