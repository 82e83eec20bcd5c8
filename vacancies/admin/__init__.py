"""The recruiter's workplace: one module per noun, registered by being imported."""

from vacancies.admin import brand, filter, form, recruiter, vacancy  # noqa: F401 - importing registers
