"""Calling a function once a module is imported, whenever that is."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AfterImport(MetaPathFinder):
    """Calls functions after imports of modules, from `install` to `remove`. Errors of the functions are ignored."""

    def __init__(self, functions: dict[str, Callable[[ModuleType], None]]) -> None:
        self._functions = functions
        self._looking: set[str] = set()

    def install(self) -> None:
        """Call the functions of modules that are imported already, and wait for the others."""
        for name in self._functions:
            module = sys.modules.get(name)
            if module is not None:
                self._imported(name, module)
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Call no functions any more."""
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(self)

    def _imported(self, name: str, module: ModuleType) -> None:
        with contextlib.suppress(Exception):
            self._functions[name](module)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders find, with a loader that calls the function."""
        if fullname not in self._functions or fullname in self._looking:
            return None
        self._looking.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        except (ImportError, ValueError):
            return None
        finally:
            self._looking.discard(fullname)
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._imported(fullname, module)

        with contextlib.suppress(AttributeError):
            loader.exec_module = exec_module
        return spec
