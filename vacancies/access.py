"""Brand scoping: recruiters access the vacancies of their brands only (docs/decisions.md #56)."""

from django.contrib.auth.models import User
from django.db.models import QuerySet

from jobsite.accounts import roles
from vacancies.models import Brand, Vacancy, Version
from vacancies.querysets import EVERY_BRAND, own_brand


def scope_to_brands(user: User, rows: QuerySet, vacancy: str) -> QuerySet:
    """Return the `rows` whose vacancy, reached through the lookup `vacancy`, `user` may access."""
    if user.has_perm(EVERY_BRAND):
        return rows
    return rows.filter(**{f"{vacancy}__in": Vacancy.objects.editable_by(user).values("pk")})


def brands_of(user: User) -> QuerySet[Brand]:
    return Brand.objects.all() if user.has_perm(EVERY_BRAND) else user.brands.all()


def preselected_brand(user: User) -> int | None:
    """Return the id of the brand of a new vacancy: the only one. A user of several brands, but not of all,
    gets the one that this user saved last, so that a draft needs only a title (docs/decisions.md #56)."""
    brands = brands_of(user)
    pks = list(brands.order_by("name").values_list("pk", flat=True)[:2])
    if len(pks) < 2 or user.has_perm(EVERY_BRAND):
        return pks[0] if len(pks) == 1 else None
    saved = Version.objects.filter(author=user, brand__in=brands).order_by("-pk")
    return saved.values_list("brand", flat=True).first() or pks[0]


def colleagues_of(user: User) -> QuerySet[User]:
    """Return the accounts that `user` may see, given the permission: all, or the members of own brands."""
    rows = User.objects.all()
    return rows if user.has_perm(EVERY_BRAND) else rows.filter(pk__in=_members(user.brands.all()))


def manageable_by(user: User) -> QuerySet[User]:
    """Return the accounts that `user` may change, given the permission: not those with more permissions, nor
    those who work for other brands too (docs/decisions.md #205)."""
    rows = roles.not_above(user, colleagues_of(user))
    if user.has_perm(EVERY_BRAND):
        return rows
    return rows.exclude(pk__in=_members(Brand.objects.exclude(pk__in=user.brands.values("pk"))))


def _members(brands: QuerySet[Brand]) -> QuerySet:
    return Brand.members.through._default_manager.filter(brand__in=brands.values("pk")).values("user")


def readable_by(user: User) -> QuerySet[Version]:
    """Return the versions from when the vacancy belonged to a brand of `user`. Without multi-branding, this
    includes versions without a brand, as in `editable_by`."""
    return Version.objects.filter(own_brand(user))
