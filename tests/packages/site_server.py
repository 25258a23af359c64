"""A web server for the tests: folders under prefixes, and a folder that VS Code lists and reads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
# The part of the address that VS Code's file provider reads.
MOUNT = "/static/mount"


@contextmanager
def serve(folders: dict[str, Path], pages: dict[str, str], mount: Path | None = None) -> Iterator[str]:
    """Serve folders by prefix and pages by path; the origin, on `localhost`, whose subdomains lead here too."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = unquote(parts.path)
            if path in pages:
                self.answer(pages[path].replace("{HOST}", self.headers["Host"]).encode(), ".html")
                return
            if mount is not None and path.startswith(MOUNT):
                file = mount / path.removeprefix(MOUNT).lstrip("/")
                if parts.query in ("stat", "readdir"):
                    self.answer(json.dumps(describe(file, parts.query)).encode(), ".json")
                    return
            else:
                found = next(((prefix, it) for prefix, it in folders.items() if path.startswith(prefix)), None)
                file = found[1] / path.removeprefix(found[0]) if found else Path("/nowhere")
            if file.is_file():
                self.answer(file.read_bytes(), file.suffix)
            else:
                self.send_error(404)

        def answer(self, body: bytes, suffix: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()


def describe(file: Path, query: str) -> object:
    """A file or a folder, as VS Code's file provider expects it."""
    kind = {True: 2, False: 1}
    if not file.exists():
        return {"error": "ENOENT"}
    if query == "readdir":
        return [{"name": it.name, "type": kind[it.is_dir()]} for it in file.iterdir()]
    stat = file.stat()
    return {"type": kind[file.is_dir()], "ctime": 0, "mtime": int(stat.st_mtime * 1000), "size": stat.st_size}
