"""The models of applications."""

from applications.models.access import Access, AccessLog, Token
from applications.models.alert import JobAlert, ToldVacancy
from applications.models.application import Application, StageChange, without_undone
from applications.models.history_entry import HistoryEntry, Interview, Task
from applications.models.interview import CalendarFeed, Participant
from applications.models.invitation import Invitation
from applications.models.message import (
    BrandMail,
    ClosingNotice,
    EmailLanguage,
    EmailOptOut,
    MailTemplate,
    Message,
    MessageFile,
    Note,
)
from applications.models.origin import ConsentRequest, Origin
from applications.models.outgoing import Outgoing
from applications.models.person import Candidate, PersonChange
from applications.models.scorecard import Scorecard
from applications.models.slot import Offer, Slot, SlotSet
from applications.models.stage import Reason, Stage, Status
from applications.models.statistics import (
    CountedApplication,
    DailyApplications,
    DailyHiring,
    MonthlyStages,
)
from applications.models.submission import (
    FormSnapshot,
    IdempotencyKey,
    PrivateFile,
    ScanState,
    Submission,
    SubmissionFile,
    UsedProof,
)
from applications.models.tag import ApplicationTag, Tag
from applications.models.vacancy_change import VacancyChange

__all__ = [
    "Access",
    "AccessLog",
    "Application",
    "ApplicationTag",
    "BrandMail",
    "CalendarFeed",
    "Candidate",
    "ClosingNotice",
    "ConsentRequest",
    "CountedApplication",
    "DailyApplications",
    "DailyHiring",
    "EmailLanguage",
    "EmailOptOut",
    "FormSnapshot",
    "HistoryEntry",
    "IdempotencyKey",
    "Interview",
    "Invitation",
    "JobAlert",
    "MailTemplate",
    "Message",
    "MessageFile",
    "MonthlyStages",
    "Note",
    "Offer",
    "Origin",
    "Outgoing",
    "Participant",
    "PersonChange",
    "PrivateFile",
    "Reason",
    "ScanState",
    "Scorecard",
    "Slot",
    "SlotSet",
    "Stage",
    "StageChange",
    "Status",
    "Submission",
    "SubmissionFile",
    "Tag",
    "Task",
    "Token",
    "ToldVacancy",
    "UsedProof",
    "VacancyChange",
    "without_undone",
]
