"""Signatures of backup archives, with a key of the operator.

A signature is one line after the end of the tar: the HMAC-SHA256 (RFC 2104) of all bytes before it.
BACKUP_KEY signs; BACKUP_KEY_FALLBACKS are earlier keys, which only verify.
"""

import hmac
import re
from enum import StrEnum
from typing import BinaryIO

from django.conf import settings

LABEL = b"jobsite-hmac-sha256:"
LINE = re.compile(LABEL + rb"([0-9a-f]{64})\n")
LENGTH = len(LABEL) + 64 + 1
CHUNK = 1 << 20


class Signature(StrEnum):
    """State of an archive's signature. The value completes "This archive is ..."."""

    VERIFIED = "signed with BACKUP_KEY"
    UNVERIFIED = "signed, but not verified: BACKUP_KEY is not set"
    ABSENT = "not signed"


class SignatureError(Exception):
    """The archive must not be used."""


def sign(file: BinaryIO) -> Signature:
    """Append a signature to `file`, open for reading and writing, if BACKUP_KEY is set."""
    if not settings.BACKUP_KEY:
        return Signature.ABSENT
    (code,) = _codes(file, file.seek(0, 2), [settings.BACKUP_KEY])
    file.seek(0, 2)
    file.write(LABEL + code + b"\n")
    return Signature.VERIFIED


def verify(file: BinaryIO) -> Signature:
    """Return the state of the signature of `file`. Raises SignatureError if there is a key, and the
    signature is absent or was not made with it."""
    size = max(0, file.seek(0, 2) - LENGTH)
    file.seek(size)
    line = LINE.fullmatch(file.read(LENGTH))
    keys = [key for key in (settings.BACKUP_KEY, *settings.BACKUP_KEY_FALLBACKS) if key]
    if not keys:
        return Signature.UNVERIFIED if line else Signature.ABSENT
    if not line:
        raise SignatureError(
            "It is not signed, and BACKUP_KEY is set: only signed archives are accepted."
        )
    if not any(hmac.compare_digest(code, line[1]) for code in _codes(file, size, keys)):
        raise SignatureError(
            "Its signature is invalid: the archive was changed, or signed with another key than "
            "BACKUP_KEY and BACKUP_KEY_FALLBACKS."
        )
    return Signature.VERIFIED


def _codes(file: BinaryIO, size: int, keys: list[str]) -> list[bytes]:
    """Return the HMAC of the first `size` bytes of `file`, for each of `keys`."""
    codes = [hmac.new(key.encode(), digestmod="sha256") for key in keys]
    file.seek(0)
    while size and (chunk := file.read(min(CHUNK, size))):
        size -= len(chunk)
        for code in codes:
            code.update(chunk)
    return [code.hexdigest().encode() for code in codes]
