"""A mail server for tests that fails in every way. What the name of an address begins with selects
how:

421-        421 to RCPT TO, then closes the connection
451-, 550-  refuses the recipient
grey-       refuses the recipient with 451, the first time
451d-, 550d-  refuses the content
drop-       accepts the content, and closes the connection without a reply
lost-       closes the connection while it waits for the content
slow-       replies after `delay` seconds

While `is_down`, it closes every new connection. `pause` is how long it takes for each email.
"""

import re
import socketserver
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Self, cast

from tests.servers.process import free_port


class MailServer:
    """A server with a thread for each connection.
    `accepted` has the emails, `recipients` counts them.
    """

    def __init__(self, *, port: int = 0, delay: float = 1.0, per_connection: int = 0) -> None:
        self.port = port or free_port()
        self.delay = delay
        # Emails after which it closes a connection with 421; 0: none.
        self.per_connection = per_connection
        self.is_down = False
        self.pause = 0.0
        self.accepted: list[EmailMessage] = []
        self.recipients: Counter[str] = Counter()
        self.connections = 0
        self.lock = threading.Lock()
        self._known: set[str] = set()
        self._times: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._server: Any = None

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        outer = self

        class Handler(_Handler):
            site = outer

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 50

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Refuse connections from now on."""
        self._server.shutdown()
        self._server.server_close()

    def is_new(self, recipient: str) -> bool:
        """Return whether `recipient` is announced for the first time."""
        with self.lock:
            is_new = recipient not in self._known
            self._known.add(recipient)
        return is_new

    def accept(self, recipient: str, content: bytes) -> None:
        email = message_from_bytes(content, policy=policy.SMTP)
        with self.lock:
            self.accepted.append(cast(EmailMessage, email))
            self._times[recipient, str(email["Subject"])].append(time.time())
            self.recipients[recipient] += 1

    def times_of(self, subject: str) -> dict[str, list[float]]:
        """Return when emails with `subject` arrived, in seconds since 1970, by recipient."""
        return {to: times for (to, each), times in self._times.items() if each == subject}


class _Handler(socketserver.StreamRequestHandler):
    site: MailServer

    def handle(self) -> None:
        with suppress(OSError):
            self._converse()

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def _converse(self) -> None:
        with self.site.lock:
            self.site.connections += 1
        if self.site.is_down:
            return
        self._say("220 mail server of tests")
        count = 0
        recipient = ""
        while line := self.rfile.readline().decode("ascii", "replace").strip():
            verb, _, rest = line.partition(" ")
            behaviour = recipient.partition("-")[0] if "-" in recipient else ""
            match verb.upper():
                case "EHLO" | "HELO" | "RSET" | "NOOP":
                    self._say("250 ok")
                case "MAIL":
                    if self.site.per_connection and count == self.site.per_connection:
                        self._say("421 too many emails")
                        return
                    self._say("250 ok")
                case "RCPT":
                    found = re.search("<(.*)>", rest)
                    recipient = found[1] if found else ""
                    behaviour = recipient.partition("-")[0] if "-" in recipient else ""
                    if behaviour == "slow":
                        time.sleep(self.site.delay)
                    if behaviour in ("421", "451", "550"):
                        self._say(f"{behaviour} <{recipient}> is refused")
                        if behaviour == "421":
                            return
                    elif behaviour == "grey" and self.site.is_new(recipient):
                        self._say("451 come back later")
                    else:
                        self._say("250 ok")
                case "DATA":
                    if behaviour == "lost":
                        return
                    self._say("354 go on")
                    lines = []
                    while (text := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(text.removeprefix(b".") if text.startswith(b"..") else text)
                    if behaviour in ("451d", "550d"):
                        self._say(f"{behaviour[:3]} the content is refused")
                        continue
                    count += 1
                    time.sleep(self.site.pause)
                    self.site.accept(recipient, b"".join(lines))
                    if behaviour == "drop":
                        return
                    self._say("250 accepted")
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("502 unknown")
