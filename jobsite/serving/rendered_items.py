"""Items as bytes that can be stored: what many of them share, and the address of this service, are tokens
in them, filled in when they are sent. So a renamed option, brand or recruiter touches no document.

In the bytes, NUL stands on both sides of a token and 0x01 before every key: JSON escapes both, so neither
can be part of a text.
"""

from collections.abc import Callable, Iterable
from typing import Any

from jobsite.api.placeholders import AddressToken, Token
from jobsite.api.renderers import JSONRenderer

MARK, KEY = b"\0", b"\x01"
BASE = b"base"  # the token for the address of this service

KNOWN_MAX = 50_000  # tokens

dumps = JSONRenderer().render


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON, with its tokens marked."""
    match value:
        case None:  # of which the renderer makes nothing
            return b"null"
        case Token():
            return MARK + value.encode() + MARK
        case AddressToken():
            return b'"' + MARK + BASE + MARK + dumps(str(value))[1:]
        case dict():
            return b"{" + b",".join(dumps(key) + b":" + encode(each) for key, each in value.items()) + b"}"
        case list():
            return b"[" + b",".join(map(encode, value)) + b"]"
    return dumps(value)


def document(item: dict[str, Any]) -> bytes:
    """Return `item` as a document."""
    members = (KEY + dumps(key) + b":" + encode(value) for key, value in item.items())
    return b"{" + b",".join(members) + b"}"


def whole(document: bytes) -> bytes:
    return document.replace(KEY, b"")


def cut(document: bytes, names: Iterable[bytes]) -> bytes:
    """Return the document with those of its keys that are in `names`, in that order, each in quotes."""
    members = []
    for name in names:
        if (start := document.find(KEY + name + b":")) >= 0:
            end = document.find(b"," + KEY, start)
            members.append(document[start + 1 : end if end >= 0 else -1])
    return b"{" + b",".join(members) + b"}"


class UnknownError(Exception):
    """A token stands for nothing: what it stood for was deleted meanwhile."""


class Words:
    """What the tokens stand for, learnt when first met. `look_up` returns the JSON, which may hold tokens,
    of those of the tokens that exist."""

    def __init__(self, base: str, look_up: Callable[[Iterable[bytes]], dict[bytes, bytes]]) -> None:
        self.look_up = look_up
        self.known = {BASE: dumps(base)[1:-1]}

    def fill(self, data: bytes) -> bytes:
        """Return `data` with its tokens replaced. Raises UnknownError."""
        parts = data.split(MARK)
        known, tokens = self.known, parts[1::2]
        try:
            parts[1::2] = [known[token] for token in tokens]
        except KeyError:
            new = self.look_up(set(tokens) - set(known))
            if len(new) < len(set(tokens) - set(known)):
                raise UnknownError from None
            if len(known) > KNOWN_MAX:
                known = self.known = {BASE: known[BASE]}
                new |= self.look_up(set(tokens) - set(known) - set(new))
            known.update({token: self.fill(value) for token, value in new.items()})
            parts[1::2] = [known[token] for token in tokens]
        return b"".join(parts)
