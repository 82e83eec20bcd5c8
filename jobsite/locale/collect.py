"""Update the translation catalogs from code and templates. `make messages` runs this script in the
root of the repository. New and changed texts get an empty translation, which the tests reject.
"""

import os
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.commands import makemessages

APPS = ("forms_structure", "vacancies", "applications", "jobsite")
LANGUAGES = ["nl", "fr", "de"]
# gettext's own header contains the date
HEADER = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Language: {language}\n"
"Plural-Forms: nplurals=2; plural=(n {one} 1);\n"
"""


class Collect(makemessages.Command):
    # In the order of the texts, so that code which moves changes no catalog.
    msgmerge_options = [
        *makemessages.Command.msgmerge_options,
        "--no-fuzzy-matching",
        "--sort-output",
    ]

    def find_files(self, root: str) -> list[makemessages.TranslatableFile]:
        """Return the files of our apps.
        templates/<app>/ belongs to that app, other templates to jobsite.
        """
        files = super().find_files(root)
        self.locale_paths = [os.path.abspath(f"{app}/locale") for app in APPS]
        owned = []
        for file in files:
            if app := owner(Path(file.path)):
                file.locale_dir = os.path.abspath(f"{app}/locale")
                owned.append(file)
        return owned

    def write_po_file(self, potfile: str, locale: str) -> None:
        super().write_po_file(potfile, locale)
        path = Path(potfile).parent / locale / "LC_MESSAGES" / f"{self.domain}.po"
        _, _, messages = path.read_text(encoding="utf-8").partition("\n\n")
        header = HEADER.format(language=locale, one=">" if locale == "fr" else "!=")
        path.write_text(f"{header}\n{messages.rstrip()}\n", encoding="utf-8")


def owner(path: Path) -> str:
    """Return the app whose catalog has the texts of the file at `path`, or ""."""
    if path.parts[0] == "static":  # copies by collectstatic
        return ""
    app = next((part for part in path.parts if part in APPS), "")
    return app or ("jobsite" if path.parts[0] == "templates" else "")


if __name__ == "__main__":
    settings.configure()
    for app in APPS:
        os.makedirs(f"{app}/locale", exist_ok=True)
    for domain in ("django", "djangojs"):
        call_command(
            Collect(),
            locale=LANGUAGES,
            domain=domain,
            ignore_patterns=[".venv*", "tests", "vendor"],
            no_location=True,
            no_wrap=True,
            no_obsolete=True,
        )
