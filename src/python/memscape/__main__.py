"""`python -m memscape`: runs the `memscape` program. `run` and `fleet` are Python."""

from __future__ import annotations

import subprocess
import sys

from ._binary import MemscapeError, program


def main() -> int:
    """Run a command and return its exit status."""
    if sys.argv[1:2] == ["run"]:
        from .run import main as run

        return run(sys.argv[2:])
    if sys.argv[1:2] == ["fleet"]:
        from ._fleet import main as fleet

        return fleet(sys.argv[2:])
    try:
        return subprocess.run([program(), *sys.argv[1:]], check=False).returncode
    except MemscapeError as error:
        print(f"memscape: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
