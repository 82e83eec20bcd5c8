"""Who looks after an application, and its tags."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from applications.models import Application, ApplicationTag, Tag
from applications.querysets import readers_of
from jobsite.db.folding import fold
from vacancies.models import TeamMember, Vacancy


def readers_of_all(applications: Collection[int]) -> list[User]:
    """Return the colleagues who may view all `applications`, by user name."""
    rows = Vacancy.objects.filter(applications__in=applications).only("brand").order_by("pk")
    brands = {vacancy.pk: vacancy.brand_id for vacancy in rows}
    # Who sees presented applications only does not see all of them.
    members = TeamMember.objects.filter(vacancy__in=brands, sees=TeamMember.Sees.ALL)
    with_team = set(members.values_list("vacancy", flat=True))
    # Of the vacancies without a team, one of each brand: whoever may view its applications may view
    # those of the brand.
    alike = {pk if pk in with_team else f"brand {brand}": pk for pk, brand in brands.items()}
    found: dict[int, User] | None = None
    for vacancy in Vacancy.objects.only("brand").in_bulk(alike.values()).values():
        readers = {user.pk: user for user in readers_of(vacancy)}
        found = (
            readers if found is None else {pk: found[pk] for pk in found.keys() & readers.keys()}
        )
    return sorted((found or {}).values(), key=lambda user: user.get_username())


def assign(*, applications: Collection[int], owner: User | None) -> int:
    """Assign `applications` to `owner`, who may view them, or to nobody.
    Return how many changed.
    """
    rows = Application.objects.filter(pk__in=applications)
    changed = rows.exclude(owner=owner) if owner else rows.exclude(owner=None)
    return changed.update(owner=owner)


def add_tag(*, applications: Collection[int], name: str) -> int:
    """Add the tag `name` of the brand of each of `applications`.
    Return to how many it was added.
    """
    name = " ".join(name.split())
    before = ApplicationTag.objects.filter(application__in=applications, tag__folded=fold(name))
    with transaction.atomic():
        count = before.count()
        rows = (
            Application.objects.filter(pk__in=applications)
            .order_by("pk")
            .select_for_update(of=("self",))
        )
        by_brand: dict[Any, list[int]] = {}
        for pk, brand in rows.values_list("pk", "vacancy__brand"):
            by_brand.setdefault(brand, []).append(pk)
        for number, pks in by_brand.items():
            tag, _is_new = Tag.objects.get_or_create(
                brand_id=number, folded=fold(name), defaults={"name": name}
            )
            links = [ApplicationTag(application_id=pk, tag=tag) for pk in pks]
            ApplicationTag.objects.bulk_create(links, ignore_conflicts=True)
        return before.count() - count


def remove_tag(*, applications: Collection[int], name: str) -> int:
    """Remove the tag `name` from `applications`. Return from how many.
    A tag that none has is deleted.
    """
    with transaction.atomic():
        links = ApplicationTag.objects.filter(application__in=applications, tag__folded=fold(name))
        count = links.delete()[0]
        delete_unused_tags()
    return count


def delete_unused_tags() -> int:
    return Tag.objects.filter(links=None).delete()[0]
