"""The options of vacancies: those of one vacancy, and merging options."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.db.transactions import retry_on_conflict
from vacancies.choices import Fact, Keyword
from vacancies.models import Approval, FilterOption, SavedView, Vacancy, VacancyOption, VacancyTemplate

BATCH = 500
# What other apps do when values of a filter are replaced: called with the keyword and the new values by old
# value, in the transaction, before vacancies are locked.
FOLLOWERS: list[Callable[[Keyword | Fact, Mapping[str, str]], object]] = []


def values_replaced(keyword: Keyword | Fact, new: Mapping[str, str]) -> None:
    """Tell other apps that values of the filter `keyword`, which queries name, have become others."""
    for follow in FOLLOWERS:
        follow(keyword, new)


def save_options(*, vacancy: Vacancy, keyword: Keyword, pks: Iterable[int]) -> None:
    """Set the options of `vacancy` in the filter `keyword` to `pks`, in this order."""
    pks = list(pks)
    links = VacancyOption.objects.filter(vacancy=vacancy, option__filter__keyword=keyword)
    links.exclude(option__in=pks).delete()
    VacancyOption.objects.bulk_create(
        [VacancyOption(vacancy=vacancy, option_id=pk, position=position) for position, pk in enumerate(pks)],
        update_conflicts=True,
        unique_fields=["vacancy", "option"],
        update_fields=["position"],
    )


def merge_options(*, into: FilterOption, others: Iterable[FilterOption]) -> int:
    """Replace `others`, options of the same filter, by `into` on every vacancy, and delete them. Return the
    number of vacancies that changed. Raise ValidationError if `into` was deleted or merged meanwhile."""
    others = list(others)
    return retry_on_conflict(lambda: _merge(into, others))


def _merge(into: FilterOption, others: list[FilterOption]) -> int:
    merged, keyword = [option.pk for option in others], into.filter.keyword
    values_replaced(Keyword(keyword), {option.value: into.value for option in others})
    requests = [
        row
        for row in Approval.objects.waiting().filter(changes__has_key=keyword)
        if _replace(row.changes, into, merged)
    ]
    links = VacancyOption.objects.filter(option__in=merged)
    # Locked in the same order as by a save of a vacancy, to avoid deadlocks: the vacancies, then the
    # options. From here on, nobody can choose an option that is deleted below.
    concerned = {*links.values_list("vacancy", flat=True), *(row.vacancy_id for row in requests)}
    locked = Vacancy.objects.filter(pk__in=concerned).order_by("pk").select_for_update()
    list(locked.values_list("pk", flat=True))
    options = FilterOption.objects.filter(pk__in=[into.pk, *merged]).order_by("pk").select_for_update()
    if into.pk not in options.values_list("pk", flat=True):
        text = _("“%(option)s” was deleted or merged in the meantime. Nothing was changed.")
        raise ValidationError(text % {"option": into})
    vacancies = set(links.values_list("vacancy", flat=True))
    carrying = VacancyOption.objects.filter(option=into).values("vacancy")
    links.filter(vacancy__in=carrying).delete()
    first: dict[int, int] = {}  # link by vacancy: the first one, if it has several of `others`
    for pk, vacancy in links.order_by("position", "pk").values_list("pk", "vacancy"):
        first.setdefault(vacancy, pk)
    pks = list(first.values())
    for start in range(0, len(pks), BATCH):
        VacancyOption.objects.filter(pk__in=pks[start : start + BATCH]).update(option=into)
    links.delete()
    FilterOption.objects.filter(pk__in=merged).delete()
    Approval.objects.bulk_update(requests, ["changes"])
    _replace_in_views_and_templates(into, merged)
    changed, now = sorted(vacancies), timezone.now()
    for start in range(0, len(changed), BATCH):
        Vacancy.objects.filter(pk__in=changed[start : start + BATCH]).update(updated_at=now)
    return len(vacancies)


def _replace_in_views_and_templates(into: FilterOption, merged: list[int]) -> None:
    for template in VacancyTemplate.objects.filter(content__has_key=into.filter.keyword).select_for_update():
        if _replace(template.content, into, merged):
            template.save(update_fields=["content"])
    new = {("option", str(pk)): ("option", str(into.pk)) for pk in merged}
    for view in SavedView.objects.filter(query__contains="option=").select_for_update():
        pairs = parse_qsl(view.query)
        if new.keys() & pairs:
            view.query = urlencode(sorted({new.get(pair, pair) for pair in pairs}))
            view.save(update_fields=["query"])


def _replace(content: dict[str, Any], into: FilterOption, merged: list[int]) -> bool:
    """Replace the options `merged` in a content by `into`, once. Return whether it has one of them."""
    chosen = content[into.filter.keyword]
    found = dict.fromkeys((into.pk, into.label) if pk in merged else (pk, label) for pk, label in chosen)
    content[into.filter.keyword] = [list(pair) for pair in {pk: (pk, label) for pk, label in found}.values()]
    return not {pk for pk, _label in chosen}.isdisjoint(merged)
