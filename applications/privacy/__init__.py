"""Personal data of applicants: erasure, retention and export."""

from applications.privacy.accounts import (
    NoSuchAccountError,
    StaffAccountError,
    end_sessions,
    find,
    sessions_by_account,
)
from applications.privacy.deletion import KINDS
from applications.privacy.erasure import (
    erase,
    erase_again,
    erase_alert,
    erase_application,
    erase_chosen,
)
from applications.privacy.erasures import copy as copy_erasures
from applications.privacy.export import export, export_application
from applications.privacy.mentions import names_of, possible_mentions
from applications.privacy.pool import leave_pool
from applications.privacy.retention import not_permitted, purge, purge_credentials

__all__ = [
    "KINDS",
    "NoSuchAccountError",
    "StaffAccountError",
    "copy_erasures",
    "end_sessions",
    "erase",
    "erase_again",
    "erase_alert",
    "erase_application",
    "erase_chosen",
    "export",
    "export_application",
    "find",
    "leave_pool",
    "names_of",
    "not_permitted",
    "possible_mentions",
    "purge",
    "purge_credentials",
    "sessions_by_account",
]
