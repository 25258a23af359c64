"""File systems of addresses, and errors of stores that name the address and what to try."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memscape._binary import MemscapeError

from .local_files import LocalFiles

# The extra of the package that installs the client of a protocol.
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "azure", "abfss": "azure", "az": "azure"}
_PROTOCOL = re.compile(r"\w+://")
# What to try after errors of stores, by the names of their types.
_REMEDIES = {
    "NoCredentialsError": "no credentials: set AWS_PROFILE, or --storage '{\"anon\": true}' for a public bucket",
    "PermissionError": "access denied: check the credentials, and what they may do",
}


def open_store(url: str, storage: dict[str, Any]) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it. `storage` has the options of `fsspec.filesystem`.

    Raises:
        MemscapeError: The protocol is not known, or its client is not installed.

    """
    path = _local_path(url)
    if path is not None:
        return LocalFiles(), path
    import fsspec

    protocol = url.partition("://")[0]
    try:
        # fsspec would take any `::` for a chain of file systems, such as `zip://a.pickle::s3://bucket/a.zip`.
        if _PROTOCOL.match(url) and not re.search(r"::\w+://", url):
            kind = fsspec.get_filesystem_class(protocol)
            fs = fsspec.filesystem(protocol, **{**kind._get_kwargs_from_urls(url), **storage})
            return fs, str(kind._strip_protocol(url))
        fs, inside = fsspec.core.url_to_fs(url, **storage)
    except ImportError as error:
        extra = _EXTRAS.get(protocol)
        hint = f"pip install 'memscape[{extra}]'" if extra else str(error)
        raise MemscapeError(f"{url}: the client of {protocol}:// is missing: {hint}") from error
    except ValueError as error:
        raise MemscapeError(f"{url}: {error}") from error
    return fs, str(inside)


def _local_path(url: str) -> str | None:
    """Return the path of a local file as fsspec has it, or `None` for other stores, chains of URLs, and on Windows."""
    path = url.removeprefix("file://")
    if os.sep != "/" or "://" in path:
        return None
    if not path.startswith("/"):
        # `~`, and protocols without `//`.
        if re.match(r"~|[^/]*:", path):
            return None
        path = f"{os.getcwd()}/{'' if path == '.' else path.removeprefix('./')}"
    return path.rstrip("/") or "/"


@contextmanager
def named_errors(url: str, fs: Any) -> Iterator[None]:
    """Raise errors of a store as a `MemscapeError` with the address. Errors of local files name their path already."""
    try:
        yield
    except Exception as error:
        if isinstance(error, TypeError) and "unexpected keyword argument" in str(error):
            raise MemscapeError(f"{url}: --storage: {error}") from error
        is_ours = isinstance(error, (MemscapeError, TypeError, KeyError, AttributeError, AssertionError))
        if is_ours or isinstance(fs, LocalFiles):
            raise
        raise MemscapeError(f"{url}: {_cause(url, error)}") from error


def _cause(url: str, error: Exception) -> str:
    kind, text = type(error).__name__, str(error)
    if isinstance(error, FileNotFoundError):
        # The text is either the path or a message, such as "The specified bucket does not exist".
        return "not found" if text.strip("/") in url or " " not in text else text
    remedy = _REMEDIES.get(kind)
    return f"{kind}: {text}" if remedy is None else remedy
