"""The admin of vacancies: a package per page. Importing a module registers it."""

from vacancies.admin import vacancy  # noqa: F401 - importing registers
from vacancies.admin.catalogue import brand, consent, filter, form, links, recruiter  # noqa: F401
from vacancies.admin.edit import template  # noqa: F401
