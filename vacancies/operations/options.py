"""The options of vacancies: those of one vacancy, and merging options."""

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _

from vacancies.choices import Keyword
from vacancies.models import (
    Approval,
    Autosave,
    FilterOption,
    SavedView,
    Vacancy,
    VacancyOption,
    VacancyTemplate,
)

BATCH = 500
# Sent before anything is locked, with the `keyword` of a filter and its `new` values by old value.
values_replaced = Signal()


def save_options(*, vacancy: Vacancy, keyword: Keyword, pks: Iterable[int]) -> None:
    """Set the options of `vacancy` in the filter `keyword` to `pks`, in this order."""
    pks = list(pks)
    links = VacancyOption.objects.filter(vacancy=vacancy, option__filter__keyword=keyword)
    links.exclude(option__in=pks).delete()
    VacancyOption.objects.bulk_create(
        [
            VacancyOption(vacancy=vacancy, option_id=pk, position=position)
            for position, pk in enumerate(pks)
        ],
        update_conflicts=True,
        unique_fields=["vacancy", "option"],
        update_fields=["position"],
    )


def merge_options(*, into: FilterOption, others: Iterable[FilterOption]) -> int:
    """Replace `others`, options of the same filter, by `into` on every vacancy, and delete them.
    Return the number of vacancies that changed. Raise ValidationError if `into` was deleted or
    merged meanwhile.
    """
    others, keyword = list(others), into.filter.keyword
    merged = [option.pk for option in others]
    with transaction.atomic():
        values = {option.value: into.value for option in others}
        values_replaced.send(FilterOption, keyword=keyword, new=values)
        links = VacancyOption.objects.filter(option__in=merged)
        # Locked in the same order as by a save of a vacancy, to avoid deadlocks: the vacancies,
        # then the options. From here on, nobody can choose an option that is deleted below.
        requests = Approval.objects.waiting().filter(changes__has_key=keyword).order_by()
        concerned = [
            *links.values_list("vacancy", flat=True),
            *requests.values_list("vacancy", flat=True),
        ]
        list(
            Vacancy.objects.filter(pk__in=concerned)
            .order_by("pk")
            .select_for_update()
            .values_list("pk")
        )
        options = (
            FilterOption.objects.filter(pk__in=[into.pk, *merged])
            .order_by("pk")
            .select_for_update()
        )
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
        _replace_in_contents(into, merged)
        _replace_in_views(into, merged)
        changed, now = sorted(vacancies), timezone.now()
        for start in range(0, len(changed), BATCH):
            Vacancy.objects.filter(pk__in=changed[start : start + BATCH]).update(updated_at=now)
    return len(vacancies)


def _replace_in_contents(into: FilterOption, merged: list[int]) -> None:
    """Replace the options in templates, in the requests that wait for approval, and in what is not
    saved.
    """
    keyword, new = into.filter.keyword, (into.pk, into.label)
    for rows, field in (
        (VacancyTemplate.objects.all(), "content"),
        (Approval.objects.waiting(), "changes"),
    ):
        for row in rows.filter(**{f"{field}__has_key": keyword}).select_for_update():
            content = getattr(row, field)
            pairs = dict(new if pk in merged else (pk, label) for pk, label in content[keyword])
            content[keyword] = [list(pair) for pair in pairs.items()]
            row.save(update_fields=[field])
    texts = {str(pk): str(into.pk) for pk in merged}
    for typed in Autosave.objects.filter(data__has_key=keyword).select_for_update():
        data = typed.data or {}
        data[keyword] = list(dict.fromkeys(texts.get(each, each) for each in data[keyword]))
        typed.save(update_fields=["data"])


def _replace_in_views(into: FilterOption, merged: list[int]) -> None:
    new = {("option", str(pk)): ("option", str(into.pk)) for pk in merged}
    for view in SavedView.objects.filter(query__contains="option=").select_for_update():
        view.query = urlencode(sorted({new.get(pair, pair) for pair in parse_qsl(view.query)}))
        view.save(update_fields=["query"])
