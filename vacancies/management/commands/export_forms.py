import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Prefetch

from forms_structure.api.v1 import serve
from forms_structure.models import Form
from forms_structure.roles import add_roles
from forms_structure.structure import Structure
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
        rows = Form.objects.select_related("extends")
        translations = Prefetch("translations", rows.order_by("language"))
        forms = rows.prefetch_related(translations).in_bulk({form for form, _ in form_of.values()})
        exported = {(pk, brand): _exported(forms[pk], brand) for pk, brand in {*form_of.values()}}
        content = {str(pk): exported[key] for pk, key in form_of.items()}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        if options["output"] is None:
            self.stdout.write(text)
            return
        try:
            options["output"].write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options['output']}: {error.strerror}.") from error
        self.finish(f"{len(content)} forms written to {options['output']}.", forms=len(content))


def _exported(form: Form, brand: int | None) -> JsonObject:
    """Return `form` as a vacancy of the brand has it, with its translations if it has some."""

    def sections(each: Form) -> Structure:
        served = serve(each, brand)[0]
        add_roles(served, each.whole_structure)
        return served

    others = {each.language: sections(each) for each in form.translations.all()}
    return {"data": sections(form)} | ({"translations": others} if others else {})
