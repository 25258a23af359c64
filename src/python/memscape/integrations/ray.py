"""Any Ray job: records in each worker process.

ray.init(runtime_env={"worker_process_setup_hook": "memscape.integrations.ray.setup",
                      "env_vars": {"MEMSCAPE": "/shared/runs/a"}})
"""

from .engines import register


def setup() -> None:
    """Record in this worker into the folder MEMSCAPE, once it initializes CUDA."""
    register()
