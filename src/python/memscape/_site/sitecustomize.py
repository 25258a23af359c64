"""Python imports this file at the start of the processes that a program under `memscape run` starts.

It calls the `sitecustomize` that it hides, and makes the process record once it initializes CUDA. `memscape` is not
imported before that, because most processes never do.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _AfterImport:
    """Calls `torch.cuda._lazy_call` after the import of torch.cuda."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch.cuda":
            return None
        from importlib.machinery import PathFinder

        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                # PyTorch calls it in the process that initializes CUDA, which may be a forked one.
                module._lazy_call(_begin)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _begin() -> None:
    import json

    options = json.loads(os.environ.get("MEMSCAPE_RUN") or "{}")
    package = options.pop("package", None)
    if package is None:
        return
    # Last, so that nothing else is found there first. The process may be of another environment.
    is_added = package not in sys.path
    if is_added:
        sys.path.append(package)
    try:
        from memscape._children import begin
    except Exception as error:
        print(f"memscape: cannot record this process: {error}", file=sys.stderr)
        return
    finally:
        if is_added:
            sys.path.remove(package)
    begin(options)


def _run_hidden() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("MEMSCAPE_RUN"):
    sys.meta_path.insert(0, _AfterImport())
_run_hidden()
