"""Validation of a recorder's options at the start, so that mistakes do not show up in the middle of a training run."""

from __future__ import annotations

import math
import operator
import os
import signal
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ._ranks import Ranks
from ._triggers import Bytes, in_bytes

STACKS = ("python", "all")
CONTEXTS = ("all", "alloc", "state", None)
# Descriptions of expected values, for error messages.
ENTRIES = "a number of events, 1 or more"
EVERY = "a number of steps, 1 or more"
STEP = "a whole number"
STEPS = "numbers of steps, 0 or more, such as [0, 100]"
KEEP = "a number of files, 1 or more, or None to keep all"
SAMPLE_EVERY = "a number of steps, 1 or more, or None"
_UNHANDLED = ("SIGKILL", "SIGSTOP")


def wrong(name: str, value: object, expected: str) -> ValueError:
    """Return the error for an argument with an invalid value of the right type."""
    return ValueError(f"{name}={value!r}: expected {expected}")


def _wrong_type(name: str, value: object, expected: str) -> TypeError:
    return TypeError(f"{name}={value!r}: expected {expected}, not {type(value).__name__}")


def folder(value: Any) -> Path:
    """Return `value` as the path of a folder.

    Raises:
        TypeError: It is not a path.

    """
    if not isinstance(value, (str, os.PathLike)):
        raise _wrong_type("folder", value, "a path")
    return Path(value)


def whole(name: str, value: Any, expected: str, least: int = 1, most: int = sys.maxsize) -> int:
    """Return an integer in a range. NumPy integers are accepted.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is out of range.

    """
    if isinstance(value, (bool, str, bytes)):
        raise _wrong_type(name, value, expected)
    try:
        number = operator.index(value)
    except TypeError:
        raise _wrong_type(name, value, expected) from None
    if not least <= number <= most:
        raise wrong(name, value, expected)
    return number


def flag(name: str, value: Any) -> bool:
    """Return True or False.

    Raises:
        TypeError: It is not a bool.

    """
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "True or False")
    return value


def choice(name: str, value: Any, choices: Collection[Any]) -> Any:
    """Return the value if it is one of the choices.

    Raises:
        ValueError: It is not one of them.

    """
    if not isinstance(value, (str, type(None))) or value not in choices:
        raise wrong(name, value, " or ".join(map(repr, choices)))
    return value


def numbers(name: str, value: Any, expected: str) -> frozenset[int]:
    """Return a collection of non-negative integers as a set.

    Raises:
        TypeError: It is not a collection of integers.
        ValueError: A number is negative.

    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise _wrong_type(name, value, expected)
    return frozenset(_each(name, value, value, expected))


def growth(value: Bytes | None) -> int | None:
    """Return `on_growth` in bytes.

    Raises:
        TypeError: It is neither an integer nor a string.
        ValueError: It is not a size, or not positive.

    """
    expected = "a size of 1 byte or more, such as 268435456 or '256MiB', or None"
    if value is None:
        return None
    if not isinstance(value, str):
        return whole("on_growth", value, expected)
    try:
        return whole("on_growth", in_bytes(value), expected)
    except (ValueError, OverflowError):
        raise wrong("on_growth", value, expected) from None


def signal_number(value: Any) -> signal.Signals | None:
    """Return one signal of `on_signal`.

    Raises:
        TypeError: It is neither a name nor a number.
        ValueError: There is no such signal, or it cannot be handled.

    """
    expected = "a name such as 'SIGUSR2', its number, or None"
    if value is None:
        return None
    if isinstance(value, str):
        found = signal.Signals.__members__.get(value)
    else:
        number = whole("on_signal", value, expected)
        found = next((it for it in signal.Signals if it == number), None)
    if found is None or found.name in _UNHANDLED:
        why = "no such signal" if found is None else "no program can handle it"
        raise ValueError(f"on_signal={value!r}: {why}; expected {expected}")
    return found


def holders(value: Any) -> Any:
    """Return `holders`: "auto", False, or a number of allocations.

    Raises:
        TypeError: It is none of these.
        ValueError: It is another string, or not positive.

    """
    expected = "'auto', False, or a number of allocations, 1 or more"
    if isinstance(value, str):
        if value != "auto":
            raise wrong("holders", value, expected)
        return value
    return False if value is False else whole("holders", value, expected)


def signal_numbers(value: Any) -> frozenset[signal.Signals]:
    """Return `on_signal`, which is one signal or a collection of them, as a set.

    Raises:
        TypeError: It is neither a name, a number, nor a collection of these.
        ValueError: There is no such signal, or it cannot be handled.

    """
    if value is None:
        return frozenset()
    is_one = isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable)
    try:
        return frozenset(number for number in map(signal_number, (value,) if is_one else value) if number is not None)
    except (TypeError, ValueError) as error:
        # An error quotes the whole collection.
        raise type(error)(f"on_signal={value!r}: {str(error).partition(': ')[2]}") from None


def verdict(value: Any) -> Any:
    """Return `verdict`.

    Raises:
        TypeError: It is neither a string, a function nor None.
        ValueError: The string is not one of the choices.

    """
    expected = "'stderr', 'log', a function of a string, or None"
    if value is None or callable(value):
        return value
    if not isinstance(value, str):
        raise _wrong_type("verdict", value, expected)
    if value not in ("stderr", "log"):
        raise wrong("verdict", value, expected)
    return value


def seconds(name: str, value: Any) -> float | None:
    """Return a positive number of seconds, or None.

    Raises:
        TypeError: It is not a number.
        ValueError: It is not positive and finite.

    """
    expected = "a number of seconds, 0.01 or more, or None"
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong_type(name, value, expected)
    if not 0.01 <= value < math.inf:
        raise wrong(name, value, expected)
    return float(value)


def rank_numbers(value: Ranks) -> Ranks:
    """Return `ranks`. The whole value is checked, so that every rank reports the same mistake.

    Raises:
        TypeError: It is neither a string nor a collection of integers.
        ValueError: The string is not a list of ranks, or a number is negative.

    """
    expected = "'all', or ranks such as '0,8-15' or {0, 8}"
    if not isinstance(value, str):
        return numbers("ranks", value, expected)
    if value == "all":
        return value
    for part in value.split(","):
        first, dash, last = (text.strip() for text in part.partition("-"))
        is_range = first.isdecimal() and (last.isdecimal() if dash else True)
        if not is_range or (dash and int(first) > int(last)):
            raise wrong("ranks", value, expected)
    return value


def mesh(value: Any) -> Any:
    """Return a validated `mesh`.

    Raises:
        TypeError: It is neither a mapping of names to integers nor a DeviceMesh.
        ValueError: A coordinate is negative.

    """
    expected = "coordinates such as {'dp': 1, 'tp': 0}, a DeviceMesh, or None"
    if isinstance(value, Mapping):
        return {str(name): place for name, place in zip(value, _each("mesh", value, value.values(), expected))}
    if value is not None and not callable(getattr(value, "get_coordinate", None)):
        raise _wrong_type("mesh", value, expected)
    return value


def _each(name: str, value: Any, parts: Iterable[Any], expected: str) -> Iterator[int]:
    """Yield the integers in a collection. An error quotes the whole collection."""
    place: object = None
    try:
        for place in parts:
            yield whole(name, place, expected, 0)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}={value!r}: expected {expected}, not {place!r}") from None
