"""Which rows a row names within its lists and structs: by the marks of their types.

    order.lines[0].listing = l1   ─►   (listing, l1)      ListingId is marked as the key of a row of `listing`

Fields that are such a key themselves are `row_fields`'. Not here: whether the rows are there (`coherence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import inspect

from ..tables import Row


def names_within(row: Row) -> Iterator[tuple[str, str]]:
    """The rows that a row names within its fields, as (table, key)."""
    for field, kind in fields_with_names(type(row)):
        yield from _names(kind, getattr(row, field))


@cache
def fields_with_names(struct: type[msgspec.Struct]) -> tuple[tuple[str, inspect.Type], ...]:
    """The fields of a struct that may name rows within them, with their types."""
    return tuple(
        (field.name, field.type)
        for field in _fields(struct)
        if _table(field.type) is None and _may_name(field.type)
    )


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def _may_name(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return _table(kind) is not None or _may_name(kind.type)
    if isinstance(kind, inspect.VarTupleType):
        return _may_name(kind.item_type)
    if isinstance(kind, inspect.UnionType):
        return any(_may_name(each) for each in kind.types)
    return isinstance(kind, inspect.StructType) and any(_may_name(field.type) for field in _fields(kind.cls))


def _table(kind: inspect.Type) -> str | None:
    marks = cast("Mapping[str, str] | None", getattr(kind, "extra", None))  # `Meta` gives it
    return None if marks is None else marks.get("row")


def _names(kind: inspect.Type, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - of that type
    table = _table(kind)
    if value is None:
        return
    if table is not None:
        yield table, value
    elif isinstance(kind, inspect.Metadata):
        yield from _names(kind.type, value)
    elif isinstance(kind, inspect.VarTupleType):
        for each in cast("Iterable[Any]", value):
            yield from _names(kind.item_type, each)
    elif isinstance(value, msgspec.Struct):
        for field in _fields(type(value)):
            if _may_name(field.type):
                yield from _names(field.type, getattr(value, field.name))
