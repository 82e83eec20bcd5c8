"""The conversation with the mail server, step by step, so that each failure says whether the email
may have been accepted. Django's backend provides the connection and its settings (EMAIL_URL).
"""

import re
import smtplib
from contextlib import suppress
from email.utils import parseaddr
from typing import Any

import django
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend
from django.utils.encoding import punycode

from applications.mail.outbox import INVALID_ADDRESS

TIMEOUT = 30.0  # seconds for each reply of the server
# For its reply to the content, which servers check first (RFC 5321, 4.5.3.2).
CONTENT_TIMEOUT = 300.0
REPLY_MAX = 300  # characters of a reply that are kept
UNAVAILABLE = 421  # the server closes the connection
_FAILURES = (OSError, smtplib.SMTPException)  # a lost connection is an SMTPException or an OSError


class DeliveryError(Exception):
    """The email was not delivered. The text is the reason."""


class ServerError(DeliveryError):
    """The server cannot be used: no connection. Other emails would fail in the same way."""


class TemporaryError(DeliveryError):
    """The server refused the email for now. The next email may succeed."""


class PermanentError(DeliveryError):
    """The server refused the email for good."""


# In the stored error of an email whose outcome is unknown.
MAY_BE_DELIVERED = "may have been delivered"


class UnknownError(DeliveryError):
    """The connection was lost while the server received the email: it may have been delivered."""


class Transport:
    """Sends emails through one connection, which stays open between them."""

    def __init__(self) -> None:
        self._backend: Any = None

    def send(self, email: EmailMessage) -> None:
        """Send `email` to its one recipient. Raises DeliveryError."""
        sender, recipient = _envelope(parseaddr(email.from_email)[1]), _envelope(email.to[0])
        if self._backend is None:
            self._backend = _configured()
        if not isinstance(self._backend, EmailBackend):  # prints or collects emails
            self._backend.send_messages([email])
            return
        content = re.sub(rb"\r\n|\r|\n", b"\r\n", email.message().as_bytes())
        is_reused = self._backend.connection is not None
        if not self._is_ready(sender, recipient):
            self.close()
            # The server may have ended a connection that was idle or used often enough: try a new
            # one.
            if not is_reused or not self._is_ready(sender, recipient):
                self.close()
                raise TemporaryError("The mail server closed the connection.")
        self._send_content(content)

    def close(self) -> None:
        """End the connection, if there is one."""
        backend, self._backend = self._backend, None
        if isinstance(backend, EmailBackend):
            with suppress(*_FAILURES):
                if backend.connection and backend.connection.sock:
                    backend.connection.sock.settimeout(1)
                backend.close()

    def _is_ready(self, sender: str, recipient: str) -> bool:
        """Announce an email. Return whether the server waits for its content; False if it closed
        the connection. Raises DeliveryError.
        """
        if self._backend is None:
            self._backend = _configured()
        backend = self._backend
        try:
            backend.open()
            backend.connection.ehlo_or_helo_if_needed()
        except _FAILURES as error:
            self.close()
            raise ServerError(_reason(error)) from None
        smtp = backend.connection
        try:
            for step in (
                lambda: smtp.mail(sender),
                lambda: smtp.rcpt(recipient),
                lambda: smtp.docmd("DATA"),
            ):
                code, reply = step()
                if code == UNAVAILABLE:
                    return False
                if not 200 <= code < 400:
                    self._reset()
                    raise _refusal(code, reply)
        except _FAILURES as error:
            if isinstance(error.__context__, TimeoutError):
                self.close()
                raise TemporaryError(f"No reply within {TIMEOUT:g} seconds.") from None
            return False
        return True

    def _send_content(self, content: bytes) -> None:
        """Send the content of the announced email.
        If the connection is lost now, its fate is unknown.
        """
        smtp: Any = self._backend.connection
        end = b".\r\n" if content.endswith(b"\r\n") else b"\r\n.\r\n"
        try:
            smtp.sock.settimeout(CONTENT_TIMEOUT)
            smtp.send(re.sub(rb"(?m)^\.", b"..", content) + end)
            code, reply = smtp.getreply()
            smtp.sock.settimeout(TIMEOUT)
        except _FAILURES as error:
            self.close()
            text = (
                "The connection was lost while the email was being sent: it may have been "
                "delivered."
            )
            raise UnknownError(f"{text} ({_reason(error)})") from None
        if code == UNAVAILABLE:
            self.close()
        if not 200 <= code < 300:
            raise _refusal(code, reply)

    def _reset(self) -> None:
        """Cancel the announced email."""
        try:
            self._backend.connection.rset()
        except _FAILURES:
            self.close()


def _configured() -> object:
    """Return the backend of EMAIL_URL, not connected."""
    backend: Any = mail.get_connection() if django.VERSION < (6, 1) else mail.mailers.default  # type: ignore[attr-defined]
    if isinstance(backend, EmailBackend):
        backend.timeout = backend.timeout or TIMEOUT
    return backend


def _envelope(address: str) -> str:
    """Return `address` in ASCII, with the domain in the form of DNS. Raises PermanentError."""
    local, _, domain = address.rpartition("@")
    try:
        encoded = f"{local}@{punycode(domain)}"
    except UnicodeError:
        encoded = address
    if not local or not encoded.isascii():
        raise PermanentError(INVALID_ADDRESS)
    return encoded


def _refusal(code: int, reply: bytes) -> DeliveryError:
    kind = PermanentError if code >= 500 else TemporaryError
    return kind(f"{code} {reply.decode('utf-8', 'replace')}"[:REPLY_MAX])


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        reply = error.smtp_error
        text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
        return f"{error.smtp_code} {text}"[:REPLY_MAX]
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:REPLY_MAX]
