"""The settings of the servers that hostile requests are sent to: those of production, but that static files
need not be collected, passwords are cheap, and cookies have the names that tests know."""

from jobsite.settings import *  # noqa: F403
from jobsite.settings import STORAGES

STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "sessionid", "csrftoken"
