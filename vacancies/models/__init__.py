"""The models of vacancies."""

from vacancies.models.approval import APPROVE, Approval, needs_approval, waiting_for_approval
from vacancies.models.catalogue import Brand, Filter, FilterOption, Recruiter, free_value
from vacancies.models.read_model import BucketCount, ListedVacancy
from vacancies.models.template import VacancyTemplate
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
    "APPROVE",
    "Approval",
    "Attachment",
    "Audience",
    "Brand",
    "BucketCount",
    "Change",
    "Filter",
    "FilterOption",
    "ListedVacancy",
    "Recruiter",
    "State",
    "Status",
    "Vacancy",
    "VacancyOption",
    "VacancyRecruiter",
    "VacancyTemplate",
    "Version",
    "free_value",
    "needs_approval",
    "waiting_for_approval",
]
