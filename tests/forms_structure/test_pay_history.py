"""Labels that ask for pay history (Article 5(2) of Directive (EU) 2023/970), and labels that do
not.
"""

from forms_structure.pay_history import asks_for_pay_history, pay_history_labels
from tests.forms_structure.strategies import section, text_field

ASK = """
Current salary; What is your current gross annual salary?; Last drawn salary; Present pay (gross)
Salary history; Previous wages; How much do you earn now?; What did you earn in your last job?
Pay at your previous employer; Upload your last payslip; Current and expected salary; Salary (current)
Current compensation package; Huidig en gewenst salaris; Huidig salaris; Uw huidige bruto maandloon
Huidig loon; Loon vorige werkgever; Laatst verdiende loon; Hoeveel verdient u momenteel?
Wat was je laatste brutosalaris?; Loonbrief; Salarisstrook; Actuele wedde; Salaire actuel et souhaité
Salaire actuel; Votre dernier salaire brut; Rémunération précédente; Combien gagnez-vous actuellement ?
Salaire chez votre ancien employeur; Fiche de paie; Historique salarial
Quel est votre salaire mensuel actuel ?; Aktuelles Gehalt; Derzeitiges Jahresgehalt
Bisheriges Bruttogehalt; Gehalt beim letzten Arbeitgeber; Letzter Lohn; Was verdienen Sie zurzeit?
Gehaltsabrechnung; Gehalt (aktuell); Aktuelle Vergütung; Jetziges Einkommen
"""
DO_NOT_ASK = """
Salary expectation; Expected salary; Desired gross salary; Salary requirements
What salary do you expect?; Current employer; Current notice period and salary expectation; Last name
Display name; Payroll experience; Have you used payroll software in your last job?; Current position
Are you paid by the hour?; Gewenst salaris; Gewenst loon; Looneis; Salarisindicatie
Verwacht brutosalaris; Huidige werkgever; Laatste diploma; Huidige functie, gewenst salaris; Woonplaats
Prétentions salariales; Salaire souhaité; Employeur actuel; Dernier diplôme
Poste actuel et prétentions salariales; Gehaltsvorstellung; Gehaltswunsch; Gewünschtes Gehalt
Aktueller Arbeitgeber und Gehaltsvorstellung; Lohnvorstellung; Letzter Arbeitgeber
Welches Gehalt erwarten Sie?; Belohnung; Inhalt des letzten Zeugnisses
"""


def texts(of: str) -> list[str]:
    return [text.strip() for line in of.strip().splitlines() for text in line.split(";")]


def test_labels_that_ask_for_pay_history() -> None:
    assert [text for text in texts(ASK) if not asks_for_pay_history(text)] == []
    assert [text for text in texts(DO_NOT_ASK) if asks_for_pay_history(text)] == []


def test_conditional_fields_are_checked_and_languages_have_no_label() -> None:
    owner = text_field(
        "a", type="checkbox", label="More", conditional=[text_field("b", label="Huidig loon")]
    )
    language = text_field("c", type="range", label={"name": "l", "label": "Huidig loon"})
    assert pay_history_labels([section(owner | {"required": False}, language)]) == ["Huidig loon"]
