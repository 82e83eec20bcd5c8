"""The employment type that the label of an option means, in English, Dutch, French and German."""

import re

from jobsite.db.folding import fold
from vacancies.choices import EmploymentType

# Folded, with single spaces in place of punctuation.
_PHRASES = {
    EmploymentType.FULL_TIME: (
        "full time", "fulltime", "voltijds", "voltijdse", "voltijd", "temps plein", "plein temps",
        "temps complet", "vollzeit", "vollzeitstelle",
    ),
    EmploymentType.PART_TIME: (
        "part time", "parttime", "deeltijds", "deeltijdse", "deeltijd", "halftijds", "halftijdse",
        "temps partiel", "mi temps", "teilzeit", "teilzeitstelle", "halbtags", "werkstudent", "werkstudentin",
        "minijob",
    ),
    EmploymentType.CONTRACTOR: (
        "contractor", "independent contractor", "freelance", "freelancer", "freelancerin", "zzp", "zzp er",
        "zzper", "zelfstandige", "als zelfstandige", "op zelfstandige basis", "independant", "independante",
        "freiberufler", "freiberuflerin", "freiberuflich", "freie mitarbeit",
    ),
    EmploymentType.TEMPORARY: (
        "temporary", "temp", "fixed term", "tijdelijk", "tijdelijke", "bepaalde duur",
        "van bepaalde duur", "bepaalde tijd", "voor bepaalde tijd", "uitzendkracht", "uitzendwerk",
        "uitzendarbeid", "seizoenswerk", "seizoensarbeid", "interim", "interimair", "interimaris",
        "interimaire", "cdd", "duree determinee", "a duree determinee", "temporaire", "saisonnier",
        "saisonniere", "befristet", "befristete", "befristeter", "zeitarbeit", "leiharbeit", "saisonarbeit",
    ),
    EmploymentType.INTERN: (
        "intern", "interns", "internship", "internships", "stage", "stages", "stagiair", "stagiaire",
        "stageplaats", "afstudeerstage", "praktikum", "pflichtpraktikum", "praktikant", "praktikantin",
    ),
    EmploymentType.VOLUNTEER: (
        "volunteer", "volunteers", "volunteering", "vrijwilliger", "vrijwilligers", "vrijwilligerswerk",
        "benevole", "benevoles", "benevolat", "ehrenamt", "ehrenamtlich", "ehrenamtliche",
    ),
    EmploymentType.PER_DIEM: ("per diem",),
}  # fmt: skip
# Other words of a label, which say nothing about the type.
_NEUTRAL = {
    "a", "an", "this", "is", "work", "working", "schedule", "position", "job", "contract", "contracts",
    "employment", "appointment", "role", "basis", "type", "nte", "per", "hour", "hours", "hrs", "h", "u",
    "uur", "uren", "day", "days", "week", "weeks", "month", "months", "year", "years", "werk", "functie",
    "baan", "dienstverband", "werkregime", "arbeidsovereenkomst", "jaar", "maand", "maanden", "weken",
    "dagen", "contrat", "emploi", "poste", "travail", "heure", "heures", "jour", "jours", "semaine",
    "semaines", "mois", "ans", "par", "stelle", "arbeit", "beschaftigung", "vertrag", "arbeitsvertrag",
    "anstellung", "std", "stunden", "tag", "tage", "woche", "wochen", "monat", "monate", "jahr", "jahre",
    "auf", "pro", "m", "f", "v", "x", "w", "d", "e", "in",
}  # fmt: skip
# A permanent job has no type of its own: it is full-time or part-time.
_PERMANENT = {
    "permanent", "permanente", "vast", "vaste", "cdi", "unbefristet", "unbefristete", "unbefristeter",
    "festanstellung",
}  # fmt: skip
_TYPES = {phrase: value for value, phrases in _PHRASES.items() for phrase in phrases}
_PHRASE = re.compile(rf"\b(?:{'|'.join(sorted(_TYPES, key=len, reverse=True))})\b")
_NO_WORD = re.compile(r"[\W\d_]+")  # digits too: "Part time 15 hours", "Teilzeit 80%"


def employment_type_of(label: str) -> str:
    """Return the employment type that `label` certainly means, or "".

    Every word has to be known: "Full-time, 38 hours" is FULL_TIME; "Full or part-time", "Not full-time",
    "Permanent" and "Stage manager" are "".
    """
    text = _NO_WORD.sub(" ", fold(label))
    found = {_TYPES[phrase] for phrase in _PHRASE.findall(text)}
    others = set(_PHRASE.sub(" ", text).split()) - _NEUTRAL
    if found & {EmploymentType.FULL_TIME, EmploymentType.PART_TIME}:
        others -= _PERMANENT
    return found.pop().value if len(found) == 1 and not others else ""
