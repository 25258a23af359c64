"""The element of the packed npm package, in a page that imports it."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

from browser import Browser
from conftest import PACKAGES, ROOT, SAMPLE
from site_server import serve

PAGE = """<!doctype html>
<title>run 17</title>
<script type="importmap">{"imports": {"memscape": "/node_modules/memscape/viewer.js"}}</script>
<script type="module">
import { MemscapeViewer } from "memscape";
window.received = [];
const viewer = document.querySelector("memscape-viewer");
window.isViewer = viewer instanceof MemscapeViewer;
for (const kind of ["ready", "error", "view"]) viewer.addEventListener(kind, ({ detail }) => received.push(detail));
viewer.setAttribute("src", "/data/out-of-memory.pickle.gz");
</script>
<memscape-viewer tab="segments" style="display: block; height: 700px"></memscape-viewer>
"""
# The document of memscape in the element's frame, which has the origin of the page.
FRAME = "document.querySelector('memscape-viewer').shadowRoot.querySelector('iframe').contentDocument"


def unpack(folder: Path) -> Path:
    """The packed package, as npm would install it."""
    [archive] = PACKAGES.glob("memscape-*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


def test_package_has_page_element_types_and_version(tmp_path: Path) -> None:
    package = unpack(tmp_path)
    names = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert {"viewer.js", "viewer.d.ts", "memscape.html", "README.md", "LICENSE-MIT", "page/index.html"} <= names
    about = json.loads((package / "package.json").read_text())
    manifest = (ROOT / "Cargo.toml").read_text().split("[workspace.package]")[1]
    assert f'version = "{about["version"]}"' in manifest
    for entry in (
        about["exports"]["."]["types"],
        about["exports"]["."]["default"],
        about["exports"]["./memscape.html"],
    ):
        assert (package / entry).is_file(), entry


def test_element_opens_snapshots_and_reports_views(tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(SAMPLE, tmp_path / "data")
    folders = {"/node_modules/memscape/": unpack(tmp_path), "/data/": tmp_path / "data"}
    with serve(folders, {"/": PAGE}) as origin:
        browser.go(origin + "/")
        browser.wait("the snapshot", "globalThis.received?.some(it => it.event === 'ready')")
        assert browser.evaluate("isViewer") is True
        browser.wait("the first view", f"{FRAME}.querySelector('#tabs [aria-selected=true]').id === 'tab-segments'")
        assert browser.evaluate(f"{FRAME}.querySelector('#file-name').textContent") == "out-of-memory.pickle.gz"
        assert browser.evaluate(f"{FRAME}.querySelector('#summary').dataset.events") == "1343"
        browser.evaluate(f"{FRAME}.getElementById('tab-events').click()")
        browser.wait("the view", "received.some(it => it.event === 'view' && it.view.includes('tab=events'))")

        # A file that is missing, and then two files, which are compared.
        browser.evaluate("document.querySelector('memscape-viewer').setAttribute('src', '/data/none.pickle')")
        browser.wait("the error", "received.some(it => it.event === 'error')")
        assert browser.evaluate("received.find(it => it.event === 'error').message") == (
            "/data/none.pickle: the server answered with status 404."
        )
        shutil.copy(ROOT / "www" / "leak.pickle.gz", tmp_path / "data")
        browser.evaluate(
            "document.querySelector('memscape-viewer')"
            ".setAttribute('src', '/data/out-of-memory.pickle.gz /data/leak.pickle.gz')"
        )
        browser.wait("the comparison", f"{FRAME}.querySelector('#compare').hidden === false")

        # Moved in the document, the frame loads again, and shows the same files.
        browser.evaluate("received.length = 0; document.body.append(document.querySelector('memscape-viewer'))")
        browser.wait("the files again", "received.some(it => it.event === 'ready')")

        # Bytes without an address.
        browser.evaluate(
            "fetch('/data/leak.pickle.gz').then(it => it.blob()).then(buffer => "
            "document.querySelector('memscape-viewer').show({ buffers: [{ buffer, fileName: 'given.pickle.gz' }] }))"
        )
        browser.wait("the bytes", f"{FRAME}.querySelector('#file-name').textContent === 'given.pickle.gz'")
