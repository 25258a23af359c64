"""Chromium by its DevTools, over one WebSocket: what a test of a notebook or a package needs, and no more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websocket import WebSocketTimeoutException, create_connection

# A page of memscape that has drawn a snapshot.
DRAWN = "document.body?.dataset?.state === 'ready' && +document.querySelector('canvas#timeline')?.dataset?.frames > 0"

# Limits for a stuck browser, far above what a loaded machine takes.
ANSWER_TIMEOUT_S = 120
# A frame that changes its process never answers, so this limit is reached in tests that pass.
FRAME_TIMEOUT_S = 10


class Browser:
    """One tab of a headless Chromium."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.mkdtemp()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1000"]
        self._process = subprocess.Popen(
            [program, *options, "--remote-debugging-port=0", f"--user-data-dir={self._folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        place = Path(self._folder) / "DevToolsActivePort"
        wait_for("Chromium", lambda: place.exists() and len(place.read_text().splitlines()) == 2)
        port, path = place.read_text().splitlines()
        self._socket = create_connection(f"ws://127.0.0.1:{port}{path}", suppress_origin=True, timeout=ANSWER_TIMEOUT_S)
        self._number = 0
        self._frames: dict[str, str] = {}
        [tab] = [it for it in self._call("Target.getTargets")["targetInfos"] if it["type"] == "page"]
        self._session = self._attach(tab["targetId"])
        self._call("Page.enable", self._session)

    def _attach(self, target: str) -> str:
        return str(self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps({**message, "sessionId": session} if session else message))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "Page.javascriptDialogOpening":
                # "Leave the page?"
                leave = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                self._socket.send(json.dumps({**leave, "sessionId": answer["sessionId"]}))
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def go(self, address: str) -> None:
        """Open an address."""
        self._call("Page.navigate", self._session, url=address)

    def evaluate(self, script: str, frame: str | None = None) -> Any:
        """The value of an expression; in a frame of a process of its own, whose address has this part, None while it is not there."""
        session: str | None = self._session
        if frame is not None:
            targets = self._call("Target.getTargets")["targetInfos"]
            found = [it["targetId"] for it in targets if it["type"] == "iframe" and frame in it["url"]]
            if not found:
                return None
            known = self._frames.get(found[0])
            session = self._frames[found[0]] = known or self._attach(found[0])
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        self._socket.settimeout(ANSWER_TIMEOUT_S if frame is None else FRAME_TIMEOUT_S)
        try:
            answer = self._call("Runtime.evaluate", session, **asked)
        except WebSocketTimeoutException:
            # A frame that goes on to its address changes its process, and who asked the old one hears nothing.
            if frame is None:
                raise
            self._frames.clear()
            return None
        finally:
            self._socket.settimeout(ANSWER_TIMEOUT_S)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        value = answer["result"].get("value")
        # The page keeps numbers and units together with no-break spaces.
        return value.replace("\xa0", " ") if isinstance(value, str) else value

    def click(self, x: float, y: float, button: str = "left") -> None:
        """Click where a person would."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = {} if kind == "mouseMoved" else {"button": button, "clickCount": 1}
            self._call("Input.dispatchMouseEvent", self._session, type=kind, x=x, y=y, **pressed)

    def type(self, text: str) -> None:
        """Type a text into the focused field."""
        self._call("Input.insertText", self._session, text=text)

    def press(self, key: str, code: int, modifiers: int = 0, *, text: str = "") -> None:
        """A key, with 2 for Ctrl and 8 for Shift."""
        known = {
            "key": key,
            "code": key if len(key) > 1 else f"Key{key.upper()}",
            "windowsVirtualKeyCode": code,
            "modifiers": modifiers,
        }
        self._call(
            "Input.dispatchKeyEvent", self._session, type="keyDown" if text else "rawKeyDown", text=text, **known
        )
        self._call("Input.dispatchKeyEvent", self._session, type="keyUp", **known)

    def wait(self, what: str, script: str, frame: str | None = None) -> Any:
        """Wait until an expression is true; its value."""
        try:
            return wait_for(what, lambda: self.evaluate(script, frame))
        except AssertionError as error:
            place = "the frame" if frame else "the tab"
            raise AssertionError(
                f"{error}; {place} says: {self.evaluate('document.body.innerText', frame)[-1000:]}"
            ) from error

    def picture(self) -> bytes:
        """The tab as PNG."""
        import base64

        return base64.b64decode(self._call("Page.captureScreenshot", self._session, format="png")["data"])

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def chromium() -> Iterator[Browser]:
    """The fixture `browser` of tests that need Chromium, which are skipped without it."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("notebooks, pages in frames and packages: no Chromium")
    browser = Browser(program)
    yield browser
    browser.close()


def wait_for(what: str, holds: Callable[[], Any], seconds: float = 180) -> Any:
    """Wait for the thing itself."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s for {what}")
