"""The rows of the tests of applications: a brand with a recruiter and an application."""

from tests.applications.admin.conftest import office, office_rows  # noqa: F401 - fixtures
from tests.applications.conftest import acme, beta, module_roles, recruiter  # noqa: F401
