"""A text that has two meanings needs a context: all catalogs are one, and `jobsite` comes first."""

import gettext
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import django
import unfold
from django.apps import apps

from jobsite.text import third_party_messages
from tests.jobsite.test_languages import APPS, CATALOGS, LANGUAGES, ROOT, entries

# Reviewed: in our catalogs and in packages, or in two of our catalogs, with the same meaning.
SAME_MEANING = {
    "Add",
    "Add %(name)s",
    "All",
    "Cancel",
    "Change my password",
    "Choose file to upload",
    "Close",
    "Date",
    "Delete",
    "Filters",
    "From",
    "History",
    "Image preview",
    "More actions",
    "Name",
    "Next",
    "No",
    "Previous",
    "Remove",
    "Save",
    "Send again",
    "Show all",
    "Skip to main content",
    "This field is required.",
    "View on site",
    "Yes",
    "Enter a valid email address.",
    "Page not found",
    "search",
    "All vacancies",
    "Back to the vacancy",
    "Countries for remote work",
    "Pay",
    "Saved.",
    "kind",
    "The view “%(view)s” was deleted.",
    "This password is too short. It must contain at least %d character.",
    "All applications",  # the theme's means apps; it does not show it
}
TEXT = re.compile(r"""(?:trans|translate|\b_\(|gettext\w*\()\s*(?:"([^"]+)"|'([^']+)')""")


def of_unfold() -> set[str]:
    """Return the texts of django-unfold, which has no catalog, without its parts that are not
    installed.
    """
    folder = Path(unfold.__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".html")]
    own = [path for path in files if "contrib" not in path.parts or "filters" in path.parts]
    return {first or second for path in own for first, second in TEXT.findall(path.read_text())}


def of_packages() -> Iterator[tuple[str, str, str]]:
    """Yield (language, English text, translation) of the catalogs of packages."""
    folders = [
        Path(config.path) for config in apps.get_app_configs() if "site-packages" in config.path
    ]
    for folder in (*folders, Path(django.__file__).parent / "conf"):
        for language in LANGUAGES:
            path = folder / "locale" / language / "LC_MESSAGES" / "django.mo"
            if path.exists():
                with path.open("rb") as file:
                    catalog = gettext.GNUTranslations(file)._catalog
                for key, text in catalog.items():
                    yield language, key[0] if isinstance(key, tuple) else key, text


def test_a_text_has_one_meaning():
    ours: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    of_apps = set()
    for name in (each for each in CATALOGS if each.endswith("/django.po")):
        for context, english, translated in entries(ROOT / name)[1:]:
            if not context:
                ours[english[0]][name.split("/")[2]].add(translated[0])
                of_apps |= {english[0]} if name.split("/")[0] in APPS else set()
    replaced = {*map(str, (*third_party_messages.UNFOLD, *third_party_messages.DJANGO))}
    theirs = defaultdict(set)
    for language, english, text in of_packages():
        theirs[english, language].add(text)
    other = {
        english
        for (english, language), texts in theirs.items()
        if english in ours and not texts & ours[english][language]
    }
    shared = {
        each
        for each in other | of_unfold()
        if each in ours and (each not in replaced or each in of_apps)
    }
    twice = {
        english for english, found in ours.items() if any(len(each) > 1 for each in found.values())
    }

    assert sorted((shared | twice) - SAME_MEANING) == []
