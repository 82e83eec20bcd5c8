"""Rendered items: the stored JSON of an item, with placeholders for values that many items share.

A placeholder stands for an option label, a brand, a recruiter, or the base URL of this service. It
is resolved when the item is sent, so a renamed brand changes no stored item.

A NUL byte stands before and after a placeholder, and 0x01 before each key of the item. JSON escapes
both, so neither occurs in a text.
"""

from collections.abc import Callable, Iterable

from jobsite.api.placeholders import AddressToken, Placeholder
from jobsite.api.renderers import JSONRenderer

MARK, KEY = b"\0", b"\x01"
BASE_URL = b"base"  # the placeholder of the base URL

MAX_RESOLVED = 50_000  # placeholders

dumps = JSONRenderer().render


def encode(value: object) -> bytes:
    """Return `value` as compact JSON, with marked placeholders."""
    match value:
        case None:  # the renderer returns an empty body
            return b"null"
        case Placeholder():
            return MARK + value.encode() + MARK
        case AddressToken():
            return b'"' + MARK + BASE_URL + MARK + dumps(str(value))[1:]
        case dict():
            return (
                b"{"
                + b",".join(dumps(key) + b":" + encode(each) for key, each in value.items())
                + b"}"
            )
        case list():
            return b"[" + b",".join(map(encode, value)) + b"]"
    return dumps(value)


def render_item(item: dict[str, object]) -> bytes:
    """Return `item` as a rendered item."""
    members = (KEY + dumps(key) + b":" + encode(value) for key, value in item.items())
    return b"{" + b",".join(members) + b"}"


def strip_markers(rendered: bytes) -> bytes:
    """Remove the key markers."""
    return rendered.replace(KEY, b"")


def project(rendered: bytes, names: Iterable[bytes]) -> bytes:
    """Return the item with only the keys in `names`, in that order.
    Names are JSON strings with quotes.
    """
    members = []
    for name in names:
        if (start := rendered.find(KEY + name + b":")) >= 0:
            end = rendered.find(b"," + KEY, start)
            members.append(rendered[start + 1 : end if end >= 0 else -1])
    return b"{" + b",".join(members) + b"}"


class UnknownPlaceholderError(Exception):
    """The value of a placeholder is neither known nor found."""


Resolve = Callable[[Iterable[bytes]], dict[bytes, bytes]]


class PlaceholderResolver:
    """The values of placeholders that were read at one revision."""

    def __init__(self, base_url: str) -> None:
        self.resolved = {BASE_URL: dumps(base_url)[1:-1]}

    def fill(self, data: bytes, resolve: Resolve | None) -> bytes:
        """Return `data` with its placeholders replaced. Raises UnknownPlaceholderError.

        `resolve` reads those that are not known yet. It returns the JSON of those that exist, which
        may contain placeholders.
        """
        parts = data.split(MARK)
        resolved, names = self.resolved, parts[1::2]
        try:
            parts[1::2] = [resolved[name] for name in names]
        except KeyError:
            if resolve is None:
                raise UnknownPlaceholderError from None
            missing = set(names) - set(resolved)
            new = resolve(missing)
            if len(new) < len(missing):
                raise UnknownPlaceholderError from None
            if len(resolved) > MAX_RESOLVED:
                resolved = self.resolved = {BASE_URL: resolved[BASE_URL]}
                new |= resolve(set(names) - set(resolved) - set(new))
            resolved.update({name: self.fill(value, resolve) for name, value in new.items()})
            parts[1::2] = [resolved[name] for name in names]
        return b"".join(parts)
