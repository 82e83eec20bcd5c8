"""What a body refers to: options by label or value, recruiters by email, a form by id. Nothing but
recruiters is created.
"""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from forms_structure.models import Form
from jobsite.db.locks import lock_transaction
from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.exchange.fields import format_value
from vacancies.exchange.related import comparable
from vacancies.history.versions import Content
from vacancies.manage.parsing import Fault
from vacancies.models import Brand, FilterOption, Integration, IntegrationScope, Recruiter, Vacancy

MISSING_SCOPE = "scope"


def options_of(item: JsonObject, before: Content, faults: list[Fault]) -> Content:
    """Return the options of `item` by keyword, as a content has them. An option that is no longer
    available can stay.
    """
    found: Content = {}
    sent = [name for name in Keyword.values if name in item]
    rows: dict[str, list[FilterOption]] = {name: [] for name in sent}
    for row in FilterOption.objects.filter(filter__keyword__in=sent).select_related("filter"):
        rows[row.filter.keyword].append(row)
    for name in sent:
        own = {pk for pk, _label in before.get(name, ())}
        usable = [row for row in rows[name] if row.is_active or row.pk in own]
        known = {comparable(row.value): row for row in reversed(usable)}
        known |= {comparable(row.label): row for row in reversed(usable)}
        known |= {row.label: row for row in usable}
        chosen: dict[int, list[object]] = {}
        for number, label in enumerate(item[name]):
            if option := known.get(label) or known.get(comparable(label)):
                chosen.setdefault(option.pk, [option.pk, option.label])
            else:
                text = f"There is no option {format_value(label)}."
                allowed = [each.label for each in usable]
                faults.append(Fault(f"/{name}/{number}", text, "unknown", allowed))
        found[name] = list(chosen.values())
    return found


def people_of(item: JsonObject, integration: Integration, faults: list[Fault]) -> Content:
    """Return the recruiters of `item`. Unknown ones are created, so this needs a transaction."""
    found: Content = {}
    head = item.get("head_recruiter")
    if "head_recruiter" in item:
        found["head_recruiter"] = head and _person(head, "/head_recruiter", integration, faults)
    if "recruiters" in item:
        rows = [
            _person(data, f"/recruiters/{number}", integration, faults)
            for number, data in enumerate(item["recruiters"] or ())
        ]
        found["recruiters"] = list({row[0]: row for row in rows if row}.values())
    return found


def _person(
    data: JsonObject, at: str, integration: Integration, faults: list[Fault]
) -> list[object] | None:
    email, name = data.get("email") or "", data.get("name") or ""
    lookup = {"email__iexact": email} if email else {"pk": data.get("id")}
    rows = Recruiter.objects.filter(**lookup).order_by("pk")
    row = _best(rows, name)
    if row is None and not email:
        text = "There is no recruiter with this id: send an email address."
        faults.append(Fault(f"{at}/email", text, "required"))
    elif row is None and IntegrationScope.RECRUITERS not in integration.scopes:
        text = f"No recruiter has this email address, and the scope {IntegrationScope.RECRUITERS} is missing."
        faults.append(Fault(f"{at}/email", text, MISSING_SCOPE))
    elif row is None and not name.strip():
        faults.append(Fault(f"{at}/name", "A new recruiter needs a name.", "required"))
    elif row is None:
        lock_transaction(f"recruiter {email.casefold()}")
        row = _best(rows.all(), name) or Recruiter.objects.create(
            name=name,
            email=email,
            function=data.get("function", ""),
            phone=data.get("phone", ""),
            image_url=data.get("image", ""),
        )
    return [row.pk, row.name] if row else None


def _best(rows: Iterable[Recruiter], name: str) -> Recruiter | None:
    """Return the first of `rows`, if possible one with this name."""
    found = list(rows)
    same = (row for row in found if comparable(row.name) == comparable(name))
    return next(same, found[0] if found else None)


def forms_of(integration: Integration, brand: Brand | None) -> QuerySet[Form]:
    """Return the forms that a vacancy of `brand` may have: without those that only other brands
    use.
    """
    if integration.every_brand:
        return Form.objects.originals()
    others = Vacancy.objects.exclude(brand=brand).exclude(form=None).values("form")
    used = Q(pk__in=others) | Q(pk__in=Brand.objects.exclude(form=None).values("form"))
    own = Vacancy.objects.filter(brand=brand).exclude(form=None).values("form")
    ours = Q(is_default=True) | Q(pk__in=own) | Q(brands=brand)
    return Form.objects.originals().filter(ours | ~used).distinct()


def form_of(
    item: JsonObject, integration: Integration, brand: Brand | None, faults: list[Fault]
) -> Content:
    if "form" not in item:
        return {}
    if item["form"] is None:
        return {"form": None}
    usable = dict(forms_of(integration, brand).values_list("pk", "name"))
    if item["form"] not in usable:
        faults.append(Fault("/form", "There is no such form.", "unknown", usable))
        return {}
    return {"form": [item["form"], usable[item["form"]]]}
