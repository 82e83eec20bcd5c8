"""Parses the query string and validates it against the parameters of the endpoint."""

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import quote, unquote, urlencode

from django.http import QueryDict

from jobsite.api.problems import InvalidParameters, ParameterError

# An unknown name in one of these families is an error. Every other unknown name (utm_source, _) is ignored:
# browsers and campaigns add such names.
FAMILIES = frozenset({"page", "filter", "sort", "fields"})
# Names that other APIs use for our parameters. Ignoring one would return a longer list than the client wants.
# They are compared without case and punctuation: "page_size", "pageSize" and "page-size" are "pagesize".
OTHER_NAMES = {
    "page[size]": """pagesize pagelimit pageperpage perpage itemsperpage resultsperpage limit size count rows
        take top max maxresults""",
    "page[number]": """page pagenumber pageno pagenum pageindex pageoffset currentpage offset start startindex
        skip cursor""",
    "filter[search]": "q query search searchterm searchquery keyword keywords term text fulltext filterq",
    "sort": "sortby sortorder order orderby ordering",
    "fields": "field select only columns",
}
_FIRST_WORD = re.compile(r"\W*(\w*)", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
NUMBER_ALLOWED = "a whole number from 1 to 999999999 in plain digits"
MAX_ERRORS = 20  # in one response
MAX_SHOWN = 200  # characters of an invalid value that an error repeats


def read(query: QueryDict, allowed: tuple[str, ...], lists: Collection[str] = frozenset()) -> dict[str, str]:
    """Return the parameters of `query` that are in `allowed`, by name. A parameter in `lists` may be
    repeated, and its name may end with `[]`: its values are joined with commas.

    Raises InvalidParameters for an unknown name of a known family, a well-known name of other APIs, a
    single-valued parameter that is given twice, and a value that is not UTF-8.
    """
    given: dict[str, list[str]] = {}
    for name, received in query.lists():
        plain = name.removesuffix("[]")
        if plain in lists:
            given[plain] = [",".join([*given.get(plain, ()), *received])]
        else:
            given[name] = received
    values, errors = {}, []
    for name, received in given.items():
        if name in allowed:
            values[name] = received[0]
            if len(received) > 1:
                shown = [value[:MAX_SHOWN] for value in received[:10]]
                errors.append(ParameterError(name, f"{name} is given more than once.", shown, "one value"))
            elif "\ufffd" in received[0]:  # Django's replacement of invalid bytes
                errors.append(invalid_value(name, received[0], "text in UTF-8"))
        elif error := _unknown(unquote(name), name[:MAX_SHOWN], received[0][:MAX_SHOWN], allowed):
            errors.append(error)
    if errors:
        raise InvalidParameters(errors[:MAX_ERRORS])
    return values


def _unknown(name: str, shown: str, received: str, allowed: tuple[str, ...]) -> ParameterError | None:
    """The error for the parameter `name`, which is not in `allowed`; None if it is ignored."""
    right = _misnamed(allowed).get(_folded(name))
    if right:
        return ParameterError(shown, f"Use {right} instead of {shown}.", received, [right])
    first_word = _FIRST_WORD.match(name.lower())[1]  # type: ignore[index] # always matches
    if right is not None or first_word in FAMILIES:
        return ParameterError(shown, f"{shown} is not a parameter here.", received, list(allowed))
    return None


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


@lru_cache(maxsize=16)
def _misnamed(allowed: tuple[str, ...]) -> dict[str, str]:
    """Map each other name to the parameter in `allowed` that it stands for, or to "" if `allowed` lacks it.
    Empty for an endpoint that takes none of OTHER_NAMES: it is not a list."""
    if OTHER_NAMES.keys().isdisjoint(allowed):
        return {}
    meant = {
        other: name if name in allowed else ""
        for name, others in OTHER_NAMES.items()
        for other in others.split()
    }
    for name in allowed:
        meant[_folded(name)] = name
        meant.setdefault(_folded(name.partition("[")[2]), name)  # regions=... for filter[regions]=...
    meant.pop("", None)
    return meant


def number(name: str, value: str) -> int:
    """Return `value` as an int from 1 to 999999999. Raises InvalidParameters."""
    if not _NUMBER.fullmatch(value):
        raise InvalidParameters([invalid_value(name, value, NUMBER_ALLOWED)])
    return int(value)


def choices(name: str, value: str, allowed: Collection[str]) -> list[str]:
    """Return the distinct members of the comma-separated list `value`. Raises InvalidParameters."""
    members = list(dict.fromkeys(value.split(",")))
    if any(member not in allowed for member in members):
        raise InvalidParameters([invalid_value(name, value, list(allowed))])
    return members


def invalid_value(name: str, value: str, allowed: str | list[str]) -> ParameterError:
    """The error for a value that is not allowed."""
    shown = value[:MAX_SHOWN]
    wanted = allowed if isinstance(allowed, str) else f"one of {', '.join(allowed)}"
    return ParameterError(name, f"{name} must be {wanted}; received {shown!r}.", shown, allowed)


def encode(parameters: dict[str, str | int]) -> str:
    """Return a query string. All characters except unreserved ones are percent-encoded."""
    return urlencode(parameters, quote_via=quote, safe="")
