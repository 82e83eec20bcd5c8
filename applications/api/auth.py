"""Signing in and out with a bearer token (interface 5, docs/decisions.md #49)."""

from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from applications import tokens
from jobsite.api import caching
from jobsite.api.authentication import BearerAuthentication


class CredentialsSerializer(serializers.Serializer):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=4096, trim_whitespace=False)


class TokenViewSet(ViewSet):
    """POST name and password for a token; DELETE revokes the token that the request carries."""

    http_method_names = ("post", "delete", "options")
    authentication_classes = [BearerAuthentication]

    def get_permissions(self) -> list[Any]:
        return [IsAuthenticated() if self.request.method == "DELETE" else AllowAny()]

    def perform_authentication(self, request: Request) -> None:
        """Credentials are looked at where a permission asks: a stale token does not stop a new one."""

    def create(self, request: Request) -> Response:
        asked = CredentialsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user = authenticate(request._request, **asked.validated_data)
        if user is None:
            raise AuthenticationFailed("The user name or the password is wrong.")
        token, text = tokens.issue(user=user, lifetime=settings.TOKEN_LIFETIME)
        expires_at = serializers.DateTimeField().to_representation(token.expiry)
        return Response({"data": {"token": text, "expires_at": expires_at}})

    def destroy(self, request: Request) -> Response:
        request.auth.delete()
        return Response(status=204)

    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        caching.private(response)
        return response
