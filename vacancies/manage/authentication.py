"""Who calls the management interface, and what they may do. `ManageView` is the base of its views,
also of those of other apps.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotFound, PermissionDenied, Throttled
from rest_framework.request import Request
from rest_framework.views import APIView

from jobsite.api import caching, parameters
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


class ManageView(APIView):
    """A view of what a brand has. `methods` says which scope an integration needs for a method, and
    which query parameters it has.
    """

    authentication_classes = [IntegrationAuthentication]
    permission_classes = []
    schema: Any = None  # openapi.json describes it, not the public document
    methods: ClassVar[dict[str, tuple[IntegrationScope, tuple[str, ...]]]]
    integration: Integration
    brand: Brand | None  # None: the address has "-"
    query: dict[str, str]

    def initial(self, request: Request, *args: object, **kwargs: Any) -> None:
        """Raises PermissionDenied, Throttled, NotFound and InvalidParameters."""
        # The view reads the body itself, and Django would parse a form.
        request._request.POST = QueryDict()  # type: ignore[misc, assignment]
        super().initial(request, *args, **kwargs)
        token: Any = request.auth
        self.integration = token.integration
        method = "GET" if request.method == "HEAD" else request.method
        if method not in self.methods:
            return
        scope, names = self.methods[method]
        if scope not in self.integration.scopes:
            raise PermissionDenied(f"This token does not have the scope {scope}.")
        limit = RateLimit(settings.INTEGRATION_RATE)
        if not limit.allow(f"integration:{self.integration.pk}"):
            raise Throttled(limit.wait())
        self.brand = self._find_brand(kwargs["brand"])
        self.query = parameters.read(request.query_params, names, is_strict=True)

    def finalize_response(
        self, request: HttpRequest, response: HttpResponse, *args: object, **kwargs: object
    ) -> HttpResponse:
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type, assignment]
        caching.private(response)
        return response

    def _find_brand(self, slug: str) -> Brand | None:
        brand = Brand.of_slug(slug)
        if not (brand or slug == NO_BRAND) or not self.integration.reaches(brand):
            raise NotFound(NO_SUCH_BRAND)
        return brand
