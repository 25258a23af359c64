from __future__ import annotations

import time

from ..cuda import memory


class record_function:
    def __init__(self, name: str) -> None:
        self.name = name

    def _add(self, stage: str) -> None:
        if memory.is_recording:
            memory.annotations.append(
                {"stage": stage, "name": self.name, "device": 0, "time_us": time.time_ns() // 1000}
            )

    def __enter__(self) -> record_function:
        self._add("START")
        return self

    def __exit__(self, *_: object) -> None:
        self._add("END")
