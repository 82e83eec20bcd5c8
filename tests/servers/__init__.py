"""The one way to start servers in tests: PostgreSQL, Redis, gunicorn, nginx and a mail server.

Each is a process on a free loopback port below 32000, except the mail server, which is a thread. A
test can kill and freeze it. Only processes that were started here are stopped.
"""

from tests.servers.databases import POSTGRES, REDIS, Postgres, Redis
from tests.servers.instance import Instance
from tests.servers.nginx import HOST, NGINX, LoadBalancer, Nginx, ProductionNginx
from tests.servers.object_store import SWIFT, Swift
from tests.servers.process import (
    ROOT,
    SYSTEM_ENV,
    TIMEOUT,
    Server,
    children,
    folder,
    folder_with_logs,
    free_port,
    until,
)
from tests.servers.receiver import Receiver
from tests.servers.smtp import MailServer
from tests.servers.stub import stub_server
from tests.servers.template import copy_template
from tests.servers.web import Application, Gunicorn, Web, get

__all__ = [
    "HOST",
    "NGINX",
    "POSTGRES",
    "REDIS",
    "ROOT",
    "SYSTEM_ENV",
    "TIMEOUT",
    "Application",
    "Gunicorn",
]
__all__ += [
    "Instance",
    "LoadBalancer",
    "MailServer",
    "Nginx",
    "Postgres",
    "ProductionNginx",
    "Receiver",
    "Redis",
]
__all__ += [
    "SWIFT",
    "Server",
    "Swift",
    "Web",
    "children",
    "copy_template",
    "folder",
    "folder_with_logs",
    "free_port",
    "get",
]
__all__ += ["stub_server", "until"]
