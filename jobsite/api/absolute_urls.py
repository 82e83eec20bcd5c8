"""Absolute URLs of this service."""

from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.encoding import punycode


def absolute(request: HttpRequest, path: str) -> str:
    """Return `path` below PUBLIC_BASE_URL, else below the request's checked host.
    Return a URL unchanged.
    """
    if not path.startswith("/"):
        return path
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL + path
    return f"{request.scheme}://{request.get_host()}{path}"


def with_query(url: str, **values: str) -> str:
    """Return `url` with the parameters that are not empty, such as the `source` of an applicant."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def host_url(host: str) -> str:
    """Return the base URL of a brand's `host`, or "" without one.
    It has the scheme of PUBLIC_BASE_URL.
    """
    scheme = settings.PUBLIC_BASE_URL.partition(":")[0] or ("http" if settings.DEBUG else "https")
    return f"{scheme}://{host}" if host else ""


def is_main_host(host: str) -> bool:
    """Whether `host` is a name of the main site, that of PUBLIC_BASE_URL: in any case, with a dot
    at the end, with or without its port. A proxy may pass on the name alone.
    """
    main = urlsplit(settings.PUBLIC_BASE_URL.lower())
    try:
        its_domain, its_port = split_domain_port(punycode(main.netloc))
        domain, port = split_domain_port(punycode(host.lower()))
    except UnicodeError:  # no host name
        return False
    default = {"http": "80", "https": "443"}.get(main.scheme)
    return bool(domain) and domain == its_domain and port in ("", its_port or default)


def base_url(request: HttpRequest) -> str:
    """Return the base URL of this service for use outside the response: mails, and the origin of
    passkeys.

    It is PUBLIC_BASE_URL, else the host of the request, which ALLOWED_HOSTS has checked. Nothing
    checks the port that a client sends, so it is used in development only.
    """
    if settings.PUBLIC_BASE_URL:
        return settings.PUBLIC_BASE_URL
    host = request.get_host()
    return f"{request.scheme}://{host if settings.DEBUG else split_domain_port(host)[0]}"


def base_origin(request: HttpRequest) -> str:
    """Return the origin of `base_url` as browsers write it:
    lower case, without the default port.
    """
    url = urlsplit(base_url(request).lower())
    host, port = split_domain_port(url.netloc)
    is_default = port == {"http": "80", "https": "443"}.get(url.scheme, "")
    return f"{url.scheme}://{host}" + (f":{port}" if port and not is_default else "")
