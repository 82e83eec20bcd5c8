"""Reads the environment variables, and decides whether a configuration is safe to serve with.

The settings import this module: nothing here may read them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.encoding import punycode

LOOPBACK = {"localhost", ".localhost", "127.0.0.1", "::1", "[::1]", "unix"}
# Variables of other programs that read the same file: deploy/gunicorn.conf.py, reload.sh,
# compose.yaml, and libraries.
OF_PROGRAMS = {"WEB_THREADS", "RELOAD_SECONDS", "DATABASE_PASSWORD", "POSTGRES_PASSWORD", "DOMAIN"}
OF_PROGRAMS |= {
    "CERTIFICATES",
    "OIDC_CLIENT_ID",
    "OIDC_CLIENT_SECRET",
}
OF_LIBRARIES = (
    r"(PG|GUNICORN_|PYTHON|DJANGO_|LC_|SSL_)\w+|TZ|TMPDIR|LANG|PATH|HOME|\w+_(proxy|PROXY)"
)
NEW_KEY = """python3 -c 'import secrets; print(secrets.token_urlsafe(50))' generates one."""


def is_random(key: str) -> bool:
    """Return whether `key` can be one of 50 or more random characters."""
    return len(key) >= 50 and len(set(key)) >= 10


def unsafe_settings(
    *, secret_key: str, debug: bool, allowed_hosts: Collection[str], public_base_url: str, bind: str
) -> list[str]:
    """Return the reasons why a process with these settings must not start.

    A process that only this machine can reach may have a weak key and DEBUG; `bind` is the address
    that gunicorn listens on, as HOST:PORT.
    """
    host = urlsplit(public_base_url).hostname if public_base_url else "localhost"
    is_public = not {host, bind.rpartition(":")[0], *allowed_hosts} <= LOOPBACK
    if not secret_key:
        is_here = debug and not allowed_hosts and not public_base_url and not is_public
        text = f"SECRET_KEY must be set unless the site only serves this machine; {NEW_KEY}"
        return [] if is_here else [text]
    if debug and not is_public:
        return []
    return [*_unsafe_in_public(secret_key, debug=debug, allowed_hosts=allowed_hosts)]


def _unsafe_in_public(
    secret_key: str, *, debug: bool, allowed_hosts: Collection[str]
) -> Iterator[str]:
    if debug:
        yield "DEBUG is on: error pages would show source and settings to everyone. Unset it."
    if secret_key.startswith("django-insecure-") or not is_random(secret_key):
        yield f"SECRET_KEY can be guessed: it must be 50 or more random characters; {NEW_KEY}"
    if not allowed_hosts:
        yield "ALLOWED_HOSTS is empty: list the host names of the site."
    if any("*" in name for name in allowed_hosts):
        yield "ALLOWED_HOSTS has a *: list the hosts, or .example.com for all hosts of a domain."


Options = dict[str, Any]  # of a database, a cache or a mail server
Ports = list[int]  # `int` is a method below


def _port(text: str) -> int:
    return range(1, 65_536).index(int(text)) + 1  # raises ValueError


class Environment(environ.Env):
    """Reads environment variables. An invalid value raises ImproperlyConfigured: one line with the
    name of the variable and what is allowed. The line does not quote a URL, because it may contain
    a password.
    """

    TRUE, FALSE = ("on", "yes", "true", "y", "ok", "1"), ("off", "no", "false", "n", "0", "")

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()  # of the variables that the settings read

    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        self.names.add(var)
        return super().get_value(var, *args, **kwargs)

    def bool(self, var: str, default: Any = environ.Env.NOTSET) -> bool:
        value = self.str(var, "on" if default else "off").strip().lower()
        if value not in self.TRUE + self.FALSE:
            raise ImproperlyConfigured(f"{var} is {value!r}, not on or off.")
        return value in self.TRUE

    def int(
        self, var: str, default: Any = environ.Env.NOTSET, *, least: int = 0, most: int = 10**9
    ) -> int:
        value = self.str(var, str(default)).strip()
        if not re.fullmatch(r"-?[0-9]{1,10}", value) or not least <= int(value) <= most:
            limit = f"from {least} to {most}" if most < 10**9 else f"of {least} or more"
            raise ImproperlyConfigured(f"{var} is {value!r}, not a whole number {limit}.")
        return int(value)

    def choice(self, var: str, default: str, choices: tuple[str, ...]) -> str:
        value: str = self.str(var, default)
        if value not in choices:
            allowed = f"{', '.join(choices[:-1])} or {choices[-1]}"
            raise ImproperlyConfigured(f"{var} is {value!r}, not {allowed}.")
        return value

    def language(self, var: str, default: str, languages: Iterable[str]) -> str:
        value: str = self.str(var, default)
        if not re.fullmatch(rf"({'|'.join(languages)})(-\w+)*", value, re.IGNORECASE):
            raise ImproperlyConfigured(
                f"{var} is {value!r}, not {', '.join(languages)} or a variant of one."
            )
        return value

    def color(self, var: str, default: str) -> str:
        value: str = self.str(var, default).strip().lower()
        if not re.fullmatch("#[0-9a-f]{6}", value):
            raise ImproperlyConfigured(f"{var} is {value!r}, not a color such as #0b57b0.")
        return value

    def image_url(self, var: str) -> str:
        value: str = self.str(var, "").strip()
        if not re.fullmatch(r"(https://[\w.:-]+)?/[^\s\"'<>;,/][^\s\"'<>;,]*|", value):
            raise ImproperlyConfigured(
                f"{var} is {value!r}, not an address such as https://www.example.com/logo.svg or "
                "/files/logo.svg, without ; , and quotes."
            )
        return value

    def countries(self, var: str, countries: Collection[str]) -> list[str]:
        codes = [code.strip().upper() for code in self.list(var, default=[])]
        for code in codes:
            if code not in countries:
                raise ImproperlyConfigured(
                    f"{var} contains {code!r}, not a country code of ISO 3166-1 such as BE. "
                    "Separate codes by commas."
                )
        return codes

    def languages(self, var: str, languages: Collection[str]) -> list[str]:
        codes = [code.strip().lower() for code in self.list(var, default=[])]
        for code in codes:
            if code not in languages:
                hint = f"write {code[:2]}. " if code[:2] in languages else ""
                raise ImproperlyConfigured(
                    f"{var} contains {code[:40]!r}, not a language code of ISO 639-1 such as fr: "
                    f"{hint}Separate codes by commas."
                )
        return [*dict.fromkeys(codes)]

    def domains(self, var: str) -> list[str]:
        """Return domains of e-mail addresses, in lower case and in the form of DNS."""
        domains = [domain.strip().lower() for domain in self.list(var, default=[])]
        for domain in domains:
            if not re.fullmatch(r"[\w-]{1,50}(\.[\w-]{1,50})+", domain):
                raise ImproperlyConfigured(
                    f"{var} contains {domain!r}, not a domain such as example.com. Separate "
                    "domains by commas."
                )
        return [punycode(domain) for domain in domains]

    def networks(self, var: str) -> list[IPv4Network | IPv6Network]:
        return self._each(var, ip_network, "a network such as 10.1.0.0/16")

    def ports(self, var: str) -> Ports:
        return self._each(var, _port, "a port from 1 to 65535")

    def _each(self, var: str, read: Callable[[str], Any], wanted: str) -> list[Any]:
        texts = [text.strip() for text in self.list(var, default=[])]
        try:
            return [read(text) for text in texts]
        except ValueError:
            raise ImproperlyConfigured(
                f"{var} is {', '.join(texts)!r}, not {wanted}. Separate several by commas."
            ) from None

    def time_zone(self, var: str, default: str) -> str:
        value: str = self.str(var, default)
        try:
            ZoneInfo(value)
        except (OSError, ValueError, ZoneInfoNotFoundError):
            raise ImproperlyConfigured(
                f"{var} is {value!r}, not a time zone such as Europe/Brussels."
            ) from None
        return value

    def database(self, var: str, default: str = "") -> Options:
        schemes = ("postgres", "postgresql", "pgsql", "psql", "sqlite")
        example = "postgres://user:password@host/name"
        return self._parsed(var, default, schemes, example, self.db_url_config)

    def cache_server(self, var: str, default: str) -> Options:
        # Others unpickle values: whoever can write to them can execute code.
        schemes = (
            "redis",
            "rediss",
            "rediscache",
            "valkey",
            "valkeys",
            "locmemcache",
            "dummycache",
        )

        def parse(url: str) -> Options:  # valkey speaks the protocol of redis
            for each in url.split(","):
                _ = urlsplit(each).port  # ValueError now, not when the cache is used
            return self.cache_url_config(
                f"redis{url.removeprefix('valkey')}" if "valkey" in url[:6] else url
            )

        return self._parsed(var, default, schemes, "redis://127.0.0.1:6379/0", parse)

    def mail_server(self, var: str, default: str) -> Options:
        example = "smtp+tls://user:password@host:587"

        def parse(url: str) -> Options:
            """Return the settings. The path of a folder begins with the third slash, as in file:///folder."""
            return self.email_url_config(re.sub("^filemail:///(?=[^/])", "filemail:////", url))

        return self._parsed(var, default, self.EMAIL_SCHEMES, example, parse)

    def _parsed(
        self,
        var: str,
        default: str,
        schemes: Iterable[str],
        example: str,
        parse: Callable[[str], Options],
    ) -> Options:
        url = self.str(var, default).strip()
        if url[:1] in ("'", '"'):
            raise ImproperlyConfigured(
                f"{var} begins with a quotation mark: write the value without quotes."
            )
        scheme = re.match(r"([\w+.-]{0,30})://", url)
        if not scheme or scheme[1] not in schemes:
            found = f"begins with {scheme[0]}" if scheme else "has no ://" if url else "is empty"
            raise ImproperlyConfigured(f"{var} {found}; it must be like {example}.")
        try:
            return parse(url)
        except (ImproperlyConfigured, KeyError, ValueError):
            hint = "Percent-encode @ : / # in a password as %40 %3A %2F %23."
            raise ImproperlyConfigured(
                f"{var} cannot be read; it must be like {example}. {hint}"
            ) from None

    def unknown(self, file: Path) -> dict[str, str]:
        """Return the names of variables that nothing reads, each with the name that was probably
        meant or "": all names in `file`, and names in the environment that are close to one of
        ours.
        """
        known = self.names | OF_PROGRAMS
        text = file.read_text(errors="replace") if file.is_file() else ""
        written = re.findall(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", text, re.MULTILINE)
        names = {name for name in written if not re.fullmatch(OF_LIBRARIES, name)} | set(
            self.ENVIRON
        )
        meant = {
            name: get_close_matches(name.upper(), known, 1, 0.84) for name in sorted(names - known)
        }
        return {
            name: found[0] if found else ""
            for name, found in meant.items()
            if found or name in written
        }


env = Environment()
