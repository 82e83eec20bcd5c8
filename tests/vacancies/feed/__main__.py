"""Run the simulation of the feed: `python -m tests.vacancies.feed --seeds 200 [--database postgresql]`

For each seed, four processes write and read the same database at the same time. Each has clients,
some of whose requests reach a server that is late. Between rounds, the primary fails over to a
server that lacks the last commits, or a backup is restored. At rest, each copy has to equal the
list. PostgreSQL is started on a free port.
"""

import argparse
import logging
import os
import sys
import time
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import django

from tests import servers
from tests.servers import Postgres

ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "jobsite.settings",
    "RATE_LIMIT": "off",
    "RESPONSE_CACHE_MB": "0",
    "INTERNAL_ACCESS": "public",
    "MULTI_BRANDING": "true",
    "DEBUG": "false",
    "ALLOWED_HOSTS": "testserver",
    "SECRET_KEY": "only-for-this-simulation-" * 3,
}
PROCESSES, ROUNDS, STEPS = 4, 2, 12


def work(pipe: Connection, databases: Any) -> None:
    """Run what the parent says, until it says nothing."""
    from tests.vacancies.feed.simulation import Simulation  # needs Django

    simulation: Any = None
    late = ""
    while command := pipe.recv():
        try:
            match command:
                case ("open", seed, name):
                    databases.use(name)
                    simulation, late = Simulation(seed, 1, is_live=True), ""
                case ("late", name):
                    late = name
                case ("run", steps):
                    databases.connect()
                    for _ in range(steps):
                        simulation.step()
                        if late and simulation.random.random() < 0.2:
                            with databases.reading(late):
                                simulation.copies[0].read(simulation.http, simulation.clock())
                case ("settle",):
                    databases.connect()
                    simulation.settle()
            databases.disconnect()
            pipe.send((simulation.copies[0].restarts, ""))
        except Exception as error:
            databases.disconnect()
            pipe.send((0, f"{type(error).__name__}: {error}"))


class Workers:
    def __init__(self, databases: Any) -> None:
        context = get_context("fork")
        pairs = [context.Pipe() for _ in range(PROCESSES)]
        self.pipes = [mine for mine, _ in pairs]
        self.processes = [
            context.Process(target=work, args=(theirs, databases), daemon=True)
            for _, theirs in pairs
        ]
        for process in self.processes:
            process.start()

    def tell(self, *commands: tuple) -> tuple[int, list[str]]:
        """Send one of `commands`, or the only one, to each. Return the number of restarts, and the
        differences."""
        for number, pipe in enumerate(self.pipes):
            pipe.send(commands[number % len(commands)])
        answers = [pipe.recv() for pipe in self.pipes]
        return sum(count for count, _ in answers), [text for _, text in answers if text]

    def end(self) -> None:
        for pipe in self.pipes:
            pipe.send(None)


def run(seed: int, workers: Workers, databases: Any) -> tuple[int, list[str]]:
    chance = Random(seed)
    databases.create("site")
    numbers = [seed * PROCESSES + number for number in range(PROCESSES)]
    workers.tell(*(("open", number, "site") for number in numbers))
    found: list[str] = []
    restarts = 0
    for _ in range(ROUNDS):
        found += workers.tell(("run", STEPS))[1]
        databases.copy("site", "late")
        workers.tell(("late", "late"))
        found += workers.tell(("run", STEPS))[1]
        if chance.random() < 0.5:
            databases.fail_over("late", "site")
        restarts, differences = workers.tell(("settle",))
        found += differences
    return restarts, found


def set_up(kind: str, folder: Path, stack: ExitStack) -> Any:
    """Start the databases of that kind, with the rows of a template."""
    url = f"sqlite:///{folder}/template"
    if kind == "postgresql":
        server = stack.enter_context(Postgres(folder / "postgresql", max_connections="60"))
        server.sql("CREATE DATABASE template")
        url = f"{server.url.rpartition('/')[0]}/template"
    os.environ |= ENVIRONMENT | {"DATABASE_URL": url}
    django.setup()
    logging.disable()
    from django.core.management import call_command  # these need Django

    from tests.vacancies.feed.databases import PostgresqlDatabases, SqliteFiles
    from tests.vacancies.feed.simulation import make_rows

    databases = PostgresqlDatabases(server.url) if kind == "postgresql" else SqliteFiles(folder)
    if kind == "postgresql":
        call_command("migrate", verbosity=0)
    make_rows()
    databases.disconnect()
    return databases


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    with servers.folder_with_logs() as folder, ExitStack() as stack:
        databases = set_up(options.database, folder, stack)
        workers, begun = Workers(databases), time.monotonic()
        different = restarts = 0
        for seed in range(options.first, options.first + options.seeds):
            count, found = run(seed, workers, databases)
            restarts += count
            different += bool(found)
            for text in found:
                print(f"seed {seed}: {text}", flush=True)
        workers.end()
    seconds = time.monotonic() - begun
    print(
        f"{options.seeds} seeds on {options.database}, {PROCESSES} processes: "
        f"{different} with differences, {restarts} restarts, {seconds:.0f} s"
    )
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
