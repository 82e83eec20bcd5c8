"""The models of vacancies."""

from vacancies.models.catalogue import Brand, Filter, FilterOption, Recruiter, free_value
from vacancies.models.figures import DailyFiguresBase, DailyVacancies, FiguresQuerySet, VacancyCount
from vacancies.models.read_model import BucketCount, ListedVacancy
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
    "DailyFiguresBase",
    "DailyVacancies",
    "FiguresQuerySet",
    "Filter",
    "FilterOption",
    "ListedVacancy",
    "Recruiter",
    "State",
    "Status",
    "Vacancy",
    "VacancyCount",
    "VacancyOption",
    "VacancyRecruiter",
    "Version",
    "free_value",
]
