"""Holders: nothing of the program runs, nothing is kept alive, and the search ends."""

from __future__ import annotations

import gc
import gzip
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import memscape
from holding import MIB, address, evaluated, look, tensor, without_leaks
from memscape import _holders, _holders_search

# Holds the tensors of a test.
held: Any = None


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield from without_leaks(__name__)


class Meta(type):
    def __hash__(cls) -> int:
        raise AssertionError("__hash__ of a class was called")

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("__eq__ of a class was called")

    def __instancecheck__(cls, instance: Any) -> bool:
        raise AssertionError("__instancecheck__ was called")


class Trap(metaclass=Meta):
    """Fails if any of its code runs."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"attribute {name} was read")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("__eq__ was called")

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        raise AssertionError("__repr__ was called")


class Proxy:
    """Like werkzeug's LocalProxy: `__dict__` and `__class__` are code."""

    __slots__ = ("inner",)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise AssertionError("__dict__ was called")

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise AssertionError("__class__ was called")


class Mapping(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise AssertionError("items was called")

    __iter__ = __getitem__ = keys = values = items  # type: ignore[assignment]


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("__torch_function__ was called")


def test_no_code_of_the_program_runs() -> None:
    global held
    proxy, mapping = Proxy(), Mapping()
    object.__setattr__(proxy, "inner", tensor())
    dict.__setitem__(mapping, Trap(None), tensor())
    dict.__setitem__(mapping, ("a", Trap(None)), tensor())
    loud = tensor(2).as_subclass(Loud)
    held = [Trap(tensor()), proxy, mapping, loud]
    del proxy, mapping, loud
    name = f"{__name__}.held"
    paths = {it["path"] for it in look().values() if it["path"].startswith(name)}
    assert paths == {f"{name}[0].value", f"{name}[1].inner", f"{name}[2][Trap]", f"{name}[2][tuple]", f"{name}[3]"}


def test_reading_locals_keeps_nothing_alive() -> None:
    # Up to Python 3.12, the frame keeps a dictionary with what was read.
    def freed() -> int:
        kept = tensor(4)
        before = torch.cuda.memory_allocated()
        look()
        del kept
        return before - torch.cuda.memory_allocated()

    assert freed() == 4 * MIB


def test_dictionary_of_locals_is_left_alone() -> None:
    first = 1
    mine = locals()
    later = tensor(2)
    at = address(later)
    found = look()[at]
    assert "later" not in mine and mine["first"] == first
    assert found["root"] == ("frame" if sys.version_info >= (3, 13) else "unknown")


def test_search_leaves_no_garbage_and_does_not_find_itself() -> None:
    global held
    held = [tensor()]
    first, second = look(), look()
    gc.collect()
    paths = [{it["addr"]: it["path"] for it in found.values()} for found in (first, look())]
    assert paths[0] == paths[1] and first.keys() == second.keys()
    assert gc.collect() == 0


def test_collector_stays_as_it_was() -> None:
    look()
    assert not gc.isenabled()
    gc.enable()
    look()
    assert gc.isenabled()


def test_many_small_tensors_of_one_call_site_are_among_the_largest() -> None:
    global held
    torch.cuda.memory._record_memory_history(stacks="python")
    large = [tensor(2) for _ in range(8)]
    held = []
    for _ in range(40):
        held.append(torch.empty(MIB // 2, dtype=torch.uint8, device="cuda"))
    found = list(look(6).values())
    torch.cuda.memory._record_memory_history(enabled=None)
    # Two of them, since a local variable may hold one.
    small = [it for it in found if it["bytes"] < MIB]
    assert len(small) == 2
    assert all(
        it["path"].startswith(f"{__name__}.held[") and address(evaluated(it["path"])) == it["addr"] for it in small
    )
    assert len(large) == 8


def test_limits_cut_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    global held
    held = [tensor()]
    snapshot = torch.cuda.memory._snapshot()
    monkeypatch.setattr(_holders, "_MAX_OBJECTS", 1000)
    found = _holders.holders(torch, snapshot, 24)
    assert found is not None and found["cut"] and found["of"] == [] and found["objects"] > 1000
    monkeypatch.undo()
    monkeypatch.setattr(_holders, "_MAX_SECONDS", 0.0)
    found = _holders.holders(torch, snapshot, 24)
    assert found is not None and found["cut"]
    at = address(held[0])
    assert [it["root"] for it in found["of"] if it["addr"] == at] == ["unknown"]


def test_wide_and_deep_structures_end() -> None:
    global held
    shared = tensor()
    at = address(shared)
    held = [[shared] for _ in range(5000)]
    deep: Any = tensor(2)
    at_deep = address(deep)
    for _ in range(2 * _holders_search.MAX_LEVELS):
        deep = [deep]
    held.append(deep)
    del shared, deep
    found = _holders.holders(torch, torch.cuda.memory._snapshot(), 24)
    assert found is not None and found["cut"]
    roots = {it["addr"]: it["root"] for it in found["of"]}
    assert (roots[at], roots[at_deep]) == ("global", "unknown")


@pytest.mark.parametrize(
    ("option", "reason", "expected"),
    [
        ("auto", "growth", 24),
        ("auto", "oom", 24),
        ("auto", "manual", 24),
        ("auto", "step", 0),
        ("auto", "peak", 0),
        (50, "error", 50),
        (50, "step", 0),
        (False, "oom", 0),
    ],
)
def test_number_of_allocations_follows_the_reason(option: Any, reason: str, expected: int) -> None:
    assert _holders.number(option, reason) == expected


def test_saved_snapshot_has_holders(tmp_path: Path) -> None:
    global held
    with memscape.record(tmp_path, on_exit=False) as rec:
        held = {"loss": tensor(3)}
        path = rec.save()
    assert path is not None
    with gzip.open(path, "rb") as file:
        found = pickle.load(file)["memscape"]["holders"]
    [loss] = [it for it in found["of"] if it["bytes"] == 3 * MIB]
    assert loss == {
        "addr": address(held["loss"]),
        "bytes": 3 * MIB,
        "device": 0,
        "root": "global",
        "path": f"{__name__}.held['loss']",
        "length": 3,
    }
    assert 0 < found["seconds"] < 60 and found["objects"] > 100_000 and not found["cut"]
