"""Bearer tokens: sign in and sign out (interface 5, docs/decisions.md #48, #49)."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import APIException, AuthenticationFailed, ParseError
from rest_framework.parsers import JSONParser
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from applications import tokens
from applications.api import schema
from applications.api.bodies import COMPRESSED
from jobsite.api import caching
from jobsite.api.authentication import BearerAuthentication
from jobsite.api.openapi import example, titled
from jobsite.api.throttling import RateLimit
from jobsite.types import JsonObject
from jobsite.unseen import visible

if "allauth" in settings.INSTALLED_APPS:
    from jobsite.accounts import sign_in


class CredentialsSerializer(serializers.Serializer):
    """A user name, as long as accounts allow, and a password, as it was typed."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=4096, trim_whitespace=False)
    default_error_messages: ClassVar[dict[str, Any]] = {"invalid": "The JSON must be an object."}

    def validate_username(self, username: str) -> str:
        return visible(username)


class CompressedError(APIException):
    """A body with a Content-Encoding."""

    status_code = 415
    default_detail = COMPRESSED


class ShallowJSONParser(JSONParser):
    """JSON. A body that nests too deeply for Python is a 400, not a 500."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> JsonObject:
        if (
            parser_context["request"].headers.get("Content-Encoding", "identity").lower()
            != "identity"
        ):
            raise CompressedError
        try:
            document: JsonObject = super().parse(stream, media_type, parser_context)
            return document
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ParseError:  # with Python's own text
            raise ParseError("The JSON is invalid.") from None


@extend_schema_view(
    create=extend_schema(
        operation={
            "operationId": "createToken",
            "summary": "Sign in for a token",
            "description": "Returns a bearer token for a user name and a password. It is shown "
            "once. It is valid until `expires_at` or until the password changes. After ten wrong "
            "passwords for a name from one address, the response is 429 for a while.",
            "tags": ["Applications"],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": schema.complete(schema.CREDENTIALS)}},
            },
            "responses": schema.responses(
                {
                    200: {
                        "description": "The token.",
                        "headers": {
                            "Cache-Control": {"$ref": "#/components/headers/Private"},
                            "Time-Zone": {"$ref": "#/components/headers/Time-Zone"},
                        },
                        "content": {
                            "application/json": {
                                "schema": schema.complete({"data": schema.complete(schema.TOKEN)}),
                                "examples": titled({"A token": {"data": example(schema.TOKEN)}}),
                            }
                        },
                    }
                },
                schema.refused(
                    400,
                    "The body is not a JSON object with a user name and a password.",
                    schema.BAD_BODY,
                ),
                schema.refused(
                    415, "The `Content-Type` of the body is not JSON, or the body is compressed."
                ),
                errors={401: "Unauthorized", 429: "TooManyRequests"},
            ),
        }
    ),
    destroy=extend_schema(
        operation={
            "operationId": "revokeToken",
            "summary": "Sign out",
            "description": "Revokes the token of the request. Other tokens of the user stay valid.",
            "tags": ["Applications"],
            "security": [{"bearer": []}],
            "responses": schema.responses(
                {204: {"description": "The token is revoked."}},
                errors={401: "Unauthorized", 429: "TooManyRequests"},
            ),
        }
    ),
)
class TokenViewSet(ViewSet):
    """POST a user name and password to get a token. DELETE revokes the token of the request."""

    http_method_names = ("post", "delete", "options")
    authentication_classes = [BearerAuthentication]
    parser_classes = [ShallowJSONParser]

    def get_permissions(self) -> list[object]:
        return [IsAuthenticated() if self.request.method == "DELETE" else AllowAny()]

    def get_throttles(self) -> list[object]:
        tries = [RateLimit(settings.SIGN_IN_RATE)] if self.request.method == "POST" else []
        return [*super().get_throttles(), *tries]

    def perform_authentication(self, request: Request) -> None:
        """Do nothing: permissions authenticate where they need to.
        A stale token prevents no new one.
        """

    def create(self, request: Request) -> Response:
        credentials = CredentialsSerializer(data=request.data)
        credentials.is_valid(raise_exception=True)
        user = authenticate(request._request, **credentials.validated_data)
        if user is None:
            raise AuthenticationFailed("The user name or the password is wrong.")
        if "allauth" in settings.INSTALLED_APPS and sign_in.needs_factor(user):
            raise AuthenticationFailed(
                "This account needs a second factor: a password is not enough."
            )
        # starts no session, but resets the count of failures and stores the time of the sign-in
        user_logged_in.send(sender=type(user), request=request._request, user=user)
        token, text = tokens.issue(user=user, lifetime=settings.TOKEN_LIFETIME)
        assert token.expiry is not None  # TOKEN_LIFETIME is a period
        expires_at = serializers.DateTimeField().to_representation(token.expiry)
        return Response({"data": {"token": text, "expires_at": expires_at}})

    def destroy(self, request: Request) -> Response:
        request.auth.delete()
        return Response(status=204)

    def options(self, request: Request, *args: object, **kwargs: object) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def finalize_response(
        self, request: Request, response: Response, *args: object, **kwargs: object
    ) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        caching.private(response)
        return response
