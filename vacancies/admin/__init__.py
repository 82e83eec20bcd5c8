"""The admin of vacancies: a package per page. Importing a module registers it."""

from vacancies.admin.catalogue import filter, integration, links, recruiter  # noqa: F401 - importing registers
from vacancies.admin.edit import template  # noqa: F401
