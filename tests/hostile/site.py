"""The site that hostile requests are sent to: what shows, what does not, and its people's credentials."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

HIDDEN_WORD = "zyxhidden"  # in every text of what nobody outside may see
HIDDEN = {
    "draft": 4_815_162_341,
    "scheduled": 4_815_162_342,
    "expired": 4_815_162_343,
    "withdrawn": 4_815_162_344,
    "internal": 4_815_162_345,
    "deleted": 4_815_162_346,
}
ABSENT = 4_815_162_399  # as long as those
BASE = "https://jobs.example.org"
ENVIRON = {
    "DJANGO_SETTINGS_MODULE": "tests.hostile.settings",
    "SECRET_KEY": "hostile-requests-are-answered-by-a-server-of-their-own-0123456789",
    "ALLOWED_HOSTS": "localhost",
    "PUBLIC_BASE_URL": BASE,
    "INTERNAL_ACCESS": "authenticated",
    "RATE_LIMIT": "off",
    "TRUSTED_PROXIES": "127.0.0.1/32",
}


@dataclass
class Site:
    """What requests need to know of it."""

    tokens: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)
    shown: list[int] = field(default_factory=list)
    own_draft: int = 0
    own_form: int = 0
    own_application: int = 0
    filter: int = 0
    origin: str = "http://localhost"

    @property
    def secrets(self) -> list[bytes]:
        return [text.encode() for text in (*self.tokens.values(), *self.sessions.values())]


def make() -> Site:
    """Make the site in an empty database."""
    from django.contrib.sessions.models import Session
    from django.utils import timezone

    from tests import admin_pages
    from tests.applications.makers import make_application, make_step, make_token, make_user
    from tests.contract.sample import make_site
    from vacancies.models import Vacancy

    now = timezone.now()
    site, world = Site(), admin_pages.build()
    make_site(now)
    for kind in HIDDEN:
        hide(kind, now)
    for name in ("A", "B"):
        user = make_user(f"applicant-{name}", first_name=HIDDEN_WORD)
        application = make_application(user=user, vacancy=Vacancy.objects.get(pk=HIDDEN["withdrawn"]))
        make_step(application, f"{HIDDEN_WORD} step of {name}")
        site.tokens[name], site.users[name] = make_token(user), user.pk
        site.sessions[name] = admin_pages.session_of(user)
    site.tokens["expired"] = make_token(user, lifetime=timedelta(seconds=-1))
    for name in ("expired", "closed"):
        site.sessions[name] = admin_pages.session_of(leaver := make_user(f"applicant-{name}"))
    Session.objects.filter(pk=site.sessions["expired"]).update(expire_date=now - timedelta(days=1))
    leaver.is_active = False
    leaver.save()
    site.sessions |= {"recruiter": world.sessions["Recruiter"], "root": world.sessions["root"]}
    site.own_draft, site.own_form = world.own.draft.pk, world.own.form.pk
    site.own_application, site.filter = world.own.application.pk, world.spare["vacancies.filter"].pk
    # nobody's request may publish what others are compared to
    site.shown = list(Vacancy.objects.published(at=now).external().values_list("pk", flat=True))
    return site


def hide(kind: str, now: Any) -> None:
    """Make the vacancy that must not show, with a form, a brand, an option that nothing else has."""
    from forms_structure import operations
    from tests.factories import make_brand, make_recruiter, make_vacancy
    from vacancies.models import Attachment

    values: dict[str, Any] = {
        "draft": {"status": "draft"},
        "withdrawn": {"status": "withdrawn"},
        "scheduled": {"publish_from": now + timedelta(days=30)},
        "expired": {"publish_from": now - timedelta(days=30), "publish_until": now - timedelta(days=1)},
        "internal": {"audience": "internal", "is_hot": True},
        "deleted": {},
    }[kind]
    word = f"{HIDDEN_WORD} {kind}"
    field = {
        "name": f"{HIDDEN_WORD}_{kind}",
        "type": "text",
        "label": word,
        "required": True,
        "css": "col-12",
    }
    section = {"title": word, "description": f"<p>{word}</p>", "fields": [field]}
    vacancy = make_vacancy(
        pk=HIDDEN[kind],
        title=word,
        description=f"<p>{word}</p>",
        brand=make_brand(f"{word} brand"),
        head_recruiter=make_recruiter(
            f"{word} head", email=f"{HIDDEN_WORD}@example.org", is_email_public=True
        ),
        options={"regions": [word], "types": [word]},
        form=operations.create(name=f"{word} form", structure=[section]),
        **{"audience": "both", "is_hot": True} | values,
    )
    Attachment.objects.create(
        vacancy=vacancy, name=f"{word}.pdf", url=f"https://files.test/{HIDDEN_WORD}.pdf"
    )
    if kind == "deleted":
        vacancy.delete()
