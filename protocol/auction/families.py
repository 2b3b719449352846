"""The families of formats, and which of them plays a format."""

from __future__ import annotations

from . import ascending, descending, double, posted, proxy, sealed
from .terms import Family

FAMILIES: tuple[Family, ...] = (
    sealed.FAMILY,
    ascending.FAMILY,
    descending.FAMILY,
    proxy.FAMILY,
    posted.FAMILY,
    double.FAMILY,
)

_BY_FORMAT = {name: family for family in FAMILIES for name in family.formats}


def of(format_name: str) -> Family:
    """The family of a format."""
    return _BY_FORMAT[format_name]
