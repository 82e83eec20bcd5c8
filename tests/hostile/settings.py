"""The settings of the servers that get the hostile requests: those of production, except that
static files need not be collected, hashing passwords is cheap, and cookies have the names that the
requests use.
"""

from jobsite.settings import *  # noqa: F403
from jobsite.settings import STORAGES

STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "sessionid", "csrftoken"
