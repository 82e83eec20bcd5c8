"""The clamd client, against a server that speaks its protocol."""

import socket
import struct
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from applications.models import ScanState
from applications.submissions import antivirus

# in two parts, so that no virus scanner deletes this file
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" rb"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


class Clamd:
    """A server of the INSTREAM command.
    It finds the EICAR file, and refuses more than `size_max` bytes.
    """

    def __init__(self, listener: socket.socket, size_max: int = 1 << 20) -> None:
        self.listener, self.size_max = listener, size_max
        self.is_silent = False
        self.received: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                reply = self._reply(stream)
                if reply:
                    connection.sendall(reply)

    def _reply(self, stream) -> bytes:
        if stream.read(10) != b"zINSTREAM\0":
            return b"UNKNOWN COMMAND\0"
        content = b""
        while size := struct.unpack("!L", stream.read(4))[0]:
            content += stream.read(size)
            if len(content) > self.size_max:
                return b"INSTREAM size limit exceeded. ERROR\0"
        self.received.append(content)
        if self.is_silent:
            return b""
        return b"stream: Eicar-Test-Signature FOUND\0" if EICAR in content else b"stream: OK\0"


@pytest.fixture
def clamd(tmp_path: Path, settings) -> Iterator[Clamd]:
    path = tmp_path / "clamd.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        settings.ANTIVIRUS = f"clamd:{path}"
        yield Clamd(listener)


def test_clean_file_is_sent_completely_and_rewound(clamd: Clamd, settings) -> None:
    content = bytes(range(256)) * 1000
    file = BytesIO(content)
    file.read()
    assert (antivirus.scan(file), file.tell()) == (ScanState.CLEAN, 0)
    assert clamd.received == [content]
    with pytest.raises(antivirus.VirusFoundError, match="Eicar-Test-Signature"):
        antivirus.scan(BytesIO(EICAR))
    settings.ANTIVIRUS = ""
    assert antivirus.scan(BytesIO(EICAR)) == ScanState.OFF


def test_clamd_is_reached_over_tcp(settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Clamd(listener)
        settings.ANTIVIRUS = f"clamd://127.0.0.1:{listener.getsockname()[1]}"
        assert antivirus.scan(BytesIO(b"text")) == ScanState.CLEAN
        with pytest.raises(antivirus.VirusFoundError):
            antivirus.scan(BytesIO(EICAR))


def test_scan_fails_if_nothing_listens(settings) -> None:
    for value in ("clamd:/nowhere.sock", "clamd://127.0.0.1:1", "other:/run", "clamd:x"):
        settings.ANTIVIRUS = value
        assert antivirus.scan(BytesIO(b"text")) == ScanState.FAILED, value


def test_scan_fails_if_clamd_does_not_respond_in_time(
    tmp_path: Path, settings, monkeypatch
) -> None:
    monkeypatch.setattr(antivirus, "TIMEOUT", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:  # accepts, and never replies
        listener.bind(str(tmp_path / "clamd.sock"))
        listener.listen()
        settings.ANTIVIRUS = f"clamd:{tmp_path}/clamd.sock"
        assert antivirus.scan(BytesIO(b"text")) == ScanState.FAILED


def test_scan_fails_if_the_file_is_too_large_for_clamd_or_clamd_is_silent(clamd: Clamd) -> None:
    clamd.size_max = 1000
    assert antivirus.scan(BytesIO(bytes(10_000_000))) == ScanState.FAILED
    clamd.is_silent = True
    assert antivirus.scan(BytesIO(b"text")) == ScanState.FAILED
