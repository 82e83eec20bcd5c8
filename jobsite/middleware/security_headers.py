"""Security headers: Content-Security-Policy, Permissions-Policy, Cross-Origin-Resource-Policy.

The policy depends on the prefix of the path. Responses that are not pages may load nothing, also if
a browser shows them. The documentation and the preview set their own policy.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

from csp.constants import HEADER, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django_prose_editor.widgets import importmap

from jobsite.appearance import digest

PAGES = ("/admin", "/account", "/apply/", "/docs", "/preview/", "/vacancies/")
_FEATURES = """accelerometer autoplay browsing-topics camera display-capture encrypted-media geolocation
gyroscope hid magnetometer microphone midi payment serial usb xr-spatial-tracking"""
PERMISSIONS = ", ".join(f"{feature}=()" for feature in _FEATURES.split())

Policy = dict[str, Any]  # by directive
_NOTHING_ELSE = {"default-src": [NONE], "base-uri": [NONE], "frame-ancestors": [NONE]}
NOTHING: Policy = _NOTHING_ELSE | {"form-action": [NONE], "sandbox": True}
LOGO = re.findall("^https://[^/]+", settings.SITE_LOGO)
ACCOUNT: Policy = _NOTHING_ELSE | {
    "script-src": [SELF],  # passkeys, form.js and its web worker
    "style-src": [SELF, digest()],  # the colors of the site
    "img-src": [SELF, "data:", *LOGO],  # the QR code of a second factor
    "connect-src": [SELF],
    "form-action": [SELF],
}
# The theme evaluates expressions in attributes (Alpine) and sets styles. The only inline script is
# the import map of the text editor, which is allowed by its digest.
ADMIN: Policy = _NOTHING_ELSE | {
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": ["*", "data:", "blob:"],  # images of vacancies may be on other sites
    "font-src": [SELF],
    "connect-src": [SELF],
    "frame-src": [SELF],  # the preview of the form builder, and dialogs of newer themes
    "frame-ancestors": [SELF],
    "form-action": [SELF],
}

# The career site (jobsite/site/views.py): no script. Images of vacancies may be on other sites.
# Tools that check a page read its robots.txt with its policy.
SITE: Policy = _NOTHING_ELSE | {
    "style-src": [SELF],
    "img-src": ["*", "data:"],
    "connect-src": [SELF],
    "form-action": [SELF],
}

POLICIES = {"admin": ADMIN, "account": ACCOUNT, "apply": ACCOUNT, "site": SITE}


@lru_cache(maxsize=len(POLICIES) + 1)
def policy(kind: str) -> str:
    """Return the policy of paths below /`kind`/; the same in each process."""
    directives = POLICIES.get(kind, NOTHING)
    if kind == "admin":
        inline = re.findall("<script[^>]*>(.*?)</script>", str(importmap), re.DOTALL)
        digests = [b64encode(sha256(text.encode()).digest()).decode() for text in inline]
        allowed = [*directives["script-src"], *(f"'sha256-{digest}'" for digest in digests)]
        directives = directives | {"script-src": allowed}
    return "; ".join(sorted(build_policy(directives).split("; ")))


class SecurityHeadersMiddleware:
    """Adds the headers to responses that do not set their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        headers, path = response.headers, request.path_info
        is_page = path.startswith(PAGES)
        kind = path[1:].partition("/")[0] if is_page else ""
        is_html = headers.get("Content-Type", "").startswith("text/html")
        if settings.CAREER_SITE and not is_page and is_html and response.status_code >= 400:
            kind = "site"  # an unknown address: its page has the layout of the career site
        # Django's debug pages.
        if not (settings.DEBUG and is_page and response.status_code in (404, 500)):
            headers.setdefault(HEADER, policy(kind if kind in POLICIES else ""))
        # Other sites may embed images and use the API, but not embed pages.
        headers.setdefault(
            "Cross-Origin-Resource-Policy", "same-origin" if is_page else "cross-origin"
        )
        if is_page:
            headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response
