"""Profiler for torchtitan 0.3: `config.profiler = MemscapeProfiler.Config(enable_memory_snapshot=True)`."""

import os
from dataclasses import dataclass
from typing import Any

from torchtitan.tools.profiler import Profiler

from ._steps import StepCalls


class MemscapeProfiler(Profiler):  # type: ignore[misc, unused-ignore]
    """Saves snapshots where torchtitan saves its own, every `memory_snapshot_freq` steps, and explains OOM errors."""

    @dataclass(kw_only=True, slots=True)
    class Config(Profiler.Config):  # type: ignore[misc, unused-ignore]
        """The options of torchtitan."""

    def build_memory_profiler(self, *, global_step: int = 0, base_folder: str = "", leaf_folder: str = "") -> Any:
        config = self._config
        options = {"every": config.memory_snapshot_freq or config.profile_freq}
        folder = os.path.join(base_folder, config.save_memory_snapshot_folder, leaf_folder)
        options["entries"] = config.memory_snapshot_max_entries
        return StepCalls(folder, global_step + 1, **options) if config.enable_memory_snapshot else None

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        steps, result = self.memory_profiler, super().__exit__(kind, error, traceback)
        if steps is not None:
            steps.close(kind, error, traceback)
        return bool(result)
