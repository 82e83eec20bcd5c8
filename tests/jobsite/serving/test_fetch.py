"""Statements that are read without Django's cursor."""

from datetime import UTC, datetime

import pytest
from django.db import DataError, ProgrammingError, connection

from jobsite.serving.revision import fetch

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no types"),
]
TEXTS = ["", " ", "NULL", "x,y", "{z}", 'a"b', "c\\d", "é\t"]
AT = datetime(2026, 3, 2, 9, 30, 15, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("bigint", 2**62),
        ("text", 'a"b\\'),
        ("text", None),
        ("timestamptz", AT),
        ("text[]", TEXTS),
        ("bigint[]", [1, 2**62]),
        ("bigint[]", []),
    ],
)
def test_parameters_arrive_as_they_are(sql, value):
    for _ in range(2):  # prepared, and again
        assert fetch(f"SELECT %s::{sql}", value) == [(value,)]


def test_errors_are_those_of_django():
    with pytest.raises(DataError):
        fetch("SELECT %s::integer", "x")


def test_statement_that_cannot_be_prepared_is_an_error():
    with pytest.raises(ProgrammingError):
        fetch("SELECT nothing FROM nowhere")
