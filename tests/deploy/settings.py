"""The settings of production, with a patient cache: on a busy machine its server sometimes takes
longer than a request waits for it, and then each process counts the requests on its own.
"""

from jobsite.settings import *  # noqa: F403
from jobsite.settings import CACHES

CACHES["default"]["OPTIONS"] = {"socket_connect_timeout": 30, "socket_timeout": 30}
