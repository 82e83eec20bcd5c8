"""Personal data of applicants: erasure, retention and export."""

from applications.privacy.accounts import (
    NoSuchAccountError,
    StaffAccountError,
    end_sessions,
    find,
    sessions_by_account,
)
from applications.privacy.deletion import KINDS
from applications.privacy.erasure import erase, erase_again, erase_application
from applications.privacy.erasures import copy as copy_erasures
from applications.privacy.export import export, export_application
from applications.privacy.mentions import ERASED
from applications.privacy.retention import has_own_periods, purge, purge_credentials

__all__ = [
    "ERASED",
    "KINDS",
    "NoSuchAccountError",
    "StaffAccountError",
    "copy_erasures",
    "end_sessions",
    "erase",
    "erase_again",
    "erase_application",
    "export",
    "export_application",
    "find",
    "has_own_periods",
    "purge",
    "purge_credentials",
    "sessions_by_account",
]
