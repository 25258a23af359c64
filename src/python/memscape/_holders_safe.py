"""Reads objects of the program without running its code: no isinstance, repr, ==, hash or attribute access on them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import FrameType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

# A metaclass may define these attributes, so the descriptors of `type` are used.
_MRO: Any = type.__dict__["__mro__"]
_CLASS_DICT: Any = type.__dict__["__dict__"]
_QUALNAME: Any = type.__dict__["__qualname__"]
# References to a frame's dictionary of locals that are ours or the frame's: variable, frame, and argument of getrefcount.
_OWN_REFERENCES = 3


def mro(kind: type) -> tuple[type, ...]:
    """Return the classes that `kind` inherits from, starting with itself."""
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def is_a(kind: type, base: type) -> bool:
    """Return whether `kind` inherits from `base`. Ignores `__instancecheck__` and `__class__`, unlike isinstance."""
    return any(it is base for it in mro(kind))


def class_dict(kind: type) -> Any:
    """Return the attributes of a class as a read-only mapping."""
    return _CLASS_DICT.__get__(kind)


def class_name(kind: type) -> str:
    """Return the qualified name of a class."""
    return str(_QUALNAME.__get__(kind))


def instance_dict(value: Any) -> dict[Any, Any] | None:
    """Return the attributes of an object, or None if it has no dictionary. A property `__dict__` is not called."""
    for base in mro(type(value)):
        found = class_dict(base).get("__dict__")
        if found is None:
            continue
        if type(found) is not GetSetDescriptorType and type(found) is not MemberDescriptorType:
            return None
        attributes = found.__get__(value)
        return attributes if type(attributes) is dict else None
    return None


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield slots, and the fields of built-in objects, such as `__closure__` of a function."""
    for base in mro(type(value)):
        for name, slot in list(class_dict(base).items()):
            if type(slot) is MemberDescriptorType:
                try:
                    yield name, slot.__get__(value)
                except (AttributeError, TypeError):  # not set, or of another object
                    continue


def frame_locals(frame: FrameType) -> list[tuple[str, Any]] | None:
    """Return the variables of a frame, or None if reading them could have an effect on the program.

    Up to Python 3.12, `f_locals` of a function is a dictionary that its frame keeps, so every tensor in it would live
    until the function returns. It is emptied after reading. A function that may use this dictionary itself is not read,
    nor are functions while a debugger runs.
    """
    is_function = bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)
    is_copy = is_function and sys.version_info < (3, 13)
    if is_copy and (sys.gettrace() is not None or frame.f_trace is not None or "locals" in frame.f_code.co_names):
        return None
    variables: Any = frame.f_locals
    if type(variables) is not dict and (not is_function or is_copy):
        return None  # namespace of a class body, made by a metaclass
    found = list(variables.items())
    if is_copy and sys.getrefcount(variables) <= _OWN_REFERENCES:
        variables.clear()
    return found
