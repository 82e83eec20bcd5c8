"""The admin of vacancies: one module per noun. Importing a module registers it."""

from vacancies.admin import brand, filter, form, recruiter, template, vacancy  # noqa: F401 - importing registers
