"""Parses the query string and validates it against the parameters of the endpoint."""

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import quote, unquote, urlencode

from django.http import QueryDict

from jobsite.api.parameter_names import is_ignored, means_changes, meant
from jobsite.api.problems import InvalidParameters, ParameterError

_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
NUMBER_ALLOWED = "a whole number from 1 to 999999999 in plain digits"
MAX_ERRORS = 20  # in one response
MAX_SHOWN = 200  # characters of an invalid value that an error repeats


def read(
    query: QueryDict,
    allowed: tuple[str, ...],
    lists: Collection[str] = frozenset(),
    keys: tuple[str, ...] = (),
    *,
    is_strict: bool = False,
) -> dict[str, str]:
    """Return the parameters of `query` that are in `allowed`, by name. A parameter in `lists` may
    be repeated, and its name may end with `[]`: its values are joined with commas. `keys` are those
    of an item.

    Raises InvalidParameters for a name that is a likely mistake (`is_strict`: any other name), a
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
                errors.append(
                    ParameterError(name, f"{name} is given more than once.", shown, "one value")
                )
            elif "\ufffd" in received[0]:  # Django's replacement of invalid bytes
                errors.append(invalid_value(name, received[0], "text in UTF-8"))
        else:
            error = _unknown(name, received[0], allowed, keys, is_strict=is_strict)
            errors += [error] if error else []
    if errors:
        raise InvalidParameters(errors[:MAX_ERRORS])
    return values


def _unknown(
    received: str, value: str, allowed: tuple[str, ...], keys: tuple[str, ...], *, is_strict: bool
) -> ParameterError | None:
    """The error for the parameter `received`, which is not in `allowed`; None if it is ignored."""
    name, shown, value = unquote(received), received[:MAX_SHOWN], value[:MAX_SHOWN]
    right = "" if is_strict else None if is_ignored(name) else meant(name, allowed, keys)
    if right is None:
        return None
    if right:
        return ParameterError(shown, f"Use {right} instead of {shown}.", value, [right])
    detail = f"{shown} is not a parameter here."
    if keys and "since" not in allowed and means_changes(name):
        detail += " /v1/vacancies/changes has what changed."
    return ParameterError(shown, detail, value, list(allowed))


def number(name: str, value: str) -> int:
    """Return `value` as an int from 1 to 999999999. Raises InvalidParameters."""
    if not _NUMBER.fullmatch(value):
        raise InvalidParameters([invalid_value(name, value, NUMBER_ALLOWED)])
    return int(value)


def choice(name: str, value: str, allowed: Collection[str]) -> str:
    """Return `value` if it is allowed. Raises InvalidParameters."""
    if value not in allowed:
        raise InvalidParameters([invalid_value(name, value, list(allowed))])
    return value


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
    return _encoded(tuple(parameters.items()))


@lru_cache(maxsize=1024)
def _encoded(pairs: tuple[tuple[str, str | int], ...]) -> str:
    return urlencode(pairs, quote_via=quote, safe="")
