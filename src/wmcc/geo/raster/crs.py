"""Coordinate reference systems: read, named and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import optional
from ...errors import InputError
from ...present.text import brief

if TYPE_CHECKING:
    from pyproj import CRS


SURE = 70
"""Per cent, as PROJ rates that a system is one of its list: the same, with another name at most."""

SPACE = 3
"""Axes of a system with heights."""


def read_crs(text: Any, name: str) -> CRS:
    """The system that a text, a number or an object of another package stands for; ``name`` is for messages."""
    pyproj = optional.module("pyproj", "raster")
    try:
        return pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as problem:
        raise InputError(
            f"{name}: {brief(text)} is no coordinate reference system that pyproj knows: {problem}",
            "give a code such as 'EPSG:32632', or WKT.",
            "crs",
        ) from None


def agreed_crs(own: Any, given: Any, name: str, hint: str) -> CRS:
    """The system that the caller names for data that have none, or the same."""
    found = read_crs(given, "`crs`")
    if own is not None and not same_crs(own, found):
        raise InputError(f"{name} is in {called(own)}, and `crs` says {called(found)}.", hint, "crs")
    return found if own is None else own


def called(crs: Any) -> str:
    """What to call a system in a message: its code and its name."""
    code = crs.to_authority()
    return f"{':'.join(code)} ({crs.name})" if code else crs.name


def crs_name(crs: CRS | None) -> str:
    """``EPSG:4326``, or what a system without a number is called."""
    if crs is None:
        return "no CRS"
    return _code(crs) or str(crs.name)


def same_crs(one: CRS, other: CRS) -> bool:
    """Whether two systems are the same on the ground, whoever wrote them; order of axes and heights do not matter.

    Examples
    --------
    >>> import pyproj
    >>> wgs84 = pyproj.CRS("EPSG:4326")
    >>> same_crs(wgs84, pyproj.CRS("OGC:CRS84")), same_crs(wgs84, pyproj.CRS("EPSG:4326+5773"))
    (True, True)
    >>> same_crs(wgs84, pyproj.CRS("EPSG:4258"))
    False
    """
    if one.equals(other, ignore_axis_order=True):
        return True
    one, other = _horizontal(one), _horizontal(other)
    if one.equals(other, ignore_axis_order=True):
        return True
    if not (one.is_bound or other.is_bound) and _definition(one) == _definition(other):
        return True
    # what differs now may be a transformation to WGS 84 that one writer adds: the code decides
    codes = [_code(crs.source_crs if crs.is_bound else crs) for crs in (one, other)]
    return codes[0] is not None and codes[0] == codes[1]


def _horizontal(crs: CRS) -> CRS:
    """The part of a system that is not about heights."""
    return crs.to_2d() if len(crs.axis_info) == SPACE else crs


def _definition(crs: CRS) -> tuple[Any, ...]:
    """What a system says, without what different writers call it; some know ensembles of datums, others a datum."""
    base, steps = crs.geodetic_crs, crs.coordinate_operation
    if base is None or base.datum is None or crs.ellipsoid is None or crs.prime_meridian is None:
        return (id(crs),)
    shape = crs.ellipsoid.semi_major_metre, round(crs.ellipsoid.inverse_flattening, 6)
    datum = base.datum.name.lower().replace("_", " ").removeprefix("d ").removesuffix(" ensemble")
    terms = [] if steps is None else [(p.code, round(p.value * p.unit_conversion_factor, 9)) for p in steps.params]
    units = [round(axis.unit_conversion_factor, 12) for axis in crs.axis_info]
    return datum, shape, crs.prime_meridian.longitude, steps and steps.method_code, sorted(terms), units


def _code(crs: CRS) -> str | None:
    """The number of a system in EPSG's list, or in another; None if it is in none."""
    number = crs.to_epsg(min_confidence=SURE)
    if number is not None:
        return f"EPSG:{number}"
    listed = crs.to_authority(min_confidence=SURE)
    return None if listed is None else ":".join(listed)
