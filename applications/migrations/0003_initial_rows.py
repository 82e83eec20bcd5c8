"""The stages, reasons and email templates of a new site."""

from django.db import migrations

# stage, kind, embargo in days, and the candidate-facing status in English, Dutch, French and German
STAGES = [
    ("New", "open", 0, "Received", "Ontvangen", "Reçue", "Eingegangen"),
    ("Screening", "open", 0, "Under review", "In behandeling", "En cours d’examen", "In Prüfung"),
    ("Interview", "open", 0, "In interviews", "In gesprek", "En entretien", "Im Gespräch"),
    ("Offer", "open", 0, "Offer made", "Aanbod gedaan", "Offre faite", "Angebot gemacht"),
    ("Hired", "hired", 0, "Hired", "Aangeworven", "Engagé(e)", "Eingestellt"),
    (
        "Rejected",
        "rejected",
        2,
        "Not selected",
        "Niet weerhouden",
        "Non retenue",
        "Nicht ausgewählt",
    ),
    ("Withdrawn", "withdrawn", 0, "Withdrawn", "Ingetrokken", "Retirée", "Zurückgezogen"),
]
# They are offered once a stage asks for a reason.
REASONS = {
    "rejected": (
        "Qualification is missing",
        "Not enough experience",
        "Languages",
        "Expected pay",
        "Not available in time",
        "Another applicant was chosen",
        "The vacancy was closed",
        "Duplicate application",
    ),
    "withdrawn": ("Accepted another offer", "Pay or conditions", "Personal reasons"),
}
# How each email begins and ends, by language
FRAMES = {
    "en": ("Dear {name},\n\n", "\n\nKind regards,\n\n{recruiter}\n{brand}"),
    "nl": ("Beste {name},\n\n", "\n\nMet vriendelijke groeten,\n\n{recruiter}\n{brand}"),
    "fr": ("Bonjour {name},\n\n", "\n\nCordialement,\n\n{recruiter}\n{brand}"),
    "de": ("Guten Tag {name},\n\n", "\n\nMit freundlichen Grüßen\n\n{recruiter}\n{brand}"),
}
# The subject, and the text between, by name and language
TEMPLATES = {
    "Received": {
        "en": (
            "Your application: {vacancy}",
            "Thank you for your application for {vacancy}, which we received on {received}. We "
            "will read it carefully and write to you again.\n\n"
            "You can follow your application here:\n{link}",
        ),
        "nl": (
            "Uw sollicitatie: {vacancy}",
            "Bedankt voor uw sollicitatie voor {vacancy}, die wij op {received} ontvingen. Wij "
            "lezen ze aandachtig en schrijven u opnieuw.\n\n"
            "U kunt uw sollicitatie hier volgen:\n{link}",
        ),
        "fr": (
            "Votre candidature : {vacancy}",
            "Nous vous remercions de votre candidature pour {vacancy}, reçue le {received}. Nous "
            "la lirons attentivement et vous écrirons de nouveau.\n\n"
            "Vous pouvez suivre votre candidature ici :\n{link}",
        ),
        "de": (
            "Ihre Bewerbung: {vacancy}",
            "vielen Dank für Ihre Bewerbung für {vacancy}, die wir am {received} erhalten haben. "
            "Wir werden sie sorgfältig lesen und Ihnen wieder schreiben.\n\n"
            "Hier können Sie Ihre Bewerbung verfolgen:\n{link}",
        ),
    },
    "Invitation to an interview": {
        "en": (
            "Invitation to an interview: {vacancy}",
            "Your application for {vacancy} interests us, and we would like to meet you. Please "
            "reply with some days and times that suit you.",
        ),
        "nl": (
            "Uitnodiging voor een gesprek: {vacancy}",
            "Uw sollicitatie voor {vacancy} spreekt ons aan en wij willen u graag ontmoeten. "
            "Antwoord op deze e-mail met enkele dagen en uren die u passen.",
        ),
        "fr": (
            "Invitation à un entretien : {vacancy}",
            "Votre candidature pour {vacancy} nous intéresse et nous souhaitons vous rencontrer. "
            "Merci de répondre à cet e-mail avec quelques jours et heures qui vous conviennent.",
        ),
        "de": (
            "Einladung zu einem Gespräch: {vacancy}",
            "Ihre Bewerbung für {vacancy} hat uns angesprochen, und wir möchten Sie gern "
            "kennenlernen. Bitte antworten Sie mit einigen Tagen und Uhrzeiten, die Ihnen passen.",
        ),
    },
    "Rejection": {
        "en": (
            "Your application: {vacancy}",
            "Thank you for your application for {vacancy} and for your time. We considered it "
            "carefully and decided to continue with other candidates.\n\n"
            "We wish you every success.",
        ),
        "nl": (
            "Uw sollicitatie: {vacancy}",
            "Bedankt voor uw sollicitatie voor {vacancy} en voor uw tijd. Wij hebben ze "
            "zorgvuldig bekeken en gaan verder met andere kandidaten.\n\n"
            "Wij wensen u veel succes.",
        ),
        "fr": (
            "Votre candidature : {vacancy}",
            "Nous vous remercions de votre candidature pour {vacancy} et du temps que vous y avez"
            " consacré. Après un examen attentif, nous avons décidé de poursuivre avec d’autres "
            "candidats.\n\n"
            "Nous vous souhaitons beaucoup de succès.",
        ),
        "de": (
            "Ihre Bewerbung: {vacancy}",
            "vielen Dank für Ihre Bewerbung für {vacancy} und für Ihre Zeit. Wir haben sie "
            "sorgfältig geprüft und uns für andere Bewerbungen entschieden.\n\n"
            "Wir wünschen Ihnen viel Erfolg.",
        ),
    },
    "Offer": {
        "en": (
            "Our offer: {vacancy}",
            "We are glad to offer you the position of {vacancy}. We will contact you about the "
            "details. Please reply if you have any questions.",
        ),
        "nl": (
            "Ons aanbod: {vacancy}",
            "Met genoegen bieden wij u de functie van {vacancy} aan. Wij nemen contact met u op "
            "over de details. Antwoord op deze e-mail als u vragen hebt.",
        ),
        "fr": (
            "Notre offre : {vacancy}",
            "Nous avons le plaisir de vous proposer le poste de {vacancy}. Nous vous contacterons"
            " au sujet des détails. Répondez à cet e-mail si vous avez des questions.",
        ),
        "de": (
            "Unser Angebot: {vacancy}",
            "wir freuen uns, Ihnen die Stelle {vacancy} anzubieten. Wir melden uns bei Ihnen "
            "wegen der Einzelheiten. Bitte antworten Sie, wenn Sie Fragen haben.",
        ),
    },
}


def create_stages(apps):
    statuses = apps.get_model("applications", "Status").objects
    stages = apps.get_model("applications", "Stage").objects
    for position, (name, kind, embargo, en, nl, fr, de) in enumerate(STAGES):
        status = statuses.create(label_en=en, label_nl=nl, label_fr=fr, label_de=de)
        stages.create(name=name, kind=kind, status=status, embargo_days=embargo, position=position)


def create_reasons(apps):
    reasons = apps.get_model("applications", "Reason").objects
    for kind, names in REASONS.items():
        for position, name in enumerate(names):
            reasons.create(kind=kind, name=name, position=position)


def create_templates(apps):
    templates = apps.get_model("applications", "MailTemplate").objects
    for name, texts in TEMPLATES.items():
        values = {}
        for language, (subject, text) in texts.items():
            beginning, end = FRAMES[language]
            values[f"subject_{language}"] = subject
            values[f"body_{language}"] = f"{beginning}{text}{end}"
        templates.create(name=name, **values)


def create(apps, schema_editor):
    create_stages(apps)
    create_reasons(apps)
    create_templates(apps)


class Migration(migrations.Migration):
    replaces = [
        ("applications", "0002_stages"),
        ("applications", "0005_stage_kinds"),
        ("applications", "0006_mail_templates"),
        ("applications", "0020_initial_reasons"),
    ]
    dependencies = [("applications", "0002_interviews_and_emails")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
