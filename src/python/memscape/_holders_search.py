"""Search for what keeps objects alive: from the objects towards variables, one pass over the heap for a level."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from . import _holders_safe as safe
from . import _holders_text as text

MAX_LEVELS = 24
# Maximum number of objects in a level, and of referrers of an object that are followed.
_MAX_FRONT = 4000
_MAX_REFERRERS = 40
# A pass compares each reference in the heap with each of these, so more of them take as long as more passes.
_CHUNK = 64
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_MAX_NAMES = 6


@dataclass
class Found:
    """What keeps an object alive."""

    root: str
    """global, class, frame, graph, cycle, c++ or unknown."""
    path: str
    length: int
    """Number of objects on the path, or in the cycle."""
    names: list[str]
    """Types of the objects that lead to it, from the object on. Empty if a root was found."""
    start: int = 0
    """Address of the root."""


class Roots:
    """Variables of modules and of running functions."""

    def __init__(self, kept: list[Any]) -> None:
        """Read them. `kept` keeps the values alive, because they are identified by address."""
        self.texts: dict[int, tuple[str, str]] = {}
        """Root and text, by address of the value."""
        self.running: set[int] = set()
        self.module_dicts: set[int] = set()
        self.is_complete = True
        """False if the variables of some functions could not be read."""
        frames = list(sys._current_frames().values())
        # A variable with the frame of this function would be a cycle, and keep the values of all callers alive.
        while frames:
            self._add_stack(frames.pop(), kept)
        for module in list(sys.modules.values()):
            if safe.is_a(type(module), ModuleType) and (variables := safe.instance_dict(module)) is not None:
                name = dict.get(variables, "__name__")
                self.texts[id(variables)] = ("global", name if type(name) is str else "?")
                self.module_dicts.add(id(variables))
                kept.append(variables)

    def _add_stack(self, frame: FrameType | None, kept: list[Any]) -> None:
        while frame is not None:
            self.running.add(id(frame))
            if not is_own(frame):
                name, is_module = frame.f_code.co_name, frame.f_code.co_name == "<module>"
                module = dict.get(frame.f_globals, "__name__")
                variables = safe.frame_locals(frame)
                self.is_complete = self.is_complete and variables is not None
                for variable, value in variables or ():
                    # A caller comes after what it calls, and keeps the value for longer.
                    self.texts[id(value)] = (
                        ("global", f"{module if type(module) is str else '?'}.{variable}")
                        if is_module
                        else ("frame", f"local {variable} of {name} ({text.place(frame)})")
                    )
                    kept.append(value)
            frame = frame.f_back


def is_own(frame: FrameType) -> bool:
    """Return whether a frame runs code of this package."""
    return frame.f_code.co_filename.startswith(_FOLDER)


class Search:
    """One search for all objects, so that its cost hardly depends on their number."""

    def __init__(self, alive: dict[int, Any], until: float) -> None:
        """Prepare a search that ends at `until` on time.perf_counter().

        `alive` maps addresses to objects. It keeps everything that was found alive, and is ignored as a referrer. No other
        container of the search refers to an object, or it would be found as well.
        """
        self._alive, self._until = alive, until
        self._kept: list[Any] = []
        self._roots = Roots(self._kept)
        self._up: dict[int, dict[int, None]] = defaultdict(dict)
        self._down: dict[int, list[int]] = defaultdict(list)
        # Next object on the way to a root, or None at the root.
        self._toward: dict[int, int | None] = {}
        self._searched: set[int] = set()
        self.cut = False
        """True if the search ended early."""

    def add_root(self, address: int, root: str, start: str) -> None:
        """Declare an object of `alive` as a root, whose path begins with `start`."""
        self._roots.texts.setdefault(address, (root, start))

    def run(self, targets: Iterable[int]) -> None:
        """Search for the roots of objects, given by address, until all are found or the time is over."""
        targets = list(dict.fromkeys(targets))
        front, queued = targets, set(targets)
        for _ in range(MAX_LEVELS):
            for address in front:
                if address not in self._toward and self._is_root(address):
                    self._reach(address, None)
            front = [address for address in front if address not in self._toward]
            if not front or all(address in self._toward for address in targets):
                return
            front = self._level(front, queued)
        self.cut = self.cut or bool(front)

    def _is_root(self, address: int) -> bool:
        value = self._alive[address]
        if address not in self._roots.texts and safe.is_a(type(value), type):
            module = safe.class_dict(value).get("__module__")
            prefix = f"{module}." if type(module) is str else ""
            self._roots.texts[address] = ("class", f"{prefix}{safe.class_name(value)}")
        return address in self._roots.texts

    def _reach(self, address: int, parent: int | None) -> None:
        """Record that `address` leads to a root through `parent`, and so does all that it refers to."""
        todo: deque[tuple[int, int | None]] = deque([(address, parent)])
        while todo:
            address, parent = todo.popleft()
            if address not in self._toward:
                self._toward[address] = parent
                todo.extend((child, address) for child in self._down[address])

    def _level(self, front: list[int], queued: set[int]) -> list[int]:
        """Find all referrers of a level, and return the ones that were in no level yet."""
        found: list[int] = []
        for start in range(0, len(front), _CHUNK):
            if time.perf_counter() > self._until or len(found) > _MAX_FRONT:
                self.cut = True
                break
            for address in self._pass(front[start : start + _CHUNK]):
                if address not in queued and address not in self._searched:
                    queued.add(address)
                    found.append(address)
        return found

    def _pass(self, chunk: list[int]) -> list[int]:
        """Find the referrers of some objects with one pass over the heap."""
        wanted = tuple(self._alive[address] for address in chunk)
        got = gc.get_referrers(*wanted)
        addresses, counts, found = set(chunk), Counter[int](), list[int]()
        own = {id(it) for it in (self._alive, self._kept, wanted, got)}
        for referrer in got:
            address = id(referrer)
            if address in own or self._is_ignored(referrer):
                continue
            children = {id(it) for it in gc.get_referents(referrer)} & addresses
            followed = [child for child in children if counts[child] < _MAX_REFERRERS]
            counts.update(children)
            if followed:
                self._alive[address] = referrer
                found.append(address)
            for child in followed:
                self._up[child][address] = None
                self._down[address].append(child)
                if address in self._toward:
                    self._reach(child, address)
        self._searched.update(child for child in chunk if counts[child] <= _MAX_REFERRERS)
        got.clear()
        return found

    def _is_ignored(self, referrer: Any) -> bool:
        # Variables of running functions are roots already. Before Python 3.11 their frames are in the heap.
        return type(referrer) is FrameType and (id(referrer) in self._roots.running or is_own(referrer))

    def found(self, address: int) -> Found:
        """Return what keeps an object of `run` alive."""
        if address in self._toward:
            return self._rooted(address)
        members = self._members(address)
        names = self._names(address)
        # Objects in the permanent generation are in no pass.
        if not self._searched.issuperset(members) or gc.get_freeze_count():
            return Found("unknown", " <- ".join(names), len(members), names)
        if len(members) > 1 and self._references_from_outside(members) == 0:
            return Found("cycle", " <- ".join(names), len(members), names)
        return Found("c++" if self._roots.is_complete else "unknown", " <- ".join(names), len(members), names)

    def _rooted(self, address: int) -> Found:
        chain = [address]
        while (parent := self._toward[chain[-1]]) is not None:
            chain.append(parent)
        objects = [self._alive.get(it) for it in reversed(chain)]
        root, start = self._roots.texts[chain[-1]]
        if chain[-1] in self._roots.module_dicts and len(objects) > 1:
            name = text.edge(objects[0], objects[1])
            start = f"{start}.{name[2:-2]}" if name[:2] in ("['", '["') else f"{start}{name}"
            objects = objects[1:]
        elif root == "class" and len(objects) > 1 and type(objects[1]) is dict:
            name = text.edge(objects[1], objects[2]) if len(objects) > 2 else ""
            start = f"{start}.{name[2:-2]}" if name[:2] in ("['", '["') else f"{start}{name}"
            objects = objects[2:]
        return Found(root, text.path(start, objects), len(chain), [], chain[-1])

    def _members(self, address: int) -> list[int]:
        """Return the object and all that lead to it."""
        members, todo = {address: None}, deque([address])
        while todo:
            for parent in self._up[todo.popleft()]:
                if parent not in members:
                    members[parent] = None
                    todo.append(parent)
        return list(members)

    def _names(self, address: int) -> list[str]:
        """Return labels of the object and of the first ones that lead to it, each referred to by the next."""
        chain = [address]
        while len(chain) < _MAX_NAMES:
            following = next((it for it in self._up[chain[-1]] if it not in chain), None)
            if following is None:
                break
            chain.append(following)
        objects = [self._alive[it] for it in chain]
        # The dictionary of an object goes without saying.
        pairs = zip(objects, [*objects[1:], None])
        return [text.label(it) for it, by in pairs if type(it) is not dict or safe.instance_dict(by) is not it]

    def _references_from_outside(self, members: list[int]) -> int:
        inner = Counter[int]()
        for address in members:
            inner.update(id(it) for it in gc.get_referents(self._alive[address]))
        # The reference count of an object that only a dictionary refers to, measured in the same way.
        ours = _references({0: []}, 0)
        return sum(max(0, _references(self._alive, it) - ours - inner[it]) for it in members)


def _references(objects: dict[int, Any], key: int) -> int:
    value = objects[key]
    return sys.getrefcount(value)
