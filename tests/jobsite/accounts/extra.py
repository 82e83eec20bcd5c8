"""People, and an identity provider on loopback, for tests with SECOND_FACTOR and OIDC_ISSUER
switched on.
"""

import json
import threading
import time
from base64 import urlsafe_b64encode
from contextlib import suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings as site
from django.contrib.auth.models import User
from jwt.algorithms import RSAAlgorithm

from tests.applications.makers import PASSWORD

ADMIN = "/admin/"
PORT = urlsplit(site.OIDC_ISSUER).port or 0  # nothing listens there before a test does


def make_anna(db):
    return User.objects.create_superuser("anna", "anna@example.org", PASSWORD)


def require_factor(settings):
    settings.SECOND_FACTOR = "required"


def enter(client, name="anna", then=ADMIN, password=PASSWORD):
    return client.post(
        f"/account/login?next={then}", {"username": name, "password": password, "next": then}
    )


def code(secret: str, step: int = 0) -> str:
    """What the app on the phone shows, `step` periods from now."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + step))


def with_app(user) -> str:
    """Give `user` an app; return its secret."""
    secret = "JBSWY3DPEHPK3PXP"
    TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def is_in(client) -> bool:
    return client.get(ADMIN).status_code == 200


def request_token(client, name):
    posted = {"username": name, "password": PASSWORD}
    return client.post("/v1/auth/token", posted, content_type="application/json")


KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ISSUER = f"http://127.0.0.1:{PORT}"


def key_set(key=KEY, **values):
    public = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [public | {"kid": "k1", "use": "sig", "alg": "RS256"} | values]}


DISCOVERY = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "userinfo_endpoint": f"{ISSUER}/userinfo",
    "jwks_uri": f"{ISSUER}/keys",
    "token_endpoint_auth_methods_supported": ["client_secret_post"],
}


class Provider(BaseHTTPRequestHandler):
    """As little of an identity provider as the code flow needs; `person` is who signs in there."""

    person: dict = {}  # what userinfo and the id_token say
    requested: dict = {}
    documents: dict = {}  # other answers, by path
    claims: dict = {}  # of the id_token, beside the right ones; None leaves one out
    signing: dict = {}  # how it is signed, where that is not as it should be

    def do_GET(self):
        path = urlsplit(self.path).path
        answers = {
            "/.well-known/openid-configuration": DISCOVERY,
            "/userinfo": self.person,
            "/keys": key_set(),
        } | self.documents
        self.say(answers[path])

    def do_POST(self):
        posted = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        digest = (
            urlsafe_b64encode(sha256(posted["code_verifier"][0].encode()).digest())
            .decode()
            .rstrip("=")
        )
        is_right = (
            posted["client_secret"] == ["a secret"]
            and digest == self.requested["code_challenge"][0]
        )
        right = {"access_token": "t", "token_type": "Bearer", "id_token": self.id_token()}
        self.say(self.documents.get("/token", right if is_right else {"error": "invalid_grant"}))

    def id_token(self):
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": "jobsite", "iat": now, "exp": now + 300}
        claims |= {"nonce": self.requested["nonce"][0]} | self.person | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = {"key": KEY, "algorithm": "RS256", "headers": {"kid": "k1"}} | self.signing
        if not isinstance(claims.get("sub", ""), str):  # PyJWT refuses to make it
            return jwt.api_jws.encode(json.dumps(claims).encode(), **signed)
        return jwt.encode(claims, **signed)

    def say(self, data):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # somebody who had read enough
            self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve_provider():
    Provider.documents, Provider.claims, Provider.signing = {}, {}, {}
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Provider)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def come_from(client, identity_provider, then=ADMIN, **person):
    """Follow the button, sign in there as `person`, and come back."""
    left = client.get(f"/account/oidc/login?next={then}")
    identity_provider.requested = parse_qs(urlsplit(left["Location"]).query)
    identity_provider.person = person
    state = identity_provider.requested["state"][0]
    return client.get(f"/account/oidc/callback?code=c&state={state}")


COLLEAGUE = {"sub": "248289761001", "email": "Anna@example.org", "email_verified": True}
