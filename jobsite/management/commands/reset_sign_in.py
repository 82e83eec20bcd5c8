from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandParser

from applications import privacy
from applications.management import account
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    help = (
        "Remove the second factors, passkeys and OpenID Connect identities of a user, for example "
        "after the loss of a phone, and end the user's sessions. The password is not changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *, username: str, **options: object) -> None:
        user = account(username)
        kinds = {"factors": "mfa.Authenticator", "identities": "socialaccount.SocialAccount"}
        installed = {kind: name for kind, name in kinds.items() if apps.is_installed(_app(name))}
        if not installed:
            raise UsageError("Neither SECOND_FACTOR nor OIDC_ISSUER is set.")
        removed = {
            kind: apps.get_model(name).objects.filter(user_id=user.pk).delete()[0]
            for kind, name in installed.items()
        }
        ended = privacy.end_sessions(user=user)
        note = " A second factor has to be set up before using the admin." * (
            settings.SECOND_FACTOR == "required"
        )
        summary = " and ".join(f"{count} {kind}" for kind, count in removed.items())
        self.finish(f"{summary} removed, {ended} sessions ended.{note}", **removed, sessions=ended)


def _app(model: str) -> str:
    return f"allauth.{model.partition('.')[0]}"
