from vacancies.employment_types import employment_type_of

MEANINGS = {
    "FULL_TIME": [
        "Full Time", "Full-Time", "Full‑time.", "FULLTIME", "Work Schedule is full-time.", "Voltijds",
        "Temps plein", "CDI – temps plein", "À temps complet", "Vollzeit (m/w/d)", "unbefristet, Vollzeit",
        "Full-Time/Permanent", "Full time, 38 hours per week",
    ],
    "PART_TIME": [
        "Part Time 15 hours", "deeltijds", "Deeltijd 80%", "mi-temps", "Temps partiel", "Teilzeit",
        "Werkstudent", "Werkstudent/in (m/w/d)", "Vast, deeltijds",
    ],
    "CONTRACTOR": ["Freelance", "Freelancer:in", "ZZP’er", "Zelfstandige", "Indépendant(e)"],
    "TEMPORARY": [
        "Temporary NTE 1 year", "Fixed-term contract", "Tijdelijk (6 maanden)", "Contract bepaalde duur",
        "interim", "Intérimaire", "CDD", "Contrat à durée déterminée", "CDD 6 mois", "befristet auf 2 Jahre",
        "Befristeter Vertrag",
    ],
    "INTERN": ["Internship", "stage", "Stage (h/f/x)", "Praktikum", "Praktikant*in"],
    "VOLUNTEER": ["Volunteer", "Vrijwilligerswerk", "Bénévolat", "ehrenamtlich"],
    "PER_DIEM": ["Per diem"],
    "": [
        "", "Permanent", "CDI", "Onbepaalde duur", "Durée indéterminée", "unbefristet", "Contract",
        "Full and part time", "Full or part-time", "voltijds / deeltijds", "Not full-time", "geen stage",
        "Time Limited/Full Time", "Temporary or permanent", "Interim met optie vast", "Interim manager",
        "Stage manager", "Temporary Promotion", "Internal", "Volontariat", "Trainee", "Multiple Schedules",
        "80%", "Seasonal", "Shifts", "Temp lead", "Interne Stelle",
    ],
}  # fmt: skip


def test_labels_have_the_type_that_they_certainly_mean():
    found = {label: employment_type_of(label) for labels in MEANINGS.values() for label in labels}
    assert found == {label: value for value, labels in MEANINGS.items() for label in labels}
