"""Surveys the snapshots of many jobs into tables, and queries the tables in SQL.

    survey("s3://bucket/runs", "s3://bucket/lake")                   # all cores of this machine
    survey("s3://bucket/runs", "s3://bucket/lake", engine="ray")     # the Ray cluster of RAY_ADDRESS
    survey("s3://bucket/runs", "s3://bucket/lake", shard=(3, 100))   # the fourth of 100 SLURM tasks
    query("s3://bucket/lake", "oom_clusters").pl()                   # a question by name, or SQL

Needs the extra `fleet` (pip install 'memscape[fleet]'), and `s3`, `gcs` or `azure` for object stores.
"""

from __future__ import annotations

from .driver import Progress, survey
from .lake import Lake
from .queries import connect, query
from .questions import QUESTIONS

__all__ = ["QUESTIONS", "Lake", "Progress", "connect", "query", "survey"]
