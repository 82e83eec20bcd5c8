"""Questions about the pay that applicants have or had, which employers in the European Union may
not ask: Article 5(2) of Directive (EU) 2023/970. In the four languages of the admin; a warning, not
proof.
"""

import re
from collections.abc import Sequence

from forms_structure.structure import Section, walk
from jobsite.db.folding import fold

MAX_READ = 200  # characters of a label
# Folded: without case and accents.
_PAY = (
    r"(?:\w*(?:salar|salaire|gehalt|verguetung|vergutung)\w*|\w*(?:loon|lohn|wedde|lohne|lonen)"
    r"|wages?|pay|remuneration\w*|compensation|earnings?|earn(?:ed|ing)?|inkomen|einkommen|revenus?|entgelt"
    r"|verdien\w*|gagn(?:ez|es|ais|iez)|touch(?:ez|ais|iez))"
)
_BEFORE = (
    r"(?:current(?:ly)?|present(?:ly)?|previous(?:ly)?|last|latest|past|former|existing|now|today|history"
    r"|huidige?|vorige?|laatste?|vroegere?|actuele?|nu|momenteel|thans|verleden|geschiedenis"
    r"|actuels?|actuelles?|actuellement|precedente?s?|derniere?s?|anterieure?s?|ancien(?:ne)?s?|historique"
    r"|aktuell\w*|derzeit\w*|bisherig\w*|letzte\w*|vorherig\w*|fruhere\w*|jetzt|jetzig\w*|gegenwartig\w*"
    r"|momentan\w*|zurzeit|vergangen\w*)"
)
_EXPECTED = (
    r"(?:expect\w*|desired|wanted|required|requirements?|aspirations?|gewenst\w*|verwacht\w*|wens(?:en)?"
    r"|souhait\w*|attendue?s?|esperee?s?|pretentions?|gewunscht\w*|erwart\w*|wunsch\w*|vorstellung\w*)"
)
_WORDS = r"(?:\W+\w+){0,3}?\W+"  # up to three other words
# "current salary", "current and expected salary"
_CERTAIN = re.compile(
    rf"\b(?:{_BEFORE} (?:(?:and|en|und) (?:expected|desired|gewenste?|verwachte?|gewunscht\w*) "
    rf")?{_PAY}"
    rf"|{_PAY} \(?{_BEFORE})\b"
)
_EXPECTED_PAY = re.compile(
    rf"\b(?:{_EXPECTED}{_WORDS}{_PAY}|{_PAY}{_WORDS}{_EXPECTED}"
    r"|\w*(?:loon|lohn|gehalts?|salaris)(?:verwacht|eis|wens|vorstell|wunsch|erwart|indicatie)\w*)\b"
)
_PAY_HISTORY = re.compile(
    rf"\b(?:{_BEFORE}{_WORDS}{_PAY}|{_PAY}{_WORDS}{_BEFORE}"
    r"|(?:salary|pay|wage) ?slips?|loon(?:brief|briefje|fiche|strook|strookje)\w*|salarisstrook\w*"
    r"|(?:fiches?|bulletins?) de (?:paie|paye|salaire)"
    r"|(?:lohn|gehalts)(?:zettel|abrechnung|nachweis|historie)\w*)\b"
)


def pay_history_labels(structure: Sequence[Section]) -> list[str]:
    """Return the labels of the fields of `structure` that ask for the current or earlier pay."""
    labels = [field["label"] for _path, field in walk(structure)]
    return [label for label in labels if isinstance(label, str) and asks_for_pay_history(label)]


def asks_for_pay_history(label: str) -> bool:
    text = fold(label[:MAX_READ])
    return bool(_CERTAIN.search(text) or _PAY_HISTORY.search(_EXPECTED_PAY.sub("|", text)))
