"""The source distribution, which pip builds on platforms without a wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    maturin = Path(sys.executable).with_name("maturin")
    if not maturin.exists() or shutil.which("cargo") is None:
        pytest.skip("the source distribution: no maturin or no cargo")
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([maturin, "sdist", "--out", folder], cwd=ROOT, check=True, capture_output=True)
    [packed] = folder.glob("memscape-*.tar.gz")
    subprocess.run(["tar", "-xzf", packed], cwd=folder, check=True)
    return packed.with_name(packed.name.removesuffix(".tar.gz"))


def test_lock_file_covers_the_source_distribution(unpacked: Path) -> None:
    done = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (unpacked / "Cargo.lock").read_bytes() == (ROOT / "Cargo.lock").read_bytes()


def test_source_distribution_has_every_source_of_the_workspace(unpacked: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode != 0:
        pytest.skip("the source distribution: not a git checkout")
    # The npm package and the extension for VS Code are built from a checkout only.
    others = ("src/pack/npm/", "src/vscode/")
    sources = [path for path in tracked.stdout.split() if not path.startswith(others)]
    missing = [path for path in sources if not (unpacked / path).exists() and (ROOT / path).exists()]
    assert missing == ["src/cli/built/.gitignore"]


def test_source_distribution_has_built_page(unpacked: Path) -> None:
    built = ROOT / "src" / "cli" / "built"
    assert {path.name for path in (unpacked / "src" / "cli" / "built").glob("*.html")} == {
        path.name for path in built.glob("*.html")
    }
