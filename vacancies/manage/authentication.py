"""Who calls the management interface, and what they may do. `ManageView` is the base of its views,
also of those of other apps.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotFound, PermissionDenied, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from jobsite.api import caching
from jobsite.api.problems import InvalidParameters, ParameterError
from jobsite.api.throttling import RateLimit
from vacancies.manage.tokens import find_token
from vacancies.models import Brand, Integration, IntegrationScope, IntegrationToken

NO_BRAND = "-"  # in addresses
NO_SUCH_BRAND = "There is no such brand for this token. The slug of a brand, or - for none."


class IntegrationAuthentication(BaseAuthentication):
    """Bearer tokens of integrations. Sessions and the tokens of people are not accepted, so no
    page of another site can use the credentials of a visitor.
    """

    def authenticate(self, request: Request) -> tuple[Any, IntegrationToken]:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer"
        token = find_token(text.strip(), at=timezone.now()) if is_bearer else None
        if token is None:
            limit = RateLimit()
            if not limit.allow_client(request, "manage"):
                raise Throttled(limit.wait())
            raise AuthenticationFailed("A valid token of an integration is required.")
        return token.integration.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """Allows integrations with the scope that the view needs for the method."""

    def has_permission(self, request: Request, view: Any) -> bool:
        method = "GET" if request.method == "HEAD" else request.method
        if scope := view.scopes.get(method):
            require(integration_of(request), scope)
        return True


class IntegrationRate(BaseThrottle):
    """INTEGRATION_RATE requests per integration, whatever its addresses."""

    def allow_request(self, request: Request, view: object) -> bool:
        self._limit = RateLimit(settings.INTEGRATION_RATE)
        return self._limit.allow(f"integration:{integration_of(request).pk}")

    def wait(self) -> float:
        return self._limit.wait()


class ManageView(APIView):
    """A view that integrations with one of the `scopes`, by method, may call."""

    authentication_classes = [IntegrationAuthentication]
    permission_classes = [HasScope]
    throttle_classes = [IntegrationRate]
    schema: Any = None  # vacancies.manage.document describes it, not the public document
    scopes: ClassVar[dict[str, IntegrationScope]] = {}

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        # The view reads the body itself, and Django would parse a form.
        request._request.POST = QueryDict()  # type: ignore[misc, assignment]
        super().initial(request, *args, **kwargs)

    def finalize_response(
        self, request: HttpRequest, response: HttpResponse, *args: object, **kwargs: object
    ) -> HttpResponse:
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type, assignment]
        caching.private(response)
        return response


def integration_of(request: Request) -> Integration:
    token: Any = request.auth  # of IntegrationAuthentication
    return token.integration


def require(integration: Integration, scope: IntegrationScope) -> None:
    """Raise PermissionDenied, which names `scope`, if `integration` does not have it."""
    if scope not in integration.scopes:
        raise PermissionDenied(f"This token does not have the scope {scope}.")


def brand_of(request: Request, slug: str) -> Brand | None:
    """Return the brand `slug`, None for "-". Raises NotFound if the integration has no access."""
    brand = None if slug == NO_BRAND else Brand.objects.filter(slug=slug).first()
    is_known = brand is not None or slug == NO_BRAND
    if not is_known or not integration_of(request).reaches(brand):
        raise NotFound(NO_SUCH_BRAND)
    return brand


def read_query(request: Request, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return the query parameters. Raises InvalidParameters for an unknown one, and for one that is
    given twice.
    """
    errors = []
    for name, values in request.query_params.lists():
        if name not in allowed:
            text = f"{name[:60]} is not a parameter here."
            errors.append(ParameterError(name[:60], text, values[0][:60], list(allowed)))
        elif len(values) > 1:
            errors.append(ParameterError(name, f"{name} is given more than once.", "", "one value"))
    if errors:
        raise InvalidParameters(errors)
    return request.query_params.dict()
