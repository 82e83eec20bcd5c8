"""Columns by type, also of types that no column of a vacancy has yet:
imports, spreadsheets, history.
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.validators import MinValueValidator
from django.db import models
from rest_framework.exceptions import ValidationError

from jobsite.fields import WebURLField
from vacancies.exchange.cells import CellError
from vacancies.exchange.columns import cell, imported, read
from vacancies.history import diff, versions
from vacancies.models import Vacancy

LEVELS = (("junior", "Junior"), ("senior", "Senior level"))
AT = datetime(2027, 1, 15, 8, tzinfo=UTC)
COLUMNS: dict[str, Any] = {
    "line": models.CharField(max_length=5, blank=True, default=""),
    "text": models.TextField(blank=True, default=""),
    "url": WebURLField(),
    "flag": models.BooleanField(default=False),
    "number": models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    ),
    "decimal": models.DecimalField(
        max_digits=4, decimal_places=2, null=True, blank=True, validators=[MinValueValidator(0)]
    ),
    "day": models.DateField(null=True, blank=True),
    "time": models.DateTimeField(null=True, blank=True),
    "level": models.CharField(max_length=10, choices=LEVELS, blank=True, default=""),
}
for _name, _column in COLUMNS.items():
    _column.set_attributes_from_name(_name)
    _column.model = Vacancy


def test_values_of_items_are_imported_by_type():
    good = {
        "line": [("a\nb", "a b"), (None, ""), ("", "")],
        "text": [("a\nb", "a\nb"), (None, "")],
        "url": [("https://a.example", "https://a.example"), (None, "")],
        "flag": [(True, True), (None, False)],
        "number": [(3, 3), (None, None)],
        "decimal": [(3, 3), (2.5, Decimal("2.5")), (None, None)],
        "day": [("2027-01-15", date(2027, 1, 15)), (None, None)],
        "time": [("2027-01-15T08:00:00Z", AT), (None, None)],
        "level": [("senior", "senior"), (None, ""), ("", "")],
    }
    bad = {
        "line": ["123456", 5],
        "url": ["ftp://a.example"],
        "flag": ["yes"],
        "number": [0, "x"],
        "decimal": [-1, 100, 0.001, "2.5", True],
        "day": ["soon"],
        "time": ["soon"],
        "level": ["boss", 1],
    }
    assert [
        (name, value)
        for name, pairs in good.items()
        for value, wanted in pairs
        if imported(COLUMNS[name]).run_validation(value) != wanted
    ] == []
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValidationError):
                imported(COLUMNS[name]).run_validation(value)
    assert not any(imported(column).required for column in COLUMNS.values())


def test_cells_are_read_again():
    for name, value, shown, posted in (
        ("line", "a", "a", "a"),
        ("flag", True, "yes", True),
        ("number", 3, 3, "3"),
        ("decimal", Decimal("2.50"), 2.5, "2.5"),
        ("day", date(2027, 1, 15), date(2027, 1, 15), "2027-01-15"),
        ("time", AT, datetime(2027, 1, 15, 8), ["2027-01-15", "08:00:00", ""]),
        ("level", "senior", "Senior level", "senior"),
    ):
        assert cell(COLUMNS[name], value) == shown
        assert read(COLUMNS[name], str(shown), []) == posted
    assert [cell(COLUMNS[name], None) for name in ("number", "decimal", "day", "time")] == [""] * 4
    assert [read(COLUMNS[name], "", []) for name in ("number", "decimal", "day", "level")] == [
        ""
    ] * 4
    for name in ("decimal", "day", "time", "level"):
        with pytest.raises(CellError):
            read(COLUMNS[name], "soon", [])


def test_history_shows_dates_and_choices(monkeypatch):
    monkeypatch.setattr(diff, "_field", COLUMNS.get)
    stored = versions.as_json(
        {
            "day": date(2027, 1, 15),
            "time": AT,
            "level": "senior",
            "number": 3,
            "decimal": Decimal("2.50"),
        }
    )
    assert stored == {
        "day": "2027-01-15",
        "time": "2027-01-15T08:00:00+00:00",
        "level": "senior",
        "number": 3,
        "decimal": "2.5",
    }
    assert [diff.lines(name, value) for name, value in stored.items()] == [
        ["15 Jan 2027"],
        ["15 Jan 2027, 08:00"],
        ["Senior level"],
        ["3"],
        ["2.5"],
    ]
