"""A mailbox for tests: the part of an IMAP server that `manage.py deliver` uses, with TLS."""

import socket
import ssl
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from tests.servers.process import free_port


class Mailbox:
    """A server of `emails` by number, one connection at a time. It closes the connection when it is
    asked for the content of those in `lost`, and sends a byte every `pause` seconds, if that is not
    0.
    """

    def __init__(self, folder: Path, emails: dict[int, bytes]) -> None:
        key, certificate = folder / "key.pem", folder / "cert.pem"
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
                "-days",
                "3650",
                "-keyout",
                key,
                "-out",
                certificate,
            ],
            check=True,
            capture_output=True,
        )
        self.certificate, self.emails, self.pause = str(certificate), emails, 0.0
        self.commands: list[str] = []
        self.seen: set[int] = set()
        self.lost: set[int] = set()
        self.validity = 7
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.port = free_port()
        plain = socket.create_server(("localhost", self.port))
        self.socket = context.wrap_socket(plain, server_side=True)
        self.socket.settimeout(600)
        Thread(target=self._serve, daemon=True).start()

    def url(self, folder: str = "INBOX") -> str:
        return f"imaps://jobs%40acme.test:p%3Aw@localhost:{self.port}/{folder}"

    def close(self) -> None:
        self.socket.close()

    def fetched(self) -> list[int]:
        """Return the numbers of the emails whose content was asked for, and forget all commands."""
        words = [command.split() for command in self.commands]
        self.commands.clear()
        return [
            int(each[2]) for each in words if each[:2] == ["UID", "FETCH"] and "BODY" in each[3]
        ]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except ssl.SSLError:
                continue
            except OSError:
                return
            with suppress(OSError), connection, connection.makefile("rwb") as file:
                self._talk(file)

    def _talk(self, file: Any) -> None:
        def say(line: bytes) -> None:
            for part in [line + b"\r\n"] if not self.pause else map(bytes, zip(line, strict=True)):
                file.write(part)
                file.flush()
                time.sleep(self.pause)

        say(b"* OK ready")
        for line in file:
            tag, command = line.strip().split(b" ", 1)
            self.commands.append(command.decode())
            words = command.upper().split()
            if words[0] == b"CAPABILITY":
                say(b"* CAPABILITY IMAP4rev1")
            elif words[0] == b"SELECT":
                say(b"* OK [UIDVALIDITY %d] valid" % self.validity)
            elif words[:2] == [b"UID", b"SEARCH"]:
                first = int(words[3].split(b":")[0])
                unseen = [n for n in self.emails if n not in self.seen]
                found = [n for n in unseen if n >= first or n == max(self.emails)]
                say(b"* SEARCH " + b" ".join(b"%d" % n for n in found))
            elif words[:2] == [b"UID", b"FETCH"]:
                number, content = int(words[2]), self.emails[int(words[2])]
                if b"SIZE" in words[3]:
                    say(b"* 1 FETCH (UID %d RFC822.SIZE %d)" % (number, len(content)))
                elif number in self.lost:
                    return
                else:
                    say(b"* 1 FETCH (UID %d BODY[] {%d}" % (number, len(content)))
                    file.write(content)
                    say(b")")
            elif words[:2] == [b"UID", b"STORE"]:
                self.seen.add(int(words[2]))
            say(tag + b" OK done")
            if words[0] == b"LOGOUT":
                return
