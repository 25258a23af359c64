"""The objects that keep allocations alive. Paths are evaluated, and must lead to a tensor at the address."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from holding import address, evaluated, look, path_of, tensor, without_leaks

# Holds the tensors of a test.
held: Any = None


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield from without_leaks(__name__)


class Box:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slots:
    __slots__ = ("inner",)


@pytest.mark.parametrize(
    ("make", "rest"),
    [
        (lambda it: it, ""),
        (lambda it: [{"loss": it, "step": 3}], "[0]['loss']"),
        (lambda it: Box(cache={("k", 1): [it]}), ".cache[('k', 1)][0]"),
        (lambda it: deque([None, it]), "[1]"),
        (lambda it: (1, (it,)), "[1][0]"),
    ],
)
def test_global_is_found_with_its_path(make: Any, rest: str) -> None:
    global held
    made = tensor()
    at = address(made)
    held = make(made)
    del made
    root, path = path_of(at)
    assert (root, path) == ("global", f"{__name__}.held{rest}")
    assert address(evaluated(path)) == at


def test_slots_closures_generators_and_partial_functions_are_followed() -> None:
    global held

    def closure() -> Any:
        big = tensor()
        return lambda: big

    def generator() -> Any:
        inside = tensor()
        yield
        yield inside

    slots, running = Slots(), generator()
    slots.inner = tensor()
    next(running)
    partial = functools.partial(print, tensor())
    held = [slots, closure(), running, partial]
    del slots, running, partial
    paths = {it["path"] for it in look().values() if it["path"].startswith(__name__)}
    name = f"{__name__}.held"
    if sys.version_info >= (3, 11):
        assert f"{name}[2] local inside" in paths
    assert paths >= {f"{name}[0].inner", f"{name}[1][0]", f"{name}[3].args[0]"} and len(paths) == 4


def test_traceback_of_a_kept_exception_is_followed() -> None:
    global held

    def fails() -> None:
        inside = tensor()
        raise ValueError(inside.device)

    try:
        fails()
    except ValueError as error:
        held = error
    [found] = [it for it in look().values() if it["root"] == "global"]
    line = fails.__code__.co_firstlineno + 2
    assert found["path"] == (
        f"{__name__}.held.__traceback__.tb_next.tb_frame -> frame fails (test_holders.py:{line}) local inside"
    )


def test_local_of_running_function_is_named_by_the_outermost_one() -> None:
    # Not in the test itself: pytest adds calls of `locals` to functions with assertions.
    def inner(argument: torch.Tensor) -> tuple[str, str]:
        return path_of(address(argument))

    def outer() -> tuple[str, str]:
        kept = tensor()
        return inner(kept)

    line = outer.__code__.co_firstlineno + 2
    assert outer() == ("frame", f"local kept of outer (test_holders.py:{line})")


def test_locals_of_other_threads_are_found() -> None:
    made, asked = threading.Event(), threading.Event()
    found: list[int] = []

    def work() -> None:
        there = tensor()
        found.append(address(there))
        made.set()
        asked.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    made.wait(30)
    root, path = path_of(found[0])
    asked.set()
    thread.join()
    assert root == "frame" and path.startswith("local there of work (test_holders.py:")


class Config:
    table: Any = None


def test_attribute_of_class_is_found() -> None:
    Config.table = tensor()
    at = address(Config.table)
    found = path_of(at)
    Config.table = None
    assert found == ("class", f"{__name__}.Config.table")


def test_cycle_is_freed_by_the_collector_and_a_kept_cycle_is_not_one() -> None:
    global held
    loose, kept = Box(), Box()
    loose.me, loose.big = loose, tensor(3)
    kept.me, kept.big = kept, tensor(5)
    at, at_kept = address(loose.big), address(kept.big)
    held = [kept]
    del loose, kept
    found = look()
    assert (found[at]["root"], found[at]["cycle"]) == ("cycle", ["Tensor", "Box"])
    assert found[at_kept]["path"] == f"{__name__}.held[0].big"
    before = torch.cuda.memory_allocated()
    gc.collect()
    assert before - torch.cuda.memory_allocated() == sum(it["bytes"] for it in found.values() if it["root"] == "cycle")


def test_traceback_cycle_is_recognized() -> None:
    class Worker:
        def run(self) -> int:
            big = tensor(2)
            try:
                self.fail()
            except ValueError as error:
                self.error = error
            return address(big)

        def fail(self) -> None:
            raise ValueError

    at = Worker().run()
    found = look()[at]
    assert found["root"] == "cycle" and found["cycle"][:2] == [
        "Tensor",
        f"frame run (test_holders.py:{Worker.run.__code__.co_firstlineno + 6})",
    ]
    before = torch.cuda.memory_allocated()
    gc.collect()
    assert before - torch.cuda.memory_allocated() == found["bytes"]


def test_gradient_is_found_by_its_owner() -> None:
    global held
    held = torch.nn.Linear(512, 512, bias=False, device="cuda")
    held(torch.zeros(4, 512, device="cuda")).sum().backward()
    at = held.weight.grad.untyped_storage().data_ptr()
    name = f"{__name__}.held"
    assert path_of(at) == ("gradient", f"gradient of {name}._parameters['weight']")
    held = [held, held.weight.grad]
    assert path_of(at) == ("global", f"{name}[1]")


@pytest.mark.skipif(not hasattr(torch._C._autograd.SavedTensor, "data"), reason="PyTorch 2.11 reads saved tensors")
def test_saved_tensor_is_found_by_the_graph_without_unpack_hooks() -> None:
    global held
    calls: list[str] = []
    source = tensor(requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda it: it, lambda it: calls.append("unpack") or it):
        saved_by_hook = (source * 2) * (source * 3)
    held = (source * 2).relu().exp().sum()
    found = [it for it in look().values() if it["root"] == "graph"]
    names = {(it["node"], it["saved_as"], it["path"].rsplit(" ", 1)[1]) for it in found}
    assert {("ReluBackward0", "result", f"{__name__}.held"), ("ExpBackward0", "result", f"{__name__}.held")} <= names
    assert calls == [] and saved_by_hook is not None


def test_attribute_of_autograd_context_is_found_in_the_graph() -> None:
    global held

    class Masked(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
            ctx.mask = tensor(2)
            places.append(address(ctx.mask))
            return value * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient

    places: list[int] = []
    held = Masked.apply(tensor(requires_grad=True))
    found = look()[places[0]]
    path = f"saved by MaskedBackward .mask of the graph behind {__name__}.held"
    assert (found["root"], found["node"], found["saved_as"], found["path"]) == ("graph", "MaskedBackward", "mask", path)


def test_view_is_found_by_the_storage() -> None:
    global held
    whole = tensor(4)
    at = address(whole)
    held = whole[:3]
    del whole
    assert path_of(at) == ("global", f"{__name__}.held")


def test_tensor_that_only_cpp_refers_to_has_no_path() -> None:
    def keep_in_cpp() -> int:
        made = tensor(2)
        held.set_result(made)
        return address(made)

    def root() -> str:
        return path_of(keep_in_cpp())[0]

    global held
    held = torch.futures.Future()
    # The function of pytest that calls tests has a variable named `locals` in some versions, so roots may be unknown.
    assert root() in ("c++", "unknown")
