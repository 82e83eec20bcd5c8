"""The labels of the demo's filters and options, and its form, in other languages."""

import json
from pathlib import Path

from forms_structure import operations
from forms_structure.models import Form
from forms_structure.translations import own_values
from jobsite.languages import LANGUAGES
from vacancies.models import Filter, FilterOption

CONTENT = Path(__file__).with_name("translations.json")


def translate() -> None:
    """Translate what the demo created in English. What was translated already is not changed."""
    content = json.loads(CONTENT.read_text(encoding="utf-8"))
    labels = content["labels"]
    for model in (Filter, FilterOption):
        rows = list(model._default_manager.filter(label__in=labels, translations={}))
        for row in rows:
            row.translations = labels[row.label]
        model._default_manager.bulk_update(rows, ["translations"])
    for name, words in content["forms"].items():
        for form in Form.objects.originals().filter(name=name, language="en", translations=None):
            own = own_values(form.structure)
            for code in sorted(LANGUAGES.keys() - {"en"}):
                texts = {path: words[text][code] for path, text in own.items() if text in words}
                operations.save_translation(operations.translate(form, code), texts, author=None)
