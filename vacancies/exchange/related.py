"""The brands, recruiters and options of imported items: found or created, and updated from the source."""

from collections.abc import Callable
from typing import Any

from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.exchange.reports import VacancyReport
from vacancies.models import Brand, Filter, FilterOption, Recruiter

Note = Callable[[str, str], None]  # called with the code and the text of a note


class RelatedRows:
    """Returns the rows that items refer to. The first item of a source that has a row decides its values."""

    def __init__(self, report: VacancyReport) -> None:
        self.report = report
        self._filters = {f.keyword: f for f in Filter.objects.all()}
        self.clear()

    def clear(self) -> None:
        """Drop cached rows: they may have been rolled back with a refused item."""
        self._rows: dict[tuple[object, ...], object] = {}
        self.clear_options()

    def clear_options(self) -> None:
        """Drop cached options: a recruiter may have merged or deleted some."""
        self._options: dict[str, dict[str, FilterOption]] = {}

    def option(self, keyword: Keyword, label: str) -> FilterOption:
        if keyword not in self._options:
            known = FilterOption.objects.filter(filter=self._filters[keyword])
            self._options[keyword] = {option.label: option for option in known}
        options = self._options[keyword]
        if label not in options:
            options[label] = self._filters[keyword].add_option(label, beside=options.values())
        return options[label]

    def brand(self, data: JsonObject, note: Note) -> Brand:
        values: JsonObject = {name: data[name] for name in ("description", "url") if name in data}
        if "icons" in data:
            icons = data["icons"] or {"small": "", "large": ""}
            values |= {f"icon_{size}_url": icons[size] for size in ("small", "large") if size in icons}
        return self._updated(
            ("brand", data["name"]),
            lambda: Brand.objects.filter(name=data["name"]).first() or Brand(name=data["name"]),
            lambda brand: values,
            lambda: note("brand_differs", f"brand {data['name']!r} differs from that of earlier items"),
        )

    def recruiter(self, data: JsonObject, note: Note) -> Recruiter:
        lookup = {"pk": data["id"]} if data.get("id") else {"name": data["name"]}

        def wanted(recruiter: Recruiter) -> JsonObject:
            values = {"name": data["name"]}
            values |= {
                name: data[key]
                for key, name in (("function", "function"), ("image", "image_url"))
                if key in data
            }
            # The source shows public contact data only. Where it shows none, ours is kept but not public.
            for name in ("email", "phone"):
                if name in data:
                    value = data[name] or ""
                    values |= {name: value or getattr(recruiter, name), f"is_{name}_public": bool(value)}
            return values

        return self._updated(
            ("recruiter", *lookup.values()),
            lambda: Recruiter.objects.filter(**lookup).order_by("pk").first() or Recruiter(**lookup),
            wanted,
            lambda: note(
                "recruiter_differs", f"recruiter {data['name']!r} differs from that of earlier items"
            ),
        )

    def _updated(
        self,
        key: tuple[object, ...],
        find: Callable[[], Any],
        wanted: Callable[[Any], JsonObject],
        on_difference: Callable[[], None],
    ) -> Any:
        """Return the row that `find` gives, saved with its `wanted` values. If an earlier item
        set other values, keep them and call `on_difference`."""
        if row := self._rows.get(key):
            if any(getattr(row, name) != value for name, value in wanted(row).items()):
                on_difference()
            return row
        row = find()
        values = wanted(row)
        if row._state.adding or any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            row.save()
            self.report.related += 1
        self._rows[key] = row
        return row
