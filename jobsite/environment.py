"""Decides whether a configuration is safe to serve with. The settings import this module: no Django here."""

from collections.abc import Collection
from urllib.parse import urlsplit

LOOPBACK = {"localhost", ".localhost", "127.0.0.1", "::1", "[::1]", "unix"}
NEW_KEY = """python3 -c 'import secrets; print(secrets.token_urlsafe(50))' generates one."""


def unsafe_settings(
    *, secret_key: str, debug: bool, allowed_hosts: Collection[str], public_base_url: str, bind: str
) -> list[str]:
    """Return the reasons why a process with these settings must not start.

    A process that only this machine can reach may have a weak key and DEBUG; `bind` is the address that
    gunicorn listens on, as HOST:PORT.
    """
    host = urlsplit(public_base_url).hostname if public_base_url else "localhost"
    is_public = not {host, bind.rpartition(":")[0], *allowed_hosts} <= LOOPBACK
    if not secret_key:
        if debug and not allowed_hosts and not public_base_url and not is_public:
            return []
        return [f"SECRET_KEY must be set unless the site only serves this machine; {NEW_KEY}"]
    if debug and not is_public:
        return []
    reasons = []
    if debug:
        reasons.append("DEBUG is on: error pages would show source and settings to everyone. Unset it.")
    if secret_key.startswith("django-insecure-") or len(secret_key) < 50 or len(set(secret_key)) < 10:
        reasons.append(f"SECRET_KEY can be guessed: it must be 50 or more random characters; {NEW_KEY}")
    if not allowed_hosts:
        reasons.append("ALLOWED_HOSTS is empty: list the host names of the site.")
    if any("*" in name for name in allowed_hosts):
        reasons.append("ALLOWED_HOSTS has a *: list the hosts, or .example.com for all hosts of a domain.")
    return reasons
