from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import corpus

HERE = Path(__file__).parent
sys.path[:0] = [str(corpus.ROOT / "src" / "python")]
# Of workers that are spawned as well.
os.environ["PYTHONPATH"] = os.pathsep.join([str(corpus.ROOT / "src" / "python"), str(HERE)])

from memscape import fleet  # noqa: E402
from memscape.fleet.lake import TABLES  # noqa: E402


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All jobs of the corpus."""
    folder = tmp_path_factory.mktemp("corpus") / "runs"
    corpus.write(folder)
    return folder


@pytest.fixture(scope="session")
def lake(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake of the corpus. Tests read it only."""
    path = str(tmp_path_factory.mktemp("lake") / "lake")
    done = fleet.survey(str(runs), path, files=10, workers=2)
    assert done.statuses == {"ok": 96}
    return path


@pytest.fixture
def one_job(tmp_path: Path) -> Path:
    """One job that a test may change."""
    corpus.write(tmp_path / "runs", ["job-leak"])
    return tmp_path / "runs"


@pytest.fixture
def harmful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program that crashes, stalls, or kills its worker at files with these words in their name."""
    path = tmp_path / "harmful"
    path.write_text(f"#!{sys.executable}\n" + (HERE / "harmful.py").read_text())
    path.chmod(0o755)
    monkeypatch.setenv("MEMSCAPE_REAL_BINARY", os.environ["MEMSCAPE_BINARY"])
    monkeypatch.setenv("MEMSCAPE_BINARY", str(path))
    yield


def rows(lake: str, sql: str, **more: Any) -> list[tuple[Any, ...]]:
    return fleet.query(lake, sql, **more).fetchall()


def fingerprint(lake: str, **more: Any) -> list[Any]:
    """The contents of a lake, without the names of batches."""
    connection = fleet.connect(lake, **more)
    found: list[Any] = []
    for table in TABLES:
        names = [
            name for (name, *_) in connection.execute(f"DESCRIBE {table}").fetchall() if name not in ("batch", "dt")
        ]
        found.append(connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY ALL").fetchall())
    return found


def files(folder: str) -> dict[str, bytes]:
    """All files of a lake, also those that are written only in part."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
