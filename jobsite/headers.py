"""What browsers are told beside each answer: where it may take scripts, styles and frames from, who may embed
it, what it may ask the device for.

What is no page of ours may do nothing at all, also where a browser is made to show it. A page gets what it
needs by the beginning of its path, or says so itself, as the documentation and the preview do.
"""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Any

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django_prose_editor.widgets import importmap

PAGES = ("/admin", "/account", "/docs", "/preview/")
_FEATURES = """accelerometer autoplay browsing-topics camera display-capture encrypted-media geolocation
gyroscope hid magnetometer microphone midi payment serial usb xr-spatial-tracking"""
PERMISSIONS = ", ".join(f"{feature}=()" for feature in _FEATURES.split())

_NOTHING_ELSE = {"default-src": [NONE], "base-uri": [NONE], "frame-ancestors": [NONE]}
ACCOUNT = _NOTHING_ELSE | {
    "script-src": [SELF],  # passkeys
    "style-src": [SELF],
    "img-src": [SELF, "data:"],  # the QR code of a second factor
    "connect-src": [SELF],
    "form-action": [SELF],
}


@lru_cache(maxsize=1)
def workplace() -> dict[str, list[Any]]:
    """The theme evaluates expressions in its attributes (Alpine) and sets styles; of the scripts in a page
    itself, only the text editor's import map runs."""
    inline = re.findall("<script[^>]*>(.*?)</script>", str(importmap), re.DOTALL)
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in inline]
    return _NOTHING_ELSE | {
        "script-src": [SELF, UNSAFE_EVAL, *(f"'sha256-{digest}'" for digest in digests)],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],  # the form builder's preview; newer themes show one page within another
        "frame-ancestors": [SELF],
        "form-action": [SELF],
    }


class Headers(CSPMiddleware):
    """Adds them to every answer that does not bring its own."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        path = request.path_info
        if not report_only and path.startswith(("/admin/", "/account/")):
            parts.config = parts.config or (workplace() if path.startswith("/admin/") else ACCOUNT)
        return parts

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        is_page = request.path_info.startswith(PAGES)
        # Other sites show our images and read the interface, by CORS; pages are nobody else's.
        readers = "same-origin" if is_page else "cross-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", readers)
        if is_page:
            response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response
