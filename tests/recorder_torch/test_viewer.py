"""What the program shows of a file that the recorder saved with a real PyTorch."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import memscape
from conftest import Fork, MiB, allocate

HISTORY: list[Any] = []
KEPT: dict[str, Any] = {}


class Node:
    """An object that refers to itself."""

    def __init__(self, tensor: Any) -> None:
        self.node, self.tensor = self, tensor


def test_holders_and_samples_are_shown(fork: Fork, tmp_path: Path) -> None:
    def job() -> None:
        gc.disable()
        rec = memscape.start(tmp_path, on_exit=False)
        for _ in range(3):
            with rec.step():
                HISTORY.append(allocate(8 * MiB))
                Node(allocate(4 * MiB))
        KEPT["path"] = path = rec.save()
        assert path is not None
        with memscape.open(path) as s:
            query = "SELECT requested_bytes, held_by FROM allocation WHERE held_by IS NOT NULL ORDER BY id"
            held = s.sql(query)["rows"]
            paths = [text.split("HISTORY")[-1] for size, text in held if size == 8 * MiB]
            assert paths == ["[0]", "[1]", "[2]"]
            assert all(text.startswith("reference cycle: ") for size, text in held if size == 4 * MiB)
            assert len(held) == 6
            texts = [statement.text for statement in s.insight("leaks").statements]
            assert any(text.startswith("3 tensors (12.0 MiB) wait for the garbage collector") for text in texts), texts
            # The stub's context takes 512 MiB.
            assert s.sql("SELECT DISTINCT outside_bytes FROM sample")["rows"] == [[512 * MiB]]

    fork(job)
