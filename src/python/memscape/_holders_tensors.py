"""Python tensors, gradients and tensors saved by autograd, by the address of their storage."""

from __future__ import annotations

import gc
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import GetSetDescriptorType
from typing import Any

from . import _holders_safe as safe

_MAX_NODES = 200_000
_RAW = "_raw_saved_"


@dataclass
class Saved:
    """A tensor that autograd saved for backward."""

    node: str
    """Name of the node, such as ReluBackward0."""
    saved_as: str
    """What the node calls it, such as result."""
    behind: int
    """A Python tensor, by address, whose graph has the node."""


class Tensors:
    """Tensors of this process. Objects are kept only in `alive`; everything else refers to them by address."""

    def __init__(self, torch: Any, device_type: str, alive: dict[int, Any], most_objects: int) -> None:
        """Find all Python tensors on a kind of device, unless the heap has more than `most_objects` objects."""
        self._base = torch._C.TensorBase
        self._torch = torch
        self._alive = alive
        self.by_address: dict[int, list[int]] = defaultdict(list)
        """Python tensors by the address of their storage."""
        self.nodes: dict[int, tuple[str, int]] = {}
        """Nodes of graphs that Python objects may refer to: name, and a tensor that leads to it."""
        kinds = {id(kind) for kind in _kinds(torch.Tensor)}
        objects = gc.get_objects()
        self.objects = len(objects)
        """Number of objects in the heap."""
        self.is_too_large = self.objects > most_objects
        found = [] if self.is_too_large else [it for it in objects if id(type(it)) in kinds]
        objects.clear()
        with self._no_functions():
            for tensor in found:
                self._add(tensor, device_type)
        found.clear()

    def _no_functions(self) -> Any:
        # __torch_function__ of a subclass is code of the program.
        return self._torch._C.DisableTorchFunctionSubclass()

    def _get(self, name: str, tensor: Any) -> Any:
        return self._base.__dict__[name].__get__(tensor)

    def _address(self, tensor: Any) -> int:
        return int(self._base.untyped_storage(tensor).data_ptr())

    def _add(self, tensor: Any, device_type: str) -> None:
        try:
            address = self._address(tensor) if self._get("device", tensor).type == device_type else 0
        except Exception:  # no storage
            return
        if address:
            self._alive[id(tensor)] = tensor
            self.by_address[address].append(id(tensor))

    def _each(self) -> Iterator[Any]:
        return (self._alive[it] for group in self.by_address.values() for it in group)

    def gradients(self) -> dict[int, int]:
        """Return the tensor that has a gradient, by the address of the gradient's storage. Most exist only in C++."""
        found: dict[int, int] = {}
        with self._no_functions():
            for tensor in self._each():
                try:
                    # Other tensors have none, and PyTorch warns.
                    if self._get("is_leaf", tensor) or self._get("retains_grad", tensor):
                        gradient = self._get("grad", tensor)
                        if gradient is not None:
                            found.setdefault(self._address(gradient), id(tensor))
                except Exception:  # noqa: S112, PERF203
                    continue
        return found

    def saved(self, until: float) -> dict[int, Saved]:
        """Return tensors saved by the graphs of Python tensors, by address. Unpack hooks are not run: they may copy."""
        found: dict[int, Saved] = {}
        names: dict[int, list[tuple[str, Any]]] = {}
        with self._no_functions():
            todo = deque((self._get("grad_fn", tensor), id(tensor)) for tensor in self._each())
            while todo and len(self.nodes) < _MAX_NODES and time.perf_counter() < until:
                node, behind = todo.popleft()
                if node is None or id(node) in self.nodes:
                    continue
                kind = type(node)
                # Keeps the wrapper, by whose address it is recognized.
                self._alive[id(node)] = node
                self.nodes[id(node)] = (safe.class_name(kind), behind)
                if id(kind) not in names:
                    names[id(kind)] = list(_raw_saved(kind))
                for name, descriptor in names[id(kind)]:
                    for address in self._addresses(descriptor, node):
                        found.setdefault(address, Saved(self.nodes[id(node)][0], name, behind))
                todo.extend((following, behind) for following, _ in _next_functions(node))
        return found

    def _addresses(self, descriptor: Any, node: Any) -> Iterator[int]:
        try:
            raw = descriptor.__get__(node)
        except Exception:  # freed by backward
            return
        for saved in raw if type(raw) in (tuple, list) else (raw,):
            try:
                # Since PyTorch 2.11 `data` of a SavedTensor is what it holds, before the unpack hook.
                data = getattr(saved, "data", None)
                if data is not None and safe.is_a(type(data), self._torch.Tensor):
                    yield self._address(data)
            except Exception:  # noqa: S112, PERF203
                continue


def _kinds(kind: type) -> Iterator[type]:
    """Yield a class and its subclasses, without those that handle calls in `__torch_dispatch__`.

    Such tensors have no storage of their own. They wrap tensors that are found by themselves.
    """
    todo, seen = [kind], set()
    while todo:
        it = todo.pop()
        if id(it) not in seen:
            seen.add(id(it))
            todo.extend(type.__subclasses__(it))
            if it is kind or not any("__torch_dispatch__" in safe.class_dict(base) for base in _below(it, kind)):
                yield it


def _below(kind: type, base: type) -> list[type]:
    classes = list(safe.mro(kind))
    return classes[: next(index for index, it in enumerate(classes) if it is base)]


def _raw_saved(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a kind of node that hold saved tensors, with their names."""
    for base in safe.mro(kind):
        for name, descriptor in list(safe.class_dict(base).items()):
            if type(name) is str and name.startswith(_RAW) and type(descriptor) is GetSetDescriptorType:
                yield name[len(_RAW) :], descriptor


def _next_functions(node: Any) -> Any:
    for base in safe.mro(type(node)):
        descriptor = safe.class_dict(base).get("next_functions")
        if descriptor is not None:
            return descriptor.__get__(node) if type(descriptor) is GetSetDescriptorType else ()
    return ()
