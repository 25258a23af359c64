"""Rank of this process in a distributed job."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from typing import Any, Union

Ranks = Union[str, Collection[int]]

# Environment variables of torchrun and most launchers, Open MPI, Slurm and MPICH.
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
    """Return the rank of this process, or 0 if the job is not distributed."""
    number, distributed = _number(_RANK), _distributed()
    if number is None and distributed is not None:
        number = int(distributed.get_rank())
    return number or 0


def is_known() -> bool:
    """Return whether the launcher or torch.distributed gave this process a rank."""
    return _number(_RANK) is not None or _distributed() is not None


def world() -> int | None:
    """Return the number of ranks, if known."""
    number, distributed = _number(_WORLD), _distributed()
    return int(distributed.get_world_size()) if number is None and distributed is not None else number


def _distributed() -> Any:
    distributed = sys.modules.get("torch.distributed")
    return (
        distributed if distributed is not None and distributed.is_available() and distributed.is_initialized() else None
    )


def is_among(ranks: Ranks) -> bool:
    """Return whether this rank is in `ranks`: "all", "0,8-15" or numbers, as validated by _options.py."""
    if not isinstance(ranks, str):
        return rank() in ranks
    if ranks == "all":
        return True
    spans = (part.partition("-") for part in ranks.split(","))
    return any(int(first) <= rank() <= int(last or first) for first, _, last in spans)


def coordinates(mesh: Any) -> dict[str, int]:
    """Return the coordinates of this rank in a mesh: a mapping of names to coordinates, or PyTorch's DeviceMesh."""
    if mesh is None:
        return {}
    if isinstance(mesh, Mapping):
        return {str(name): int(place) for name, place in mesh.items()}
    places = mesh.get_coordinate()
    names = mesh.mesh_dim_names or range(len(places or ()))
    return {str(name): int(place) for name, place in zip(names, places or ())}


def facts(mesh: Any) -> dict[str, Any]:
    """Return the facts about the rank for the `memscape` key."""
    known = {
        "rank": rank(),
        "local_rank": _number(_LOCAL),
        "world": world(),
        "host": socket.gethostname(),
        "coords": coordinates(mesh),
    }
    return {key: value for key, value in known.items() if value is not None and value != {}}
