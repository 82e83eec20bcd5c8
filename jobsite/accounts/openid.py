"""OpenID Connect by django-allauth, with additional checks. Only imported if OIDC_ISSUER is set.

allauth: `state`, PKCE, the exchange of the code, and that there is an access token.
TLS: that the provider's documents come from its host. `LimitedSession` follows no redirect.
PyJWT: signature, `iss`, `aud`, `exp`, `nbf`, `iat`, and the type of each. allauth's own call of it
accepts tokens without `exp`, does not verify what comes from the token endpoint, and else refuses
each difference of clocks and tokens without `kid`.
This module (docs/decisions.md #102): size and type of documents, the issuer of the discovery
document (Discovery 4.3), the key of a token, `azp`, the form of `sub`, the nonce (Core 3.1.3.7),
`sub` of userinfo (Core 5.3.2), and whose account it is.
"""

import logging
import time
import unicodedata
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import jwt
from allauth.account.models import EmailAddress
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare, get_random_string
from django.utils.translation import gettext as _
from requests import RequestException, Response, Session

from jobsite.api.absolute_urls import base_url
from jobsite.types import JsonObject

logger = logging.getLogger(__name__)

DOCUMENT_MAX = 256 * 1024  # bytes of a document of the provider
SECONDS_MAX = 10  # for one of them
SUBJECT_MAX = 255  # OpenID Connect Core 2
UID_MAX = 191  # length of allauth's column
LEEWAY = 60  # seconds of clock difference
ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
ALGORITHMS += ["EdDSA"]


class UnusableError(RequestException):
    """The provider's document is too large or has the wrong type."""


class UntrustedResponseError(OAuth2Error):
    """The provider's response is for another user, site or time, or is not trusted."""


class LimitedSession(Session):
    """Reads at most DOCUMENT_MAX bytes in SECONDS_MAX seconds. Follows no redirect: documents must
    come from the provider, and the client secret must not go anywhere else.
    """

    def request(self, *args: Any, **kwargs: Any) -> Response:
        end = time.monotonic() + SECONDS_MAX
        kwargs |= {"stream": True, "timeout": SECONDS_MAX, "allow_redirects": False}
        response = super().request(*args, **kwargs)
        if response.is_redirect:
            raise UnusableError("it redirects to another address")
        body = bytearray()
        for chunk in response.iter_content(16 * 1024):
            body += chunk
            if len(body) > DOCUMENT_MAX or time.monotonic() > end:
                response.close()
                raise UnusableError(f"more than {DOCUMENT_MAX} bytes or {SECONDS_MAX} seconds")
        response._content = bytes(body)
        return response


def fetch(url: str, what: str, **options: object) -> JsonObject:
    """Return the JSON object at `url`.
    Raises UnusableError if it is not one, otherwise RequestException.
    """
    with get_adapter().get_requests_session() as session:
        response = session.get(url, **options)
    response.raise_for_status()
    try:
        document = response.json()
    except (RecursionError, ValueError):
        raise UnusableError(f"{what} is not JSON") from None
    if not isinstance(document, dict):
        raise UnusableError(f"{what} is a {type(document).__name__}, not an object")
    return document


class OAuth2Adapter(OpenIDConnectOAuth2Adapter):
    """The authorization code flow: discovery, token, id_token and userinfo."""

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return the redirect_uri. allauth would repeat the port of the Host header, which nothing
        checks.
        """
        return base_url(request) + reverse("openid_connect_callback", args=[self.provider_id])

    @property
    def openid_config(self) -> JsonObject:
        if not hasattr(self, "_openid_config"):
            config = fetch(self.get_provider().server_url, "the discovery document")
            issuer = settings.OIDC_ISSUER.partition("/.well-known/")[0]
            if str(config.get("issuer")).rstrip("/") != issuer:
                raise UnusableError("the discovery document is of another issuer")
            names = ["authorization_endpoint", "token_endpoint", "jwks_uri"]
            names += ["userinfo_endpoint"] * ("userinfo_endpoint" in config)
            for name in names:
                if not (isinstance(config.get(name), str) and _is_url(config[name])):
                    raise UnusableError(f"{name} of the discovery document is not an https URL")
            if not isinstance(config.setdefault("token_endpoint_auth_methods_supported", []), list):
                raise UnusableError("token_endpoint_auth_methods_supported is not a list")
            self._openid_config = config
        return self._openid_config

    def get_access_token_data(self, *args: object, **kwargs: object) -> JsonObject:
        try:
            answer = super().get_access_token_data(*args, **kwargs)
            return {name: answer.get(name) for name in ("access_token", "id_token")}
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            raise UnusableError("the token response is malformed") from None

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, *, response: JsonObject
    ) -> SocialLogin:
        claims = self._decode_id_token(app, response["id_token"])
        data = {"id_token": claims}
        if "userinfo_endpoint" in self.openid_config:
            headers = {"Authorization": f"Bearer {token.token}"}
            data["userinfo"] = fetch(self.profile_url, "userinfo", headers=headers)
            if data["userinfo"].get("sub") != claims["sub"]:  # Core 5.3.2
                raise UntrustedResponseError("userinfo is about another sub than the id_token")
        login = self.get_provider().sociallogin_from_response(request, data)
        login.nonce = claims.get("nonce")
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> JsonObject:
        """Return the claims of `id_token`, or raise UntrustedResponseError."""
        try:
            header = jwt.get_unverified_header(id_token)
            claims = jwt.decode(
                id_token,
                key=self._key(header),
                algorithms=ALGORITHMS,
                audience=app.client_id,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (RecursionError, TypeError, ValueError, jwt.PyJWTError) as error:
            raise UntrustedResponseError(
                f"the id_token is not valid: {type(error).__name__}"
            ) from None
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if claims.get("azp", app.client_id if len(audiences) == 1 else None) != app.client_id:
            raise UntrustedResponseError("the id_token was issued for another site (azp)")
        sub = claims["sub"]
        if not (1 <= len(sub) <= SUBJECT_MAX and sub.isascii() and sub.isprintable()):
            raise UntrustedResponseError(f"sub is not 1 to {SUBJECT_MAX} ASCII characters")
        return claims

    def _key(self, header: JsonObject) -> jwt.PyJWK:
        """Return the provider's key that `header` names. Without a name there must be only one."""
        keys = fetch(self.openid_config["jwks_uri"], "the key set").get("keys")
        algorithm, kid = header.get("alg"), header.get("kid")
        found = [
            key
            for key in (keys if isinstance(keys, list) else [])
            if isinstance(key, dict)
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (kid is None or key.get("kid") == kid)
        ]
        if algorithm not in ALGORITHMS or len(found) != 1:
            raise UntrustedResponseError(
                f"the id_token names no key of the provider (alg {algorithm!r}, kid {kid!r})"
            )
        return jwt.PyJWK(found[0], algorithm)


class Provider(OpenIDConnectProvider):
    oauth2_adapter_class = OAuth2Adapter

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> JsonObject:
        """Accept only the return URL from a link to the sign-in: not the scope, other parameters of
        the provider, or a process such as connecting accounts.
        """
        nonce = get_random_string(32)
        return {
            "process": AuthProcess.LOGIN,
            "next_url": get_next_redirect_url(request),
            "auth_params": self.get_auth_params() | {"nonce": nonce},
            "nonce": nonce,  # stored until the response
        }

    def extract_uid(self, data: JsonObject) -> str:
        sub = data["id_token"]["sub"]
        return sub if len(sub) <= UID_MAX else f"sha256:{sha256(sub.encode()).hexdigest()}"

    def extract_extra_data(self, data: JsonObject) -> JsonObject:
        return {}  # store only the identifier

    def extract_common_fields(self, data: JsonObject) -> JsonObject:
        return {}  # no accounts are created

    def extract_email_addresses(self, data: JsonObject) -> list[EmailAddress]:
        """Return the address; verified if every `email_verified` is true. OIDC_EMAIL_DOMAINS only
        count if the provider sends no `email_verified`.
        """
        parts = [data.get("userinfo", {}), data["id_token"]]
        email = next((part["email"] for part in parts if part.get("email")), None)
        if not isinstance(email, str):
            return []
        stated = [
            part["email_verified"] for part in parts if part.get("email_verified") is not None
        ]
        domains = [domain.lower() for domain in settings.OIDC_EMAIL_DOMAINS]
        is_trusted = email.rpartition("@")[2].lower() in domains
        is_verified = all(each is True for each in stated) if stated else is_trusted
        return [EmailAddress(email=email, verified=is_verified, primary=True)]


class OidcAdapter(DefaultSocialAccountAdapter):
    """Signs in users who have an account here: the first time by an e-mail address that the
    provider verified and only one active account has, later by the provider's identifier (`sub`).
    The provider creates no accounts and assigns no permissions.
    """

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> Provider:
        return Provider(request, app=self.get_app(request, provider=provider, client_id=client_id))

    def get_requests_session(self) -> Session:
        return LimitedSession()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Provider,
        error: str | None = None,
        exception: Exception | None = None,
        **kwargs: object,
    ) -> None:
        if isinstance(exception, UntrustedResponseError):
            logger.error("The identity provider's answer is refused: %s.", exception)
            raise ImmediateHttpResponse(refuse(request))
        if isinstance(exception, RequestException):
            raise ImmediateHttpResponse(unavailable(request, exception))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        sent = sociallogin.state.get("nonce")
        if not (sent and constant_time_compare(str(sociallogin.nonce), sent)):
            logger.error("The identity provider's answer is refused: the nonce differs.")
            raise ImmediateHttpResponse(refuse(request))
        if sociallogin.is_existing:
            return
        user = self.find_user(sociallogin)
        if user is None:
            raise ImmediateHttpResponse(refuse(request))
        sociallogin.connect(request, user)

    def find_user(self, sociallogin: SocialLogin) -> User | None:
        """Return the account of a verified e-mail address, unless it is connected to another `sub`
        already: addresses are reassigned, identifiers are not.
        """
        for each in sociallogin.email_addresses:
            if each.verified is not True:
                continue
            users = [
                user
                for user in get_user_model().objects.filter(
                    email__iexact=each.email, is_active=True
                )
                if _folded(user.email) == _folded(each.email)
            ]
            if len(users) == 1 and not SocialAccount.objects.filter(user=users[0]).exists():
                return users[0]
        return None


# --- Pages -------------------------------------------------------------------------------------


def reachable(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Return an error page if the identity provider does not respond to `view`."""

    @wraps(view)
    def answer(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            return view(request, provider_id)
        except SocialApp.DoesNotExist:
            raise Http404 from None
        except RequestException as error:
            return unavailable(request, error)

    return answer


@reachable
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    return OAuth2LoginView.adapter_view(OAuth2Adapter(request, provider_id))(request)


@reachable
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    return OAuth2CallbackView.adapter_view(OAuth2Adapter(request, provider_id))(request)


def unavailable(request: HttpRequest, error: RequestException) -> HttpResponse:
    if isinstance(error, UnusableError):
        logger.error("The identity provider's answer cannot be used: %s.", error)
    else:  # its message may contain URLs with codes
        logger.error("The identity provider does not answer: %s.", type(error).__name__)
    context = {"heading": _("No answer"), "oidc_name": settings.OIDC_NAME}
    return render(request, "registration/stranger.html", context, status=503)


def refuse(request: HttpRequest) -> HttpResponse:
    return render(request, "registration/stranger.html", {"heading": _("No access")}, status=403)


def _is_url(text: str) -> bool:
    """Return whether `text` is a URL that may receive secrets:
    https, unless the issuer itself is not.
    """
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return bool(url.hostname) and url.scheme in ("https", urlsplit(settings.OIDC_ISSUER).scheme)


def _folded(email: str) -> str:
    return unicodedata.normalize("NFKC", email).casefold()
