"""Which rank of a distributed job this process is."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from typing import Any, Union

Ranks = Union[str, Collection[int]]

# torchrun and most launchers; Open MPI; Slurm; MPICH.
_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK")
_WORLD = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE")
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")


def _number(names: tuple[str, ...]) -> int | None:
    for name in names:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return None


def rank() -> int:
    """Return the rank of this process; 0 where the job is not distributed."""
    number = _number(_RANK)
    distributed = sys.modules.get("torch.distributed")
    if number is None and distributed is not None and distributed.is_available() and distributed.is_initialized():
        number = int(distributed.get_rank())
    return number or 0


def is_among(ranks: Ranks) -> bool:
    """Whether this rank is one of `ranks`: "all", "0,8-15", or numbers, as _options.py checks them."""
    if not isinstance(ranks, str):
        return rank() in ranks
    if ranks == "all":
        return True
    spans = (part.partition("-") for part in ranks.split(","))
    return any(int(first) <= rank() <= int(last or first) for first, _, last in spans)


def coordinates(mesh: Any) -> dict[str, int]:
    """Return where this rank is in a mesh: a mapping of names to coordinates, or PyTorch's DeviceMesh."""
    if mesh is None:
        return {}
    if isinstance(mesh, Mapping):
        return {str(name): int(place) for name, place in mesh.items()}
    places = mesh.get_coordinate()
    names = mesh.mesh_dim_names or range(len(places or ()))
    return {str(name): int(place) for name, place in zip(names, places or ())}


def facts(mesh: Any) -> dict[str, Any]:
    """What the key `memscape` says of the rank."""
    known = {
        "rank": rank(),
        "local_rank": _number(_LOCAL),
        "world": _number(_WORLD),
        "host": socket.gethostname(),
        "coords": coordinates(mesh),
    }
    return {key: value for key, value in known.items() if value is not None and value != {}}
