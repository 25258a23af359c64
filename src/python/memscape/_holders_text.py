"""Paths to objects, written as in Python: `__main__.trainer.cache['k'][0]`."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import (
    AsyncGeneratorType,
    CellType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
    TracebackType,
)
from typing import Any

from . import _holders_safe as safe

_MAX_KEY = 60
# Frame of a suspended generator or coroutine.
_SUSPENDED = ((GeneratorType, "gi_frame"), (CoroutineType, "cr_frame"), (AsyncGeneratorType, "ag_frame"))
# Keys of these types are shown. Others have their own code for that.
_PLAIN = (str, int, float, bool, bytes, type(None))


def place(frame: FrameType) -> str:
    """Return where a frame is, such as "train.py:46"."""
    path = frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{path}:{frame.f_lineno}"


def label(value: Any) -> str:
    """Return a short name of an object, usually that of its class."""
    kind = type(value)
    if kind is FrameType:
        return f"frame {value.f_code.co_name} ({place(value)})"
    if kind is FunctionType:
        return f"function {value.__qualname__}"
    return kind_name(kind)


def kind_name(kind: type) -> str:
    """Return the name of a class without those of the functions and classes around it."""
    return safe.class_name(kind).rsplit(".", 1)[-1]


def path(start: str, objects: Sequence[Any]) -> str:
    """Return the path from the first object, whose text is `start`, to the last one."""
    text, is_attribute = start, False
    for parent, child in zip(objects, objects[1:]):
        step = edge(parent, child)
        if is_attribute and step[:2] in ("['", '["'):
            step = f".{step[2:-2]}"
        elif type(parent) is FrameType and type(child) is not FrameType:
            step = f" -> {label(parent)}{step}"
        text += step
        # The dictionary of an object is not a part of the path: its keys are attributes.
        is_attribute = step == "" and type(child) is dict
    return text


def edge(parent: Any, child: Any) -> str:
    """Return how `parent` refers to `child`: an index, a key, an attribute, or the type of the parent in brackets."""
    kind = type(parent)
    try:
        found = _in_container(kind, parent, child)
        if found is None:
            found = _in_code(kind, parent, child)
        if found is None:
            found = _in_object(kind, parent, child)
    except Exception:
        # Another thread may change the object meanwhile.
        found = None
    return f" ({kind_name(kind)})" if found is None else found


def _in_container(kind: type, parent: Any, child: Any) -> str | None:
    if safe.is_a(kind, dict):
        for key, value in list(dict.items(parent)):
            if value is child:
                return f"[{_key(key)}]"
            if key is child:
                return ".keys()"
    for base in (list, tuple, deque):
        if safe.is_a(kind, base):
            values: Any = base.__iter__(parent)
            for index, value in enumerate(values):
                if value is child:
                    return f"[{index}]"
    return None


def _key(key: Any) -> str:
    """Return a key as in Python if it is a built-in value, and its type otherwise."""
    if _is_plain(key) or (type(key) is tuple and all(_is_plain(part) for part in key)):
        text = repr(key)
        if len(text) <= _MAX_KEY:
            return text
    return kind_name(type(key))


def _is_plain(key: Any) -> bool:
    # `in` would call `==` of a metaclass.
    return any(type(key) is kind for kind in _PLAIN)


def _in_code(kind: type, parent: Any, child: Any) -> str | None:
    """Return how frames, functions, generators and tracebacks refer to an object."""
    found = None
    if kind is FrameType:
        found = _local(parent, child) or (".f_back" if type(child) is FrameType else " (stack)")
    elif kind is CellType or (kind is FunctionType and parent.__closure__ is child):
        found = ""
    elif kind is FunctionType:
        cells = zip(parent.__code__.co_freevars, parent.__closure__ or ())
        found = next((f" closure {name}" for name, cell in cells if cell is child), None)
    elif kind is TracebackType:
        found = ".tb_frame" if type(child) is FrameType else ".tb_next"
    elif safe.is_a(kind, BaseException) and type(child) is TracebackType:
        found = ".__traceback__"
    for suspended, name in _SUSPENDED:
        if kind is suspended and (frame := getattr(parent, name)) is not None:
            found = _local(frame, child)
    return found


def _local(frame: FrameType, child: Any) -> str | None:
    return next((f" local {name}" for name, value in safe.frame_locals(frame) or () if value is child), None)


def _in_object(kind: type, parent: Any, child: Any) -> str | None:
    attributes = safe.instance_dict(parent)
    if attributes is child or (type(child) is dict and safe.is_a(kind, type)):
        return ""  # the next step is the attribute
    for name, value in list((attributes or {}).items()):
        if value is child:
            return f".{name}"
    if kind is not ModuleType:
        for name, value in safe.members(parent):
            if value is child:
                return f".{name}"
    return None
