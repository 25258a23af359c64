"""The names of the package, whose modules are imported when a name is used."""

from __future__ import annotations

import pickle
import rlcompleter

import pytest

import memscape
from conftest import python

MODULES = {"answers", "insights", "looking", "recorder", "session", "table", "zeta"}


def test_completion_shows_the_public_names_only() -> None:
    completer = rlcompleter.Completer({"memscape": memscape})
    found = set()
    while (text := completer.complete("memscape.", len(found))) is not None:
        found.add(text.partition(".")[2].rstrip("()"))
    assert {name for name in found if not name.startswith("_")} == {*memscape.__all__, *MODULES}


@pytest.mark.parametrize("name", memscape.__all__)
def test_names_can_be_imported_and_pickled(name: str) -> None:
    imported: dict[str, object] = {}
    exec(f"from memscape import *; from memscape import {name} as again", imported)
    assert imported[name] is imported["again"] is getattr(memscape, name)
    assert pickle.loads(pickle.dumps(imported[name])) is imported[name]


def test_import_of_the_package_imports_no_module_of_it() -> None:
    program = (
        "import sys, memscape; print([name for name in sys.modules if name.startswith('memscape.')], memscape.Session)"
    )
    assert python("-c", program).stdout == "[] <class 'memscape.session.Session'>\n"
    with pytest.raises(AttributeError, match="module 'memscape' has no attribute 'nothing'"):
        memscape.nothing  # noqa: B018
