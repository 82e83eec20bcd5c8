"""A form and a recruiter for the tests of the builder and the admin."""

import pytest

from forms_structure import operations
from tests.forms_structure.builder import STRUCTURE, recruiter


@pytest.fixture
def form():
    return operations.create(name="Standard", structure=STRUCTURE)


@pytest.fixture
def anna(client):
    of_forms = ("view_form", "add_form", "change_form", "delete_form", "add_consenttext")
    return recruiter(*of_forms, "view_vacancy", "change_vacancy")
