"""Applications that are likely of the same person: a warning only, nothing is merged."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.contrib.auth.models import User
from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet
from django.utils.translation import gettext as _

from applications.admin.page.origins import CONTACT
from applications.models import Application, SubmissionFile
from applications.querysets import folded_address, phone_digits

ROWS_MAX = 20
SAME_FILE_MAX = 5  # a file that more applications have says nothing, such as a form to fill in


@dataclass(frozen=True)
class Likely:
    """An application that is likely of the same person, and what shows it."""

    application: Application
    signs: list[str]


def likely_to_be_same(
    user: User, people: Iterable[Application], hashes: Collection[str], known: QuerySet
) -> list[Likely]:
    """Return the applications that are likely of the same person as `people`, beside those that are
    (`known`). `hashes` are those of its files.
    """
    contacts = [{name: getattr(each, name) for name in CONTACT} for each in people]
    return likely_same(user, contacts, hashes=hashes, known=known)


def likely_same(
    user: User,
    contacts: Iterable[Mapping[str, str]],
    *,
    hashes: Collection[str],
    known: QuerySet | None = None,
) -> list[Likely]:
    """Return the applications with an address, file, telephone number or name of a person that
    `user` may see, the newest first, but not the `known`. `contacts` are of the person, and have
    the columns CONTACT. `hashes` are those of files.
    """
    addresses, numbers, names = set(), set(), set()
    for contact in contacts:
        addresses.add(folded_address(contact.get("email") or ""))
        numbers.add(phone_digits(contact["phone"]))
        names.add((contact["given_name"], contact["family_name"]))
    signs: dict[str, Q] = {}
    if addresses := addresses - {""}:
        signs[_("same e-mail address")] = Q(email_folded__in=addresses)
    if shared := _with_same_file(hashes):
        signs[_("same file")] = Q(pk__in=shared)
    if numbers := numbers - {""}:
        signs[_("same telephone number")] = Q(phone_digits__in=numbers)
    if same := [
        Q(given_name__iexact=given_name, family_name__iexact=family_name)
        for given_name, family_name in names
        if given_name and family_name
    ]:
        signs[_("same name")] = reduce(or_, same)
    if not signs:
        return []
    rows = Application.objects.visible_to(user).filter(reduce(or_, signs.values()))
    if known is not None:
        rows = rows.exclude(pk__in=known.order_by().values("pk"))
    rows = rows.with_stage().select_related("user", "vacancy")
    found = {f"sign_{number}": sign for number, sign in enumerate(signs)}
    values = zip(found, signs.values(), strict=True)
    has = {name: ExpressionWrapper(same, output_field=BooleanField()) for name, same in values}
    return [
        Likely(each, [sign for name, sign in found.items() if getattr(each, name)])
        for each in rows.annotate(**has).newest_first()[:ROWS_MAX]
    ]


def _with_same_file(hashes: Collection[str]) -> set[int]:
    """Return the ids of the applications that have one of the files `hashes`, but not a file that
    more than SAME_FILE_MAX applications have.
    """
    if not hashes:
        return set()
    same = SubmissionFile.objects.filter(sha256__in=hashes).order_by()
    counted = same.values("sha256").annotate(count=Count("submission", distinct=True))
    rare = counted.filter(count__lte=SAME_FILE_MAX).values("sha256")
    return set(same.filter(sha256__in=rare).values_list("submission__application", flat=True))
