"""FILES_URL: s3://KEY:SECRET@HOST[:PORT]/BUCKET[?region=REGION&tls=off]. The settings import this
module: no Django here.
"""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

FORM = "s3://KEY:SECRET@HOST/BUCKET"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def parse(url: str) -> dict[str, str]:
    """Return the options of django-storages for the bucket of FILES_URL. Raise ValueError with a
    message that names the variable, and contains no secret.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        query = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
    except ValueError:
        raise ValueError(f"FILES_URL cannot be read: it must be {FORM}.") from None
    if parts.scheme != "s3":
        raise ValueError(f"FILES_URL must start with s3://: {FORM}.")
    if not (host and parts.username and parts.password) or parts.fragment:
        raise ValueError(
            f"FILES_URL must be {FORM}. Write / in key and secret as %2F, + as %2B, # as %23."
        )
    name = parts.path.strip("/")
    if not _BUCKET.fullmatch(name):
        raise ValueError(f"FILES_URL names the bucket {name!r}, which is no name.")
    has_tls, region = _options(query)
    host = f"[{host}]" if ":" in host else host
    endpoint = f"{'https' if has_tls else 'http'}://{host}{f':{port}' if port else ''}"
    return {
        "access_key": unquote(parts.username),
        "secret_key": unquote(parts.password),
        "bucket_name": name,
        "endpoint_url": endpoint,
        "region_name": region,
    }


def _options(query: dict[str, str]) -> tuple[bool, str]:
    """Return whether to use TLS, and the region."""
    tls, region = query.pop("tls", "on"), query.pop("region", "us-east-1")
    if tls not in ("on", "off"):
        raise ValueError(f"FILES_URL has tls={tls!r}, not on or off.")
    if query or not region:
        raise ValueError(
            f"FILES_URL has the parameters {sorted(query) or ['region=']}; use region and tls."
        )
    return tls == "on", region
