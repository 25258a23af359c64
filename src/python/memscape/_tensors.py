"""Names of tensors. They are collected when a snapshot is saved, so that training steps cost nothing."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

MOST = 200_000


class Named:
    """Models and optimizers whose tensors are named. Holds weak references."""

    def __init__(self) -> None:
        self._all: list[tuple[str, Callable[[], Any]]] = []

    def __len__(self) -> int:
        return len(self._all)

    def add(self, prefix: str, owner: Any) -> None:
        """Add a module (an object with `named_parameters`) or an optimizer (with `param_groups`).

        Raises:
            TypeError: The owner is neither.

        """
        if not hasattr(owner, "named_parameters") and not hasattr(owner, "param_groups"):
            raise TypeError(f"expected a torch.nn.Module or a torch.optim.Optimizer, not {type(owner).__name__}")
        self._all.append((prefix, weakref.ref(owner)))

    def tensors(self) -> tuple[list[dict[str, Any]], int]:
        """Return the live tensors in the layout of the `memscape` key, and the number of tensors left out."""
        found: dict[tuple[int, str, str], dict[str, Any]] = {}
        left_out = 0
        for name, kind, tensor in self._walk():
            fields = _described(name, kind, tensor)
            if fields is None:
                continue
            if len(found) < MOST:
                found.setdefault((fields["addr"], name, kind), fields)
            else:
                left_out += 1
        return list(found.values()), left_out

    def _walk(self) -> Iterator[tuple[str, str, Any]]:
        owners = [(prefix, owner) for prefix, get in self._all if (owner := get()) is not None]
        # Names of parameters, for use with optimizers, which do not know them.
        names: dict[int, str] = {}
        for prefix, owner in owners:
            if not hasattr(owner, "named_parameters"):
                continue
            for own_name, parameter in list(owner.named_parameters()):
                names[id(parameter)] = name = prefix + own_name
                yield name, "parameter", parameter
                if getattr(parameter, "grad", None) is not None:
                    yield name, "gradient", parameter.grad
            for own_name, buffer in list(owner.named_buffers()):
                yield prefix + own_name, "buffer", buffer
        for prefix, owner in owners:
            if hasattr(owner, "param_groups"):
                yield from _of_optimizer(prefix, owner, names)


def _of_optimizer(prefix: str, optimizer: Any, names: dict[int, str]) -> Iterator[tuple[str, str, Any]]:
    state = getattr(optimizer, "state", {})
    for group, parameters in enumerate(list(optimizer.param_groups)):
        # Since PyTorch 2.6, optimizers created from named_parameters() know the names.
        known = parameters.get("param_names") or ()
        for place, parameter in enumerate(parameters["params"]):
            name = names.get(id(parameter))
            if name is None:
                name = prefix + (known[place] if place < len(known) else f"param_groups.{group}.{place}")
                yield name, "parameter", parameter
                if getattr(parameter, "grad", None) is not None:
                    yield name, "gradient", parameter.grad
            for key, value in list(state.get(parameter, {}).items()):
                if hasattr(value, "untyped_storage"):
                    yield name, f"optimizer_state:{key}", value


def _described(name: str, kind: str, tensor: Any) -> dict[str, Any] | None:
    # Local shard of a DTensor. to_local() would add to the autograd graph.
    local = getattr(tensor, "_local_tensor", tensor)
    try:
        if local.device.type not in ("cuda", "xpu"):
            return None
        storage = local.untyped_storage()
        addr = int(storage.data_ptr())
        if addr == 0:
            return None
        return {
            "addr": addr,
            "bytes": int(storage.nbytes()),
            "device": int(local.device.index or 0),
            "name": name,
            "kind": kind,
            "shape": [int(length) for length in local.shape],
            "dtype": str(local.dtype).replace("torch.", ""),
            "offset": int(local.data_ptr()) - addr,
        }
    except Exception:
        # Meta, fake and quantized tensors have no usable storage.
        return None
