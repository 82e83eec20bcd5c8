"""The query string of a request, read once and checked against what the endpoint takes."""

import re
from collections.abc import Collection
from urllib.parse import quote, unquote, urlencode

from django.http import QueryDict

from jobsite.api.problems import InvalidParameters, ParameterError

# Names in these families steer the answer, so a mistake in one is an error. Every other unknown
# name (utm_source, _) is ignored: such names are added by browsers and campaigns.
FAMILIES = frozenset({"page", "filter", "sort", "fields"})
_FIRST_WORD = re.compile(r"\W*(\w*)", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
NUMBER_ALLOWED = "a whole number from 1 to 999999999 in plain digits"
MAX_ERRORS = 20  # in one answer
MAX_SHOWN = 200  # characters of a refused value that an error repeats


def read(query: QueryDict, allowed: Collection[str]) -> dict[str, str]:
    """Return the recognised parameters of `query` by name.

    Raises InvalidParameters for names of a known family that `allowed` lacks, for recognised names
    given twice and for values that are not UTF-8.
    """
    values, errors = {}, []
    for name, received in query.lists():
        if name in allowed:
            values[name] = received[0]
            if len(received) > 1:
                shown = [value[:MAX_SHOWN] for value in received[:10]]
                errors.append(ParameterError(name, f"{name} is given more than once.", shown, "one value"))
            elif "\ufffd" in received[0]:  # what Django makes of bytes that are none
                errors.append(refusal(name, received[0], "text in UTF-8"))
        elif _FIRST_WORD.match(unquote(name).lower())[1] in FAMILIES:  # type: ignore[index] # always matches
            errors.append(
                ParameterError(
                    name[:MAX_SHOWN], f"{name[:MAX_SHOWN]} is not a parameter here.", received[0][:MAX_SHOWN],
                    list(allowed),
                )
            )  # fmt: skip
    if errors:
        raise InvalidParameters(errors[:MAX_ERRORS])
    return values


def number(name: str, value: str) -> int:
    """Return `value` as an int from 1 to 999999999; raises InvalidParameters for anything else."""
    if not _NUMBER.fullmatch(value):
        raise InvalidParameters([refusal(name, value, NUMBER_ALLOWED)])
    return int(value)


def choices(name: str, value: str, allowed: Collection[str]) -> list[str]:
    """Return the distinct members of the comma list `value`; raises InvalidParameters for one not allowed."""
    members = list(dict.fromkeys(value.split(",")))
    if any(member not in allowed for member in members):
        raise InvalidParameters([refusal(name, value, list(allowed))])
    return members


def refusal(name: str, value: str, allowed: str | list[str]) -> ParameterError:
    """The error of a parameter whose value is not allowed."""
    shown = value[:MAX_SHOWN]
    wanted = allowed if isinstance(allowed, str) else f"one of {', '.join(allowed)}"
    return ParameterError(name, f"{name} must be {wanted}; received {shown!r}.", shown, allowed)


def encode(parameters: dict[str, str | int]) -> str:
    """Return a query string, everything but unreserved characters percent-encoded."""
    return urlencode(parameters, quote_via=quote, safe="")
