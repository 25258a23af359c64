"""`memscape run`: records a program without changes to its code.

    memscape run -m train --lr 3e-4
    torchrun --nproc-per-node 8 -m memscape.run --every 100 train.py

A step ends with the update of the optimizer, or of the last one if several take turns. Processes that the program
starts are recorded as well, once they use the GPU.
"""

from __future__ import annotations

import argparse
import os
import runpy
import signal
import sys
from collections.abc import Callable
from typing import Any

from . import _children, _options
from ._optimizer_steps import OptimizerSteps
from .recorder import ENTRIES, Recorder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memscape run",
        description="Run a Python program and record what it allocates. Snapshots are saved when it runs out of memory, fails or ends.",
        epilog="The program's own arguments follow its name.",
    )
    parser.add_argument(
        "-o", "--output", default="memscape", metavar="DIR", help="folder for snapshots (default: %(default)s)"
    )
    parser.add_argument(
        "--entries",
        type=_option("entries"),
        default=ENTRIES,
        metavar="N",
        help="events to keep per device (default: %(default)s)",
    )
    parser.add_argument(
        "--stacks", choices=["python", "all"], default="python", help="all: C++ frames as well; dumps take minutes"
    )
    parser.add_argument("--every", type=_option("every"), metavar="N", help="save after every N steps")
    parser.add_argument(
        "--steps",
        type=_option("steps"),
        default=(),
        metavar="N,N",
        help="save after the steps with these numbers, from 0 on",
    )
    parser.add_argument(
        "--on-new-peak", action="store_true", help="save when the peak is 1 %% above the highest so far"
    )
    parser.add_argument(
        "--on-growth",
        type=_option("on_growth"),
        metavar="SIZE",
        help="save when what is live after a step has grown by so much, such as 256MiB",
    )
    parser.add_argument(
        "--on-signal",
        type=_option("on_signal"),
        default=frozenset({signal.SIGTERM}),
        metavar="NAME,NAME",
        help="save on these signals, such as SIGTERM,SIGUSR2, or none (default: SIGTERM)",
    )
    parser.add_argument(
        "--ranks", type=_option("ranks"), default="all", help="ranks that record, such as 0,8-15 (default: %(default)s)"
    )
    parser.add_argument(
        "--keep",
        type=_option("keep"),
        default=5,
        metavar="N",
        help="files of each reason to keep, the newest; all: keep every file (default: %(default)s)",
    )
    parser.add_argument(
        "--holders",
        type=_option("holders"),
        default="auto",
        metavar="N",
        help="allocations for which the objects that keep them alive are looked up, or none (default: auto, 24)",
    )
    parser.add_argument(
        "--sources", action="store_true", help="put the source files that occur in stacks into the snapshot"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, as with python -m")
    parser.add_argument("program", metavar="PROGRAM", help="script or module to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    return parser


def _option(name: str) -> Callable[[str], Any]:
    """Return a parser for the text of an option, which applies the checks of the recorder."""

    def read(text: str) -> Any:
        try:
            return _READERS[name](text)
        except (TypeError, ValueError) as error:
            # Drop the name of the option, which argparse adds itself.
            _, found, expected = str(error).rpartition(": ")
            raise argparse.ArgumentTypeError(f"{text!r}: {expected}" if found else str(error)) from None

    return read


def _number(name: str, expected: str) -> Callable[[str], int]:
    return lambda text: _options.whole(name, int(text) if text.isdecimal() else text, expected)


def _steps(text: str) -> frozenset[int]:
    parts = text.split(",")
    expected = "numbers of steps, 0 or more, such as 0,100"
    if not all(part.strip().isdecimal() for part in parts):
        raise _options.wrong("steps", text, expected)
    return _options.numbers("steps", [int(part) for part in parts], expected)


def _signals(text: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in text.split(",")]


_READERS: dict[str, Callable[[str], Any]] = {
    "entries": _number("entries", _options.ENTRIES),
    "every": _number("every", _options.EVERY),
    "steps": _steps,
    "on_growth": lambda text: _options.growth(int(text) if text.isdecimal() else text),
    "on_signal": lambda text: frozenset() if text == "none" else _options.signal_numbers(_signals(text)),
    "ranks": _options.rank_numbers,
    "holders": lambda text: False if text == "none" else _options.holders(int(text) if text.isdecimal() else text),
    "keep": lambda text: None if text == "all" else _number("keep", "a number of files, 1 or more, or 'all'")(text),
}


def main(arguments: list[str]) -> int:
    """Run a program under a recorder and return the exit status."""
    options = _parser().parse_args(arguments)
    chosen = {
        key: value for key, value in vars(options).items() if key not in ("output", "module", "program", "arguments")
    }
    sys.argv = [options.program, *options.arguments]
    try:
        started = Recorder(options.output, **chosen)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"memscape run: {error}", file=sys.stderr)
        return 1
    with started as recorder:
        _children.follow(options.output, chosen)
        steps = OptimizerSteps(recorder)
        steps.install()
        failure: BaseException | None = None
        try:
            if options.module:
                sys.path.insert(0, os.getcwd())
                runpy.run_module(options.program, run_name="__main__", alter_sys=True)
            else:
                sys.path.insert(0, os.path.dirname(os.path.abspath(options.program)))
                runpy.run_path(options.program, run_name="__main__")
        except BaseException as raised:
            failure = raised
            raise
        finally:
            steps.finish(failure)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
