"""The gate: a slow object store does not hold the threads of the site."""

import threading
import time
from contextlib import suppress

import pytest

from jobsite.object_store import gate as gates
from jobsite.object_store.gate import Gate, UnavailableError


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "WAIT", 0.01)
    monkeypatch.setattr(gates, "SLOW", 0.01)
    monkeypatch.setattr(gates, "CLOSED", 0.05)


def test_gate_refuses_at_once_while_others_take_long(quick: None) -> None:
    gate, ended = Gate(1), threading.Event()
    entered = threading.Event()

    def hold() -> None:
        with gate.enter():
            entered.set()
            ended.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(10)
    with pytest.raises(UnavailableError, match="slow"), gate.enter():
        pass
    with pytest.raises(UnavailableError, match="a moment ago"), gate.enter():
        pass
    ended.set()
    thread.join()
    time.sleep(0.06)
    with gate.enter():
        pass


def test_only_slow_failures_close_the_gate(quick: None) -> None:
    gate = Gate(1)

    def fail(after: float) -> None:
        with suppress(UnavailableError), gate.enter():
            time.sleep(after)
            raise UnavailableError

    fail(0)
    fail(0.02)
    with pytest.raises(UnavailableError, match="a moment ago"), gate.enter():
        pass


def test_commands_have_no_limit() -> None:
    gate = Gate(0)
    with gate.enter(), gate.enter():
        pass
