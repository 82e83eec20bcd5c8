"""The brands, recruiters and options of imported items:
found or created, and updated from the source.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unicodedata import normalize

from jobsite.types import JsonObject
from vacancies.choices import Keyword
from vacancies.exchange.reports import VacancyReport
from vacancies.models import Brand, Filter, FilterOption, Recruiter

Note = Callable[[str, str], None]  # called with the code and the text of a note


def comparable(label: str) -> str:
    """Return `label` without case and outer spaces, its accents composed.
    Equal ones are the same label.
    """
    return normalize("NFC", label).strip().casefold()


class RelatedRows:
    """Returns the rows that items refer to.
    The first item of a source that has a row decides its values.
    """

    def __init__(self, report: VacancyReport) -> None:
        self.report = report
        self._merged: set[tuple[str, str]] = set()
        self._filters = {f.keyword: f for f in Filter.objects.all()}
        self.clear()

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Forget what the block did if it raises."""
        merged = set(self._merged)
        try:
            yield
        except BaseException:
            self._merged = merged
            self.clear()
            raise

    def clear(self) -> None:
        """Drop cached rows: they may have been rolled back with a refused item."""
        self._rows: dict[tuple[object, ...], object] = {}
        self._brand_names: dict[str, str] = {}
        self.clear_options()

    def clear_options(self) -> None:
        """Drop cached options: a recruiter may have merged or deleted some."""
        self._options: dict[str, dict[str, FilterOption]] = {}

    def option(self, keyword: Keyword, label: str, note: Note) -> FilterOption:
        """Return the option `label`, else one with the same label, else a new one."""
        if keyword not in self._options:
            known = FilterOption.objects.filter(filter=self._filters[keyword]).order_by("-pk")
            same = {comparable(option.label): option for option in known}
            self._options[keyword] = same | {option.label: option for option in known}
        options, key = self._options[keyword], comparable(label)
        if label not in options:
            if key not in options:
                options[key] = self._filters[keyword].add_option(
                    label.strip(), beside=options.values()
                )
            options[label] = options[key]
        self._note_merged(keyword, label, options[label].label, note)
        return options[label]

    def brand(self, data: JsonObject, note: Note) -> Brand:
        values: JsonObject = {name: data[name] for name in ("description", "url") if name in data}
        if "icons" in data:
            icons = data["icons"] or {"small": "", "large": ""}
            values |= {
                f"icon_{size}_url": icons[size] for size in ("small", "large") if size in icons
            }
        name = self._brand_name(data["name"])
        self._note_merged("brand", data["name"], name, note)
        return self._updated(
            ("brand", name),
            lambda: Brand.objects.filter(name=name).first() or Brand(name=name),
            lambda brand: values,
            lambda: note("brand_differs", f"brand {name!r} differs from that of earlier items"),
        )

    def _brand_name(self, name: str) -> str:
        """Return the name of the brand `name`, else of one with the same name,
        else of a new one.
        """
        names = self._brand_names
        if not names:
            known = Brand.objects.order_by("-pk").values_list("name", flat=True)
            names |= {comparable(each): each for each in known} | {each: each for each in known}
        return names.get(name) or names.setdefault(comparable(name), name.strip())

    def _note_merged(self, kind: str, received: str, stored: str, note: Note) -> None:
        """Report once that `received` became `stored`."""
        if received != stored and (kind, received) not in self._merged:
            self._merged.add((kind, received))
            note("merged", f"{kind} {received!r} was merged with {stored!r}")

    def recruiter(self, data: JsonObject, note: Note) -> Recruiter:
        lookup = {"pk": data["id"]} if data.get("id") else {"name": data["name"]}

        def wanted(recruiter: Recruiter) -> JsonObject:
            values = {"name": data["name"]}
            values |= {
                name: data[key]
                for key, name in (("function", "function"), ("image", "image_url"))
                if key in data
            }
            # The source shows public contact data only. Where it shows none, ours is kept but not
            # public.
            for name in ("email", "phone"):
                if name in data:
                    value = data[name] or ""
                    values |= {
                        name: value or getattr(recruiter, name),
                        f"is_{name}_public": bool(value),
                    }
            return values

        return self._updated(
            ("recruiter", *lookup.values()),
            lambda: (
                Recruiter.objects.filter(**lookup).order_by("pk").first() or Recruiter(**lookup)
            ),
            wanted,
            lambda: note(
                "recruiter_differs",
                f"recruiter {data['name']!r} differs from that of earlier items",
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
