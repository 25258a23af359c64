"""The script of `memscape attach`, run in a program in which the package is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import HERE, SOURCES, STANDIN, load, names

BOOTSTRAP = HERE.parent.parent / "src" / "cli" / "attach" / "bootstrap.py"


def script(folder: Path, what: str, **more: Any) -> Path:
    """Write a script as the program does: a JSON string in a JSON string."""
    package = SOURCES / "memscape"
    modules = {
        "memscape" if path.stem == "__init__" else f"memscape.{path.stem}": path.read_text()
        for path in package.glob("*.py")
    }
    request = {"what": what, "folder": str(folder / "out"), "entries": None, "reply": str(folder / f"{what}.json")}
    literal = json.dumps(json.dumps({**request, "modules": modules, **more}))
    path = folder / f"{what}.py"
    path.write_text(BOOTSTRAP.read_text().replace('"REQUEST"', literal))
    return path


def answers(folder: Path, *whats: str, imports: str = "import torch") -> tuple[list[dict[str, Any]], str]:
    """Run scripts in one program, one after the other, and return their replies and the program's output."""
    scripts = [str(script(folder, what)) for what in whats]
    code = f"""
import pathlib, sys
{imports}
before = set(globals())
for path in sys.argv[1:]:
    exec(compile(pathlib.Path(path).read_text(), path, "exec"), globals())
    if "torch" in sys.modules:
        torch.cuda.memory.allocate(99)
print(sorted(set(globals()) - before - {{"before", "path"}}), "memscape" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *scripts],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={"PYTHONPATH": str(STANDIN), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.stderr == ""
    return [json.loads((folder / f"{what}.json").read_text()) for what in whats], done.stdout


def test_recorder_is_imported_from_memory(tmp_path: Path) -> None:
    (status, start, save, stop), output = answers(tmp_path, "status", "start", "save", "stop")
    assert status["is_recording"] is False and status["folder"] is None
    assert (start["is_recording"], start["folder"]) == (True, str(tmp_path / "out"))
    assert Path(save["path"]).parent == tmp_path / "out" and stop["is_recording"] is False
    [name] = names(tmp_path / "out")
    snapshot = load(tmp_path / "out" / name)
    assert snapshot["memscape"]["reason"] == "manual"
    assert [it["size"] for it in snapshot["device_traces"][0] if it["action"] == "alloc"] == [99]
    # Nothing is left in the program's variables.
    assert output == "[] True\n"


def test_program_without_torch_is_left_alone(tmp_path: Path) -> None:
    [answer], output = answers(tmp_path, "start", imports="")
    assert answer["error"] == "the program has not imported torch yet"
    assert output == "[] False\n" and not (tmp_path / "out").exists()


def test_errors_are_answers(tmp_path: Path) -> None:
    [answer], _ = answers(tmp_path, "save")
    assert answer["error"] == "RuntimeError: nothing records in this process: start first"
