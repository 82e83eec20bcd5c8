"""The models of vacancies."""

from vacancies.models.approval import APPROVE, Approval, needs_approval, waiting_for_approval
from vacancies.models.catalogue import Brand, BrandLink, Filter, FilterOption, Recruiter
from vacancies.models.feed import FeedEntry, FeedFormat, FeedTouch, TouchKind
from vacancies.models.integration import Integration, IntegrationScope, IntegrationToken
from vacancies.models.read_model import BucketCount, ListedVacancy, RenderedItem, VacancyCount
from vacancies.models.requisition import Requisition
from vacancies.models.saved_view import ListPreference, SavedView
from vacancies.models.search import SearchChange, SearchTerm
from vacancies.models.statistics import (
    SOURCE_MAX,
    DailyStatisticsBase,
    DailyVacancies,
    DailyVisits,
    StateCount,
    StatisticsQuerySet,
)
from vacancies.models.team import TeamMember
from vacancies.models.template import VacancyTemplate
from vacancies.models.unsaved import Autosave, Presence, purge_unsaved, settled_pages
from vacancies.models.vacancy import Vacancy
from vacancies.models.vacancy_rows import Attachment, Place, VacancyOption, VacancyRecruiter
from vacancies.models.vacancy_text import (
    TRANSLATED,
    TextState,
    VacancyText,
    languages_of,
    shown_in,
    text_field,
    text_fields,
)
from vacancies.models.version import Change, Version
from vacancies.models.webhook import Webhook, WebhookAttempt

__all__ = [
    "APPROVE",
    "SOURCE_MAX",
    "TRANSLATED",
    "Approval",
    "Attachment",
    "Autosave",
    "Brand",
    "BrandLink",
    "BucketCount",
    "Change",
    "DailyStatisticsBase",
    "DailyVacancies",
    "DailyVisits",
    "FeedEntry",
    "FeedFormat",
    "FeedTouch",
    "Filter",
    "FilterOption",
    "Integration",
    "IntegrationScope",
    "IntegrationToken",
    "ListPreference",
    "ListedVacancy",
    "Place",
    "Presence",
    "Recruiter",
    "RenderedItem",
    "Requisition",
    "SavedView",
    "SearchChange",
    "SearchTerm",
    "StateCount",
    "StatisticsQuerySet",
    "TeamMember",
    "TextState",
    "TouchKind",
    "Vacancy",
    "VacancyCount",
    "VacancyOption",
    "VacancyRecruiter",
    "VacancyTemplate",
    "VacancyText",
    "Version",
    "Webhook",
    "WebhookAttempt",
    "languages_of",
    "needs_approval",
    "purge_unsaved",
    "settled_pages",
    "shown_in",
    "text_field",
    "text_fields",
    "waiting_for_approval",
]
