"""The rows that migrations create. They are restored after each test whose transactions committed.

Django's own flush would delete them too, and truncates all tables, which takes PostgreSQL 150 ms.
"""

import sqlite3
from typing import Any


class InitialRows:
    """The rows of the test database at the start of the session."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        connection.ensure_connection()
        if connection.vendor == "sqlite":
            self.copy = sqlite3.connect(":memory:", check_same_thread=False)
            connection.connection.backup(self.copy)
        else:
            self.tables: dict[str, bytes] = {}
            with connection.cursor() as cursor:
                for table in connection.introspection.table_names(cursor):
                    with cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
                        self.tables[table] = b"".join(copy)
                cursor.execute(
                    "SELECT sequencename, last_value FROM pg_sequences WHERE last_value > 0"
                )
                self.sequences = dict(cursor.fetchall())

    def restore(self) -> None:
        """Replace all rows by the initial ones. No trigger runs."""
        self.connection.ensure_connection()
        if self.connection.vendor == "sqlite":
            self.copy.backup(self.connection.connection)
            return
        with self.connection.cursor() as cursor:
            cursor.execute("BEGIN")
            # No triggers, no foreign keys.
            cursor.execute("SET LOCAL session_replication_role = replica")
            filled = " UNION ALL ".join(
                f"SELECT '{table}' WHERE EXISTS (SELECT FROM \"{table}\")" for table in self.tables
            )
            cursor.execute(filled)
            for (table,) in cursor.fetchall():
                cursor.execute(f'DELETE FROM "{table}"')
            for table, rows in self.tables.items():
                if rows:
                    with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
                        copy.write(rows)
            for sequence, value in self.sequences.items():  # `flush` resets them
                cursor.execute("SELECT setval(%s, %s)", [f'"{sequence}"', value])
            cursor.execute("COMMIT")

    def close(self) -> None:
        if self.connection.vendor == "sqlite":
            self.copy.close()
