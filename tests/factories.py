"""Factories of rows. Fields that a test does not pass get plain default values."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from vacancies.choices import Keyword
from vacancies.fields import free_value
from vacancies.models import (
    Brand,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    VacancyText,
)
from vacancies.models.vacancy_text import digest_of, texts_of

_numbers = count(1)


def make_brand(name: str = "Acme", **values: Any) -> Brand:
    return Brand.objects.get_or_create(name=name, defaults=values)[0]


def make_recruiter(name: str = "An Peeters", **values: Any) -> Recruiter:
    return Recruiter.objects.get_or_create(name=name, defaults=values)[0]


def make_insider(name: str = "insider") -> User:
    """Create a user whose only permission is to read internal vacancies."""
    user = User.objects.create_user(name)
    user.user_permissions.add(Permission.objects.get(codename="see_internal"))
    return user


def make_filter(keyword: str, **values: Any) -> Filter:
    position = list(Keyword).index(Keyword(keyword))
    defaults = {"id": position + 1, "label": Keyword(keyword).label, "position": position}
    made, _ = Filter.objects.get_or_create(keyword=keyword, defaults=defaults)
    for name, value in ({"is_active": True} | values).items():
        setattr(made, name, value)
    made.save()
    return made


def make_option(keyword: str, label: str, **values: Any) -> FilterOption:
    owner = Filter.objects.filter(keyword=keyword).first() or make_filter(keyword)
    defaults = {"value": free_value(label, set())} | values
    return FilterOption.objects.get_or_create(filter=owner, label=label, defaults=defaults)[0]


def make_vacancy(
    *,
    options: dict[str, list[str]] | None = None,
    recruiters: tuple[str, ...] = (),
    places: tuple[dict[str, Any], ...] = (),
    **values: Any,
) -> Vacancy:
    """Create a vacancy, by default one that was published an hour ago.

    `options` maps keywords to labels, `recruiters` lists names, `places` columns. All keep their
    order.
    """
    now = timezone.now()
    number = next(_numbers)
    defaults = {
        "title": f"Vacancy {number}",
        "brand": values.get("brand") or make_brand(),
        "head_recruiter": values.get("head_recruiter") or make_recruiter(),
        "status": "published",
        "publish_from": now - timedelta(hours=1),
        "created_at": now - timedelta(hours=2),
        "updated_at": now - timedelta(hours=1),
        "description": f"<p>Text of vacancy {number}.</p>",
    }
    vacancy = Vacancy.objects.create(**defaults | values)
    labels = [(keyword, label) for keyword, labels in (options or {}).items() for label in labels]
    VacancyOption.objects.bulk_create(
        VacancyOption(vacancy=vacancy, option=make_option(keyword, label), position=position)
        for position, (keyword, label) in enumerate(labels)
    )
    VacancyRecruiter.objects.bulk_create(
        VacancyRecruiter(vacancy=vacancy, recruiter=make_recruiter(name), position=position)
        for position, name in enumerate(recruiters)
    )
    Place.objects.bulk_create(
        Place(vacancy=vacancy, position=position, **each) for position, each in enumerate(places)
    )
    return vacancy


def make_text(
    vacancy: Vacancy, language: str, *, is_ready: bool = True, **texts: str
) -> VacancyText:
    """Create the texts of `vacancy` in `language`: `texts`, and a description if it has one."""
    made = {"title": f"{language} {vacancy.pk}"} | texts
    if vacancy.description:
        made = {"description": f"<p>{language} {vacancy.pk}</p>"} | made
    based_on = digest_of(texts_of(vacancy)) if is_ready else ""
    return VacancyText.objects.create(
        vacancy=vacancy, language=language, texts=made, is_ready=is_ready, based_on=based_on
    )
