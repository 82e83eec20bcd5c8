"""The models of vacancies."""

from vacancies.models.catalogue import Brand, Filter, FilterOption, Recruiter, free_value
from vacancies.models.read_model import BucketCount, ListedVacancy, VacancyCount
from vacancies.models.saved_view import ListPreference, SavedView
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
    "Brand",
    "BucketCount",
    "Change",
    "Filter",
    "FilterOption",
    "ListPreference",
    "ListedVacancy",
    "Recruiter",
    "SavedView",
    "State",
    "Status",
    "Vacancy",
    "VacancyCount",
    "VacancyOption",
    "VacancyRecruiter",
    "Version",
    "free_value",
]
