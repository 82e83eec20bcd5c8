"""What browsers are told beside each answer: where it may take scripts, styles and frames from, who may embed
it, what it may ask the device for.

What is no page of ours may do nothing at all, also where a browser is made to show it. A page gets what it
needs by the beginning of its path, or says so itself, as the documentation and the preview do.
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

PAGES = ("/admin", "/account", "/docs", "/preview/")
_FEATURES = """accelerometer autoplay browsing-topics camera display-capture encrypted-media geolocation
gyroscope hid magnetometer microphone midi payment serial usb xr-spatial-tracking"""
PERMISSIONS = ", ".join(f"{feature}=()" for feature in _FEATURES.split())

_NOTHING_ELSE = {"default-src": [NONE], "base-uri": [NONE], "frame-ancestors": [NONE]}
NOTHING = _NOTHING_ELSE | {"form-action": [NONE], "sandbox": True}
ACCOUNT = _NOTHING_ELSE | {
    "script-src": [SELF],  # passkeys
    "style-src": [SELF],
    "img-src": [SELF, "data:"],  # the QR code of a second factor
    "connect-src": [SELF],
    "form-action": [SELF],
}
# The theme evaluates expressions in its attributes (Alpine) and sets styles; of the scripts that are in a
# page itself, only the text editor's import map runs, which is added by its digest.
WORKPLACE = _NOTHING_ELSE | {
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": ["*", "data:", "blob:"],  # recruiters see the images that are kept elsewhere
    "font-src": [SELF],
    "connect-src": [SELF],
    "frame-src": [SELF],  # the form builder's preview; newer themes show one page within another
    "frame-ancestors": [SELF],
    "form-action": [SELF],
}


@lru_cache(maxsize=3)
def policy(kind: str) -> str:
    """The policy of paths below /`kind`/; the same in each process."""
    directives: dict[str, Any] = {"admin": WORKPLACE, "account": ACCOUNT}.get(kind, NOTHING)
    if kind == "admin":
        inline = re.findall("<script[^>]*>(.*?)</script>", str(importmap), re.DOTALL)
        digests = [b64encode(sha256(text.encode()).digest()).decode() for text in inline]
        allowed = [*directives["script-src"], *(f"'sha256-{digest}'" for digest in digests)]
        directives = directives | {"script-src": allowed}
    return "; ".join(sorted(build_policy(directives).split("; ")))


class Headers:
    """Adds them to every answer that does not bring its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        headers, path = response.headers, request.path_info
        is_page = path.startswith(PAGES)
        kind = path[1:].partition("/")[0] if is_page else ""
        if not (settings.DEBUG and is_page and response.status_code in (404, 500)):  # Django's own pages
            headers.setdefault(HEADER, policy(kind if kind in ("admin", "account") else ""))
        # Other sites show our images and read the interface, by CORS; pages are nobody else's.
        headers.setdefault("Cross-Origin-Resource-Policy", "same-origin" if is_page else "cross-origin")
        if is_page:
            headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response
