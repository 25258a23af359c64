"""Conversion of rows to pandas and polars data frames, with column types that hold all values exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_INT64 = (-(1 << 63), (1 << 63) - 1)
_UINT64 = (0, (1 << 64) - 1)


def to_pandas(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> Any:
    """Return a `pandas.DataFrame`.

    Raises:
        ImportError: pandas is not installed.

    """
    import pandas as pd

    def series(values: list[Any]) -> Any:
        known = [value for value in values if value is not None]
        if not known:
            return pd.Series(values, dtype=object)
        if _are(known, int):
            # With missing values, int64 would become float64, which is inexact from 2^53 on. Nullable types stay exact.
            is_nullable = len(known) < len(values)
            if _fit(known, _INT64):
                return pd.Series(values, dtype="Int64" if is_nullable else "int64")
            if _fit(known, _UINT64):
                return pd.Series(values, dtype="UInt64" if is_nullable else "uint64")
        return pd.Series(values, dtype="float64" if _are_floats(known) else "bool" if _are(values, bool) else object)

    data = {name: series([row.get(name) for row in rows]) for name in columns}
    return pd.DataFrame(data, columns=list(columns), index=pd.RangeIndex(len(rows)))


def to_polars(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> Any:
    """Return a `polars.DataFrame`.

    Raises:
        ImportError: polars is not installed.

    """
    import polars as pl

    columns_of_values = ((name, [row.get(name) for row in rows]) for name in columns)
    return pl.DataFrame([_polars_series(pl, name, values) for name, values in columns_of_values])


def _polars_series(pl: Any, name: str, values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    dtype = pl.String
    if not known:
        dtype = pl.Null
    elif _are(known, int):
        dtype = pl.Int64 if _fit(known, _INT64) else pl.UInt64 if _fit(known, _UINT64) else pl.String
    elif _are(known, bool):
        dtype = pl.Boolean
    elif _are_floats(known):
        dtype, values = pl.Float64, [None if value is None else float(value) for value in values]
    elif all(isinstance(value, list) for value in known) and _are([it for value in known for it in value], str):
        dtype = pl.List(pl.String)
    return pl.Series(name, map(_text, values) if dtype == pl.String else values, dtype=dtype)


def _are(values: list[Any], kind: type) -> bool:
    return all(type(value) is kind for value in values)


def _are_floats(values: list[Any]) -> bool:
    return all(type(value) in (int, float) and float(value) == value for value in values)


def _fit(values: list[int], limits: tuple[int, int]) -> bool:
    return limits[0] <= min(values) and max(values) <= limits[1]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
