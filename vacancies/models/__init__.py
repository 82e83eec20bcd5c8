"""The models of vacancies."""

from vacancies.models.catalogue import Brand, Filter, FilterOption, Recruiter, free_value
from vacancies.models.read_model import DailyCount, ListedVacancy, PublicationState
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
    "Change",
    "DailyCount",
    "Filter",
    "FilterOption",
    "ListedVacancy",
    "PublicationState",
    "Recruiter",
    "State",
    "Status",
    "Vacancy",
    "VacancyOption",
    "VacancyRecruiter",
    "Version",
    "free_value",
]
