"""Run functions concurrently, each in a thread with its own database connection.

Tests need `django_db(transaction=True)`: other connections see committed rows only.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Barrier, Thread
from typing import Any

from django.db import connection


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Run all `acts` at the same time. Return the result or the exception of each, in order."""
    barrier, found = Barrier(len(acts)), [None] * len(acts)

    def run(place: int, act: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=10)
            found[place] = act()
        except Exception as error:
            found[place] = error
        finally:
            connection.close()

    threads = [Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return found


@contextmanager
def waiting(act: Callable[[], Any], count: int = 1) -> Iterator[Thread]:
    """Start `act` in a thread. Run the block when `act` has ended or `count` connections wait for a
    lock. PostgreSQL only.
    """
    failed: list[Exception] = []

    def run() -> None:
        try:
            act()
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    with connection.cursor() as cursor:
        while thread.is_alive():
            # A snapshot lasts for the transaction.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                "wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0] >= count:
                break
            time.sleep(0.01)
    yield thread
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert not failed
