"""The text about a failed allocation, from given counters and segments."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

import memscape
from memscape import _saved_verdict
from memscape._call_sites import NO_STACK, CallSites, library_folders
from memscape._failures import _as_pytorch
from memscape._memory_state import MemoryState, memory_state
from memscape._steps import Growth, Steps
from memscape._verdict import (
    MAX_BYTES,
    MAX_LINES,
    Failure,
    causes,
    cut,
    details,
    heading,
    one_line,
    setting_to_change,
)

MiB, GiB = 1 << 20, 1 << 30
FAILURE = Failure(
    where="rank 0, node3, GPU 0, in step 24",
    asked_by="train.py:23 train_step",
    device=0,
    requested=24 * MiB,
    limit=8 * GiB,
    free=1 * MiB,
    capacity=8 * GiB,
    live=6 * GiB,
    live_blocks=1282,
    reserved=8 * GiB - 101 * MiB,
)


def test_heading_has_what_was_asked_and_the_state_of_the_gpu() -> None:
    assert heading(FAILURE) == [
        "memscape: out of memory on rank 0, node3, GPU 0, in step 24",
        "  asked     24.0 MiB by train.py:23 train_step",
        "  GPU       8.00 GiB: live 6.00 GiB (75 %) in 1,282 blocks; reserved 7.90 GiB; free 1.00 MiB; "
        "outside the allocator 100 MiB",
    ]
    assert one_line(FAILURE) == (
        "memscape: out of memory on rank 0, node3, GPU 0, in step 24: asked 24.0 MiB by train.py:23 train_step; "
        "live 6.00 GiB, reserved 7.90 GiB, free 1.00 MiB"
    )


def test_paused_memory_is_not_on_the_gpu() -> None:
    paused = dataclasses.replace(FAILURE, paused=400 * MiB)
    assert paused.outside == 500 * MiB
    assert "reserved 7.90 GiB, of which 400 MiB paused (not on the GPU); free" in heading(paused)[2]


@pytest.mark.parametrize(
    ("changes", "pieces", "expected"),
    [
        ({}, [], ["23.0 MiB short even if all 0 B cached and 1.00 MiB free were one piece"]),
        (
            {},
            [20 * MiB, 3 * MiB],
            [
                "fragmentation: 23.0 MiB cached in 2 pieces (largest 20.0 MiB) + 1.00 MiB free would hold it, "
                "no single piece does"
            ],
        ),
        ({}, [20 * MiB, 3 * MiB - 1], ["1 B short even if all 23.0 MiB cached and 1.00 MiB free were one piece"]),
        (
            {"growth": Growth(24, 1200 * MiB), "free": 0, "reserved": 6 * GiB},
            [24 * MiB - 512],
            [
                "live memory grows: +1.17 GiB over the last 24 steps, 50.0 MiB a step: a leak, lists that are kept, or "
                "larger batches",
                "outside the allocator: 2.00 GiB are used by libraries or other processes",
                "512 B short even if all 24.0 MiB cached and 0 B free were one piece",
            ],
        ),
        # It is known by how much this step differs from those before.
        (
            {"peak_before": 5 * GiB, "steps": [(22, 4 * GiB), (23, 4 * GiB)]},
            [],
            [
                "more than any step before: 6.02 GiB with this request, at most 5.00 GiB until step 23 ended: a larger "
                "batch, a longer sequence, or other code",
                "23.0 MiB short even if all 0 B cached and 1.00 MiB free were one piece",
            ],
        ),
        (
            {"peak_before": 6 * GiB, "steps": [(23, 4 * GiB)]},
            [],
            ["23.0 MiB short even if all 0 B cached and 1.00 MiB free were one piece"],
        ),
        # A limit of the process counts, not what is free on the GPU.
        (
            {"limit": 4 * GiB, "reserved": 4 * GiB, "free": 3 * GiB},
            [],
            ["24.0 MiB short even if all 0 B cached and 0 B free were one piece"],
        ),
    ],
)
def test_causes_are_in_the_order_in_which_to_look_at_them(
    changes: dict[str, Any], pieces: list[int], expected: list[str]
) -> None:
    assert causes(dataclasses.replace(FAILURE, **changes), MemoryState(pieces=pieces)) == expected


def test_private_pools_above_a_twentieth_are_mentioned() -> None:
    for private, mentioned in ((49 * MiB, False), (52 * MiB, True)):
        [cause] = causes(FAILURE, MemoryState(reserved=1000 * MiB, in_private_pools=private))
        assert cause.endswith("; a private pool's request may differ") == mentioned


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
        ("max_split_size_mb:32", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:32,expandable_segments:True"),
        ("expandable_segments:False", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
        ("roundup_power2_divisions:[256:1,>:2]", "add expandable_segments:True to PYTORCH_CUDA_ALLOC_CONF"),
        ("a:1, expandable_segments:True", None),
    ],
)
def test_setting_to_change_is_one_that_is_not_set(settings: str, expected: str | None) -> None:
    state = MemoryState(pieces=[12 * MiB, 12 * MiB])
    assert setting_to_change(dataclasses.replace(FAILURE, settings=settings), state) == expected
    assert setting_to_change(dataclasses.replace(FAILURE, settings=settings), MemoryState()) is None
    leak = dataclasses.replace(FAILURE, settings=settings, growth=Growth(24, 1200 * MiB))
    assert setting_to_change(leak, state) is None


def test_call_sites_and_steps_follow_the_causes() -> None:
    failure = dataclasses.replace(FAILURE, steps=[(step, (5000 + 10 * step) * MiB) for step in range(24)])
    sites = {f"train.py:{line} f": [line * MiB, line] for line in range(1, 12)}
    state = MemoryState(live=66 * MiB, awaiting_free=2 * MiB, call_sites=sites)
    lines = details(failure, state)
    assert lines[0] == "            2.00 MiB freed but awaiting another stream (record_stream)"
    assert lines[2] == "  live now by line of code, 11 in all:"
    assert lines[3] == "      11.0 MiB  16.7 %      11 x  train.py:11 f"
    assert len([line for line in lines if " x  train.py" in line]) == 8
    assert lines[-2:] == [
        "  steps     live after the last ones: 5.07 GiB, 5.08 GiB, 5.09 GiB, 5.10 GiB, 5.11 GiB; steady",
        "            since step 23 ended: +914 MiB",
    ]
    assert details(FAILURE, MemoryState())[-1].startswith("  why")
    # Three steps are too few to call memory steady.
    few = dataclasses.replace(FAILURE, steps=[(0, MiB), (1, 2 * MiB), (2, 2 * MiB)])
    assert details(few, MemoryState())[-2] == "  steps     live after the last ones: 1.00 MiB, 2.00 MiB, 2.00 MiB"


def test_text_is_limited_to_one_write_of_a_pipe() -> None:
    text = cut(["ä" * 300] * 40)
    assert len(text.encode()) <= MAX_BYTES and text.endswith(" ...\n")
    assert cut(["a", "b" * 200, *["c"] * 40]).splitlines() == ["a", f"{'b' * 177}...", *["c"] * (MAX_LINES - 2)]


def test_pieces_are_those_that_could_serve_the_request() -> None:
    def segment(**changes: Any) -> dict[str, Any]:
        block = {"state": "inactive", "size": 4 * MiB, "requested_size": 0, "frames": []}
        fields = {"device": 0, "total_size": 20 * MiB, "segment_type": "large", "segment_pool_id": (0, 0), "stream": 0}
        return {**fields, "blocks": [block], **changes}

    used = [{"state": "active_allocated", "size": 512, "requested_size": 500, "frames": []}]
    awaiting = [{"state": "active_awaiting_free", "size": 3 * MiB, "requested_size": 3 * MiB}]
    segments = [
        segment(),
        segment(segment_type="small"),
        segment(stream=7),
        segment(segment_pool_id=(0, 1)),
        segment(device=1),
        segment(blocks=used),
        segment(blocks=awaiting),
    ]
    state = memory_state(segments, 0, 2 * MiB, 0, lambda frames: "here")
    assert state == MemoryState(500, 1, 120 * MiB, 3 * MiB, 20 * MiB, [4 * MiB], {"here": [500, 1]})
    assert memory_state(segments, 0, MiB, 0, str).pieces == [4 * MiB]
    assert memory_state(segments, 0, 2 * MiB, 7, str).pieces == [4 * MiB]
    assert memory_state(segments, 1, 2 * MiB, 0, str).reserved == 20 * MiB


def test_call_site_is_named_by_up_to_three_functions_of_the_user() -> None:
    sites = CallSites(("/torch/", "/lib/"))

    def frames(*rows: tuple[str, int, str]) -> list[dict[str, Any]]:
        return [{"filename": file, "line": line, "name": name} for file, line, name in rows]

    stack = frames(
        ("/torch/nn/linear.py", 9, "forward"),
        ("/me/model.py", 10, "forward"),
        ("/me/model.py", 12, "forward"),
        ("/me/model.py", 13, "<listcomp>"),
        ("/lib/threading.py", 1, "run"),
        ("<frozen runpy>", 1, "_run"),
        ("/me/train.py", 23, "train_step"),
        ("/me/train.py", 38, "<module>"),
        ("/me/outer.py", 1, "main"),
    )
    assert sites.name(stack) == "model.py:10 forward < train.py:23 train_step < train.py:38 <module>"
    assert sites.name(frames(("/torch/a.py", 3, "f"))) == "a.py:3 f (no frame of yours)"
    assert sites.name([]) == sites.name(None) == NO_STACK
    own = CallSites(library_folders(sys)).of_running(sys._getframe())
    assert own is not None and own.startswith("test_verdict.py:") and own.count(" < ") <= 2


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([], None),
        ([1, 2, 3], None),
        # Not of the first two steps.
        ([1, 2, 100, 200, 300], None),
        ([1, 2, 100, 200, 300, 400], Growth(3, 300)),
        # 4 of 5 steps rose.
        ([1, 2, 100, 200, 190, 300, 400, 500], Growth(5, 400)),
        ([1, 2, 100, 200, 190, 180, 400, 500], None),
        # Less than 2 % of what is live, apart from the largest rise.
        ([1, 2, 1000, 1005, 1010, 1015, 1020, 1025], None),
        ([1, 2, 1000, 1006, 1011, 1016, 1021, 1027], Growth(5, 27)),
        ([1, 2, 1000, 1001, 1002, 1500, 1501], None),
        (list(range(1000, 2000)), Growth(63, 63)),
    ],
)
def test_growth_is_of_most_of_the_last_steps(ends: list[int], expected: Growth | None) -> None:
    steps = Steps(None)  # type: ignore[arg-type]
    steps.ends.extend(enumerate(ends))
    assert steps.growth() == expected


def test_statements_without_a_change_to_make_are_left_out() -> None:
    statements = [
        {"text": "No frees. More.", "fix": None},
        {"text": "See 1.5 GiB below. More.", "fix": "Look."},
        {"text": "a.py:3 grew 50.0 MiB. Likely a leak.", "fix": "Free it. Or not."},
        *[{"text": f"{number}", "fix": "Fix it"} for number in range(9)],
    ]
    assert _saved_verdict._sentences(statements) == [
        ("a.py:3 grew 50.0 MiB.", "Free it."),
        ("0.", "Fix it."),
        ("1.", "Fix it."),
    ]
    held = {"text": "a.py:3 grew (possibly a leak). Held by local kept of main (a.py:9)[1].", "fix": None}
    assert _saved_verdict._sentences([held]) == [
        ("a.py:3 grew (possibly a leak). Held by local kept of main (a.py:9)[1].", "")
    ]
    assert _saved_verdict._sentences(statements[:2]) == []


def test_first_fix_is_the_thing_to_do_unless_one_was_named(tmp_path: Path) -> None:
    statements = [("A grew.", "For inference, stop."), ("B grew.", "Free B."), ("C grew.", "Free C."), ("D grew.", "")]
    found = _saved_verdict.lines(tmp_path / "a.pickle", 1, 0.5, statements, has_advice=False)
    assert found[1:8] == [
        "  - A grew.",
        "    For inference, stop.",
        "  - B grew.",
        "  do        Free B.",
        "  - C grew.",
        "    Free C.",
        "  - D grew.",
    ]
    assert found[-2:] == [
        f"  file      {tmp_path / 'a.pickle'}",
        f"  look      memscape oom {tmp_path / 'a.pickle'}    or    memscape serve {tmp_path}",
    ]
    found = _saved_verdict.lines(tmp_path / "a.pickle", 1, 0.5, statements, has_advice=True)
    assert "    Free B." in found and not any(line.startswith("  do") for line in found)
    [_, nothing, _, _] = _saved_verdict.lines(tmp_path / "a.pickle", 1, 0.5, [], has_advice=False)
    assert nothing == "  - no leak, and no common change that lowers the peak: see the largest lines above"


def test_file_in_the_working_directory_has_a_short_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = _saved_verdict.lines(tmp_path / "runs" / "a.pickle", 1, 0.5, [], has_advice=False)
    assert found[-2:] == [
        "  file      runs/a.pickle",
        "  look      memscape oom runs/a.pickle    or    memscape serve runs",
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (512, "512 bytes"),
        (1024, "1024 bytes"),
        (2048, "2.00 KiB"),
        (MiB, "1024.00 KiB"),
        (20 * MiB, "20.00 MiB"),
        (GiB, "1024.00 MiB"),
        (3 * GiB // 2, "1.50 GiB"),
        (1 << 40, "1024.00 GiB"),
    ],
)
def test_sizes_are_written_as_in_pytorchs_message(count: int, text: str) -> None:
    assert _as_pytorch(count) == text


def test_standard_error_that_was_replaced_gets_the_text(
    torch: Any, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with memscape.record(tmp_path, on_exit=False), pytest.raises(torch.OutOfMemoryError):
        torch.cuda.memory.allocate(2000 * MiB)
    assert capsys.readouterr().err.startswith("memscape: out of memory on rank 0, ")
