"""Types that several packages use."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.functional import Promise

if TYPE_CHECKING:  # models are not loaded when apps import this module
    from django.contrib.auth.models import User

# A text, or one that is translated when it is used.
StrOrPromise = str | Promise
# A JSON object whose keys a schema, a serializer or a reader checks.
JsonObject = dict[str, Any]
# The context of a template.
Context = dict[str, object]


class UserRequest(HttpRequest):
    """A request of a view that only signed-in users reach, such as those of the admin.
    For annotations.
    """

    user: "User"
    once: dict[Callable[..., Any], Any]  # the answers of functions that are `once_per_request`
