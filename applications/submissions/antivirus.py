"""Virus scan of files by clamd, with its INSTREAM command (man clamd).
ANTIVIRUS has the address of clamd.
"""

import logging
import re
import socket
import struct
from contextlib import suppress
from urllib.parse import urlsplit

from django.conf import settings
from django.core.files import File

from applications.models import ScanState

TIMEOUT = 10  # seconds, for each read and write
CHUNK = 1 << 16  # bytes
PORT = 3310  # the default of clamd

logger = logging.getLogger(__name__)


class VirusFoundError(Exception):
    """clamd found a virus. The message is its name."""


def scan(file: File) -> ScanState:
    """Scan `file`, a file open for reading. Raise VirusFoundError.

    The result is FAILED if clamd does not respond or refuses the file, so that no application is
    lost.
    """
    if not settings.ANTIVIRUS:
        return ScanState.OFF
    file.seek(0)
    try:
        reply = _reply(file)
    except (OSError, ValueError) as error:
        logger.error("The virus scanner does not respond: %s", error)
        return ScanState.FAILED
    finally:
        file.seek(0)
    if found := re.fullmatch(r"stream: (.+) FOUND", reply):
        raise VirusFoundError(found[1])
    if reply == "stream: OK":
        return ScanState.CLEAN
    logger.error("The virus scanner did not scan a file: %s", reply)
    return ScanState.FAILED


def address() -> str | tuple[str, int]:
    """Return the path of clamd's socket, or its host and port.
    Raise ValueError if ANTIVIRUS is invalid.
    """
    parts = urlsplit(settings.ANTIVIRUS)
    with suppress(ValueError):  # an invalid port
        if parts.scheme == "clamd" and parts.hostname and parts.path in ("", "/"):
            return parts.hostname, parts.port or PORT
    if parts.scheme == "clamd" and not parts.netloc and parts.path.startswith("/"):
        return parts.path
    raise ValueError("ANTIVIRUS must be clamd:/path/of/socket or clamd://host:port.")


def _reply(file: File) -> str:
    with _connected() as clamd:
        clamd.sendall(b"zINSTREAM\0")
        while chunk := file.read(CHUNK):
            clamd.sendall(struct.pack("!L", len(chunk)) + chunk)
        clamd.sendall(struct.pack("!L", 0))
        reply = b""
        while not reply.endswith(b"\0") and len(reply) < 1000 and (received := clamd.recv(1000)):
            reply += received
    return reply.rstrip(b"\0").decode("utf-8", "replace")


def _connected() -> socket.socket:
    where = address()
    if not isinstance(where, str):
        return socket.create_connection(where, TIMEOUT)
    clamd = socket.socket(socket.AF_UNIX)
    clamd.settimeout(TIMEOUT)
    try:
        clamd.connect(where)
    except OSError:
        clamd.close()
        raise
    return clamd
