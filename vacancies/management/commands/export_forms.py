import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from forms_structure.api.v1 import serve
from forms_structure.models import Form
from forms_structure.roles import add_roles
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from jobsite.types import JsonObject
from vacancies.models import Vacancy


class Command(BaseCommand):
    help = (
        "Export the application forms of vacancies as the API serves them, with the roles of "
        "their fields, in the format of import_forms. Without ids, export those of all vacancies "
        "that have a form."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("vacancy", nargs="*", type=int, help="id of a vacancy")
        parser.add_argument(
            "--output", type=Path, help="the file to write (default: standard output)"
        )

    def handle(self, *args: object, **options: Any) -> None:
        vacancies = Vacancy.objects.with_form().only("brand_id").order_by("pk")
        if wanted := options["vacancy"]:
            vacancies = vacancies.filter(pk__in=wanted)
        form_of = {v.pk: (v.served_form_id, v.brand_id) for v in vacancies if v.served_form_id}
        if missing := [pk for pk in wanted if pk not in form_of]:
            raise UsageError(f"There is no vacancy with a form and the id {missing[0]}.")
        forms = Form.objects.select_related("extends").in_bulk(
            {form for form, _brand in form_of.values()}
        )
        served = {key: serve(forms[key[0]], key[1])[0] for key in set(form_of.values())}
        for (form, _brand), sections in served.items():
            add_roles(sections, forms[form].whole_structure)
        translated = self._translations(forms, set(form_of.values()))
        content = {
            str(pk): {"data": served[key], **translated.get(key, {})} for pk, key in form_of.items()
        }
        text = json.dumps(content, ensure_ascii=False, indent=1)
        if options["output"] is None:
            self.stdout.write(text)
            return
        try:
            options["output"].write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options['output']}: {error.strerror}.") from error
        self.finish(f"{len(content)} forms written to {options['output']}.", forms=len(content))

    def _translations(self, forms: dict[int, Form], keys: set[tuple]) -> dict[tuple, JsonObject]:
        """Return {"translations": {language: sections}} of the forms that have some, by form and
        brand.
        """
        found: dict[tuple, JsonObject] = {}
        rows = Form.objects.filter(translation_of__in=forms).select_related("extends")
        for each in rows.order_by("language"):
            for key in keys:
                if key[0] == each.translation_of_id:
                    sections = serve(each, key[1])[0]
                    add_roles(sections, each.whole_structure)
                    found.setdefault(key, {"translations": {}})["translations"][each.language] = (
                        sections
                    )
        return found
