"""Servers for tests: an S3 store, and a proxy in front of it whose responses fail in the ways that stores do."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Credentials of the store. Shorter ones are refused by rclone.
KEY, SECRET = "user", "password"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[Any]) -> None:
    """Wait until a server listens."""
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None
        time.sleep(0.05)


@contextmanager
def moto(**environment: str) -> Iterator[str]:
    """Run moto, and return its address."""
    program = os.path.join(os.path.dirname(sys.executable), "moto_server")
    port = free_port()
    with _running([program, "-H", "127.0.0.1", "-p", str(port)], port, environment):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def s3() -> Iterator[str]:
    """Run an S3 store for `KEY` and `SECRET`: moto, or the rclone that `MEMSCAPE_RCLONE` names."""
    rclone = os.environ.get("MEMSCAPE_RCLONE")
    if rclone is None:
        with moto() as address:
            yield address
        return
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [rclone, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}", folder]
        with _running(command, port, {"RCLONE_CONFIG": os.devnull}):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet)
    try:
        wait_for(port, server)
        yield
    finally:
        server.kill()
        server.wait()


# What happens to the n-th request, from 1 on, for the contents of a snapshot or to write a part: `ok`, `503`, `cut` (the
# body of the response breaks off), `cut without length`, or `stall` (the body stops, and the connection stays open).
Plan = Callable[[str, int], str]


class Proxy:
    """Passes requests to a store, except those that the plan harms."""

    def __init__(self, store: str, plan: Plan) -> None:
        self.store, self.plan = store.removeprefix("http://"), plan
        self.requests: Counter[str] = Counter()
        self.ended = threading.Event()
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> Proxy:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        harm = "ok"
        name = self.path.split("?")[0]
        if (self.command, name.rsplit(".", 1)[-1]) in (("GET", "gz"), ("PUT", "parquet")):
            self.owner.requests[name] += 1
            harm = self.owner.plan(name, self.owner.requests[name])
        if harm == "503":
            self._send(503, [("Content-Type", "application/xml")], b"<Error><Code>SlowDown</Code></Error>")
            return
        connection = http.client.HTTPConnection(self.owner.store)
        connection.request(self.command, self.path, body, dict(self.headers))
        response = connection.getresponse()
        data = response.read()
        dropped = ("transfer-encoding", "connection", "content-length", "date", "server")
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in dropped]
        if self.command == "HEAD":
            headers.append(("Content-Length", response.getheader("Content-Length") or "0"))
        connection.close()
        self._send(response.status, headers, data, harm)

    def _send(self, status: int, headers: list[tuple[str, str]], data: bytes, harm: str = "ok") -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if harm == "cut without length":
            self.send_header("Connection", "close")
        elif self.command != "HEAD":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if harm == "ok":
            self.wfile.write(data)
            return
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        if harm == "stall":
            self.owner.ended.wait()
        self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _pass
