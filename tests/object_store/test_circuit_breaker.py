"""The circuit breaker: a slow object store does not hold the threads of the site."""

import threading
import time
from contextlib import suppress

import pytest

from jobsite.object_store import circuit_breaker
from jobsite.object_store.circuit_breaker import CircuitBreaker, UnavailableError


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "WAIT", 0.01)
    monkeypatch.setattr(circuit_breaker, "SLOW", 0.01)
    monkeypatch.setattr(circuit_breaker, "OPEN", 0.05)


def test_circuit_breaker_refuses_at_once_while_others_take_long(quick: None) -> None:
    breaker, ended = CircuitBreaker(1), threading.Event()
    entered = threading.Event()

    def hold() -> None:
        with breaker.request():
            entered.set()
            ended.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(10)
    with pytest.raises(UnavailableError, match="slow"), breaker.request():
        pass
    with pytest.raises(UnavailableError, match="a moment ago"), breaker.request():
        pass
    ended.set()
    thread.join()
    time.sleep(0.06)
    with breaker.request():
        pass


def test_only_slow_failures_open_the_circuit(quick: None) -> None:
    breaker = CircuitBreaker(1)

    def fail(after: float) -> None:
        with suppress(UnavailableError), breaker.request():
            time.sleep(after)
            raise UnavailableError

    fail(0)
    fail(0.02)
    with pytest.raises(UnavailableError, match="a moment ago"), breaker.request():
        pass


def test_commands_have_no_limit() -> None:
    breaker = CircuitBreaker(0)
    with breaker.request(), breaker.request():
        pass
