"""The case view."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class View(NamedTuple):
    """A case view, and what of it is withheld."""

    document: Mapping[str, Any]
    withheld: Mapping[str, frozenset[str]] = MappingProxyType({})
