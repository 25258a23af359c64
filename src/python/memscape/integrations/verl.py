"""verl: `actor_rollout_ref.model.external_lib=memscape.integrations.verl`, with MEMSCAPE set in the workers.

Importing this module records in the process. The setup hook of Ray does the same for all workers (see ray.py).
"""

from .engines import register

register()
