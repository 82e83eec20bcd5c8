"""The models of vacancies."""

from vacancies.models.catalogue import Brand, Filter, FilterOption, Recruiter, free_value
from vacancies.models.read_model import BucketCount, ListedVacancy
from vacancies.models.unsaved import Autosave, Presence, purge_unsaved
from vacancies.models.vacancy import (
    Attachment,
    Audience,
    State,
    Status,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)
from vacancies.models.version import Change, Version

__all__ = [
    "Attachment",
    "Audience",
    "Autosave",
    "Brand",
    "BucketCount",
    "Change",
    "Filter",
    "FilterOption",
    "ListedVacancy",
    "Presence",
    "Recruiter",
    "State",
    "Status",
    "Vacancy",
    "VacancyOption",
    "VacancyRecruiter",
    "Version",
    "free_value",
    "purge_unsaved",
]
