"""A small site with every form that an item, an application form, a filter and a list can have."""

from datetime import datetime, timedelta

from django.utils import timezone

from forms_structure import operations
from forms_structure.models import ConsentText
from tests.forms_structure.strategies import section, specimen, text_field
from vacancies.choices import Keyword
from vacancies.models import (
    Attachment,
    Brand,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
)

TITLES = (
    "Naval architect",
    "naval Engineer",
    "Élan coach",
    "Zoo keeper",
    "1st mate",
    "Crane operator",
    "Welder",
    "Welder",
    "École teacher",
    "Ångström physicist",
    "data engineer",
    "Baker",
)


# By the remainder of the number of the vacancy.
FACTS: tuple[dict[str, object], ...] = (
    {},
    {
        "language": "nl",
        "work_place": "hybrid",
        "pay_min": 3100,
        "pay_max": "4250.50",
        "pay_currency": "EUR",
        "pay_period": "month",
        "pay_note": "Gross",
    },
    {"work_place": "remote", "pay_note": "Collective agreement 200"},
    {"pay_min": 20, "pay_currency": "EUR", "pay_period": "hour", "is_pay_public": False},
)
PLACES: tuple[dict[str, object], ...] = (
    {
        "street": "Kattendijkdok 12",
        "postal_code": "2000",
        "locality": "Antwerp",
        "region": "Flanders",
        "country": "BE",
        "latitude": "51.2213",
        "longitude": 4,
        "position": 0,
    },
    {"locality": "Ghent", "country": "BE", "position": 1},
    {"kind": "applicant", "country": "NL", "position": 1},
    {"kind": "applicant", "country": "BE", "position": 0},
)


def make_site(now: datetime | None = None) -> list[Vacancy]:
    """Twelve published vacancies (public, internal, both; hot and not; bare and full; with a form
    of their own, their brand's and none) and four hidden ones. Returns the published ones.
    """
    now = now or timezone.now()
    shown = {"email": "noor@example.com", "is_email_public": True, "phone": "+32 3 555"}
    head = Recruiter.objects.create(name="Noor Peeters", function="Recruiter", **shown)
    colleague = Recruiter.objects.create(name="Sam", image_url="https://images.example.com/sam.jpg")
    form = operations.create(name="Harbour Works", language="nl", structure=specimen())
    yard = [section(text_field("boots"), title="Yard")]
    own_form = operations.create(name="Yard", extends=form, structure=yard)
    privacy = {"statement_url": "https://www.example.com/privacy", "statement_label": "Hoe?"}
    ConsentText.objects.add(language="nl", text="Akkoord.", **privacy)
    icon = "https://images.example.com/small.png"
    pages = "https://harbour.example.com/jobs/"
    brand = Brand.objects.create(
        name="Harbour Works", icon_small_url=icon, form=form, vacancy_url=pages
    )
    options = []
    for position, keyword in enumerate(Keyword):
        values = {
            "label": keyword.label,
            "position": position,
            "is_active": keyword != Keyword.JOBCUSTOM4,
        }
        filter_, _ = Filter.objects.update_or_create(keyword=keyword, defaults=values)
        for label in ("One", "Two", "Nobody has this"):
            value = f"{keyword}-{label.split()[0].lower()}"
            label = f"{keyword.label} {label}"
            options.append(FilterOption.objects.create(filter=filter_, label=label, value=value))
    one, two = options[0::3], options[1::3]
    for option, employment_type in (
        (one[2], "PART_TIME"),
        (one[3], "FULL_TIME"),
        (one[4], "FULL_TIME"),
    ):
        option.employment_type = employment_type
        option.save()

    published = []
    for n, title in enumerate(TITLES):
        vacancy = Vacancy.objects.create(
            title=title,
            title_internal="Internal" if n % 2 else "",
            brand=brand if n % 3 else None,
            form=own_form if n % 4 == 1 else None,
            is_hot=n % 2 == 0,
            is_permanent=n % 5 == 0,
            location="Antwerp" if n % 3 else "",
            description=f"<p>Text of <strong>{title}</strong> &amp; more.</p>" if n % 4 else "",
            reference=f"HW-{n}" if n % 3 else "",
            image_url="https://images.example.com/dock.jpg" if n % 3 == 1 else "",
            head_recruiter=head,
            audience=("public", "both", "public", "internal")[n % 4],
            status="published",
            # Pairs have the same time of publication, so that the id decides their order.
            publish_from=now - timedelta(days=1 + n // 2),
            publish_until=now + timedelta(days=30) if n % 2 else None,
            **FACTS[n % 4],
        )
        if n % 4 == 1:
            Place.objects.bulk_create(Place(vacancy=vacancy, **place) for place in PLACES)
        chosen = [*one, *(two[1:] if n % 4 == 1 else [])] if n % 3 else []
        VacancyOption.objects.bulk_create(
            VacancyOption(vacancy=vacancy, option=option, position=position)
            for position, option in enumerate(reversed(chosen))
        )
        if n % 4 == 1:
            vacancy.recruiters.set([colleague, head])
            url = "https://files.example.com/p.pdf"
            Attachment.objects.create(vacancy=vacancy, name="Profile.pdf", url=url)
        published.append(vacancy)

    for audience in ("public", "internal"):
        hidden = {"head_recruiter": head, "audience": audience, "is_hot": True}
        Vacancy.objects.create(title="Hidden draft", **hidden)
        Vacancy.objects.create(
            title="Hidden expired",
            status="published",
            publish_from=now - timedelta(days=9),
            publish_until=now - timedelta(days=1),
            **hidden,
        )
    return published
