from __future__ import annotations

from typing import Any

_hooks: list[Any] = []


class _Handle:
    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def remove(self) -> None:
        _hooks.remove(self.hook)


class Optimizer:
    def stepped(self) -> None:
        for hook in _hooks:
            hook(self, (), {})


def register_optimizer_step_post_hook(hook: Any) -> _Handle:
    _hooks.append(hook)
    return _Handle(hook)
