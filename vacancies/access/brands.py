"""Brand scoping: recruiters access the vacancies of their brands only (docs/decisions.md #56)."""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from forms_structure.models import Form
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
    """Return the id of the brand of a new vacancy: the only one. A user of several brands, but not
    of all, gets the one that this user saved last, so that a draft needs only a title
    (docs/decisions.md #56).
    """
    brands = brands_of(user)
    pks = list(brands.order_by("name").values_list("pk", flat=True)[:2])
    if len(pks) < 2 or user.has_perm(EVERY_BRAND):
        return pks[0] if len(pks) == 1 else None
    saved = Version.objects.filter(author=user, brand__in=brands).order_by("-pk")
    return saved.values_list("brand", flat=True).first() or pks[0]


def colleagues_of(user: User) -> QuerySet[User]:
    """Return the accounts that `user` may see, given the permission: all, or the members of own
    brands. Technical users of integrations are nobody's colleagues.
    """
    rows = User.objects.filter(integration=None)
    return rows if user.has_perm(EVERY_BRAND) else rows.filter(pk__in=_members(user.brands.all()))


def manageable_by(user: User) -> QuerySet[User]:
    """Return the accounts that `user` may change, given the permission: not those with more
    permissions, nor those who work for other brands too (docs/decisions.md #205).
    """
    rows = roles.not_above(user, colleagues_of(user))
    if user.has_perm(EVERY_BRAND):
        return rows
    return rows.exclude(pk__in=_members(Brand.objects.exclude(pk__in=user.brands.values("pk"))))


def _members(brands: QuerySet[Brand]) -> QuerySet:
    return Brand.members.through._default_manager.filter(brand__in=brands.values("pk")).values(
        "user"
    )


def readable_by(user: User) -> QuerySet[Version]:
    """Return the versions from when the vacancy belonged to a brand of `user`."""
    return Version.objects.filter(own_brand(user))


def forms_for(user: User) -> QuerySet[Form]:
    """Return the forms that `user` may see: the site's form, forms of their brands, and unused
    forms.

    A form that extends another one is visible only if the other one is.
    """
    if user.has_perm(EVERY_BRAND):
        return Form.objects.originals()
    # Ids, of which there are few: the rules refer to each other, and one statement would repeat
    # each of them up to eight times. And not joined: a form can have many vacancies.
    in_use = Form.objects.filter(pk__in=Vacancy.objects.editable_by(user).values("form"))
    users: tuple[QuerySet, ...] = (Vacancy.objects.all(), Brand.objects.all(), brands_of(user))
    by_vacancy, by_brand, by_own_brand = (
        Exists(each.filter(form=OuterRef("pk"))) for each in users
    )
    forms = Form.objects.annotate(is_taken=by_vacancy | by_brand, is_ours=by_own_brand)
    columns = ("pk", "extends", "is_default", "is_taken", "is_ours")
    rows = list(forms.order_by().values_list(*columns, named=True))
    used = {row.pk for row in rows if row.is_ours} | set(in_use.values_list("pk", flat=True))
    ours = used | {row.extends for row in rows if row.pk in used}
    taken = {pk for row in rows if row.is_taken for pk in (row.pk, row.extends)}
    free = {row.pk for row in rows} - taken
    whole = {
        row.pk
        for row in rows
        if row.extends is None and (row.is_default or row.pk in ours or row.pk in free)
    }
    extending = {row.pk for row in rows if row.pk in free and row.extends in whole}
    return Form.objects.originals().filter(pk__in=(whole | ours | extending) - {None})


def may_change_form(user: User, form: Form) -> bool:
    """Return whether a change of `form` affects only the brands of `user`."""
    if user.has_perm(EVERY_BRAND):
        return True
    if form.is_default or not forms_for(user).filter(pk=form.pk).exists():
        return False
    family = [form.pk, *form.extensions.values_list("pk", flat=True)]
    own = Vacancy.objects.editable_by(user).values("pk")
    others = Vacancy.objects.filter(form__in=family).exclude(pk__in=own)
    brands = Brand.objects.filter(form__in=family).exclude(pk__in=brands_of(user).values("pk"))
    return not (others.exists() or brands.exists())
