"""NeMo-RL: `wrap(Worker)` for a policy worker class, with the setup hook of Ray (see ray.py)."""

import functools
from contextlib import ExitStack
from typing import Any

from torch.autograd.profiler import record_function

from ..recorder import active

PHASES = "train get_logprobs prepare_for_lp_inference prepare_for_training offload_before_refit offload_after_refit"


def wrap(worker: type) -> None:
    """Annotate the phases of a worker, and make each call of `train` a step."""
    for name in PHASES.split():
        if name in vars(worker):
            setattr(worker, name, _annotated(name, vars(worker)[name]))


def _annotated(name: str, inner: Any) -> Any:
    @functools.wraps(inner)
    def outer(*arguments: Any, **options: Any) -> Any:
        with ExitStack() as spans:
            spans.enter_context(record_function(name))
            if name == "train" and (recorder := active()) is not None:
                spans.enter_context(recorder.step())
            return inner(*arguments, **options)

    return outer
