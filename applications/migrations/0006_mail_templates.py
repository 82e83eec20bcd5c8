"""Create the initial email templates, in four languages."""

from django.db import migrations

END = "\n\n{recruiter}\n{brand}"
# subject and text, by name and language
TEMPLATES = {
    "Received": {
        "en": (
            "Your application: {vacancy}",
            "Dear {name},\n\n"
            "Thank you for your application for {vacancy}, which we received on {received}. "
            "We will read it carefully and write to you again.\n\n"
            "You can follow your application here:\n{link}\n\n"
            "Kind regards," + END,
        ),
        "nl": (
            "Uw sollicitatie: {vacancy}",
            "Beste {name},\n\n"
            "Bedankt voor uw sollicitatie voor {vacancy}, die wij op {received} ontvingen. "
            "Wij lezen ze aandachtig en schrijven u opnieuw.\n\n"
            "U kunt uw sollicitatie hier volgen:\n{link}\n\n"
            "Met vriendelijke groeten," + END,
        ),
        "fr": (
            "Votre candidature : {vacancy}",
            "Bonjour {name},\n\n"
            "Nous vous remercions de votre candidature pour {vacancy}, reçue le {received}. "
            "Nous la lirons attentivement et vous écrirons de nouveau.\n\n"
            "Vous pouvez suivre votre candidature ici :\n{link}\n\n"
            "Cordialement," + END,
        ),
        "de": (
            "Ihre Bewerbung: {vacancy}",
            "Guten Tag {name},\n\n"
            "vielen Dank für Ihre Bewerbung für {vacancy}, die wir am {received} erhalten haben. "
            "Wir werden sie sorgfältig lesen und Ihnen wieder schreiben.\n\n"
            "Hier können Sie Ihre Bewerbung verfolgen:\n{link}\n\n"
            "Mit freundlichen Grüßen" + END,
        ),
    },
    "Invitation to an interview": {
        "en": (
            "Invitation to an interview: {vacancy}",
            "Dear {name},\n\n"
            "Your application for {vacancy} interests us, and we would like to meet you. "
            "Please reply with some days and times that suit you.\n\n"
            "Kind regards," + END,
        ),
        "nl": (
            "Uitnodiging voor een gesprek: {vacancy}",
            "Beste {name},\n\n"
            "Uw sollicitatie voor {vacancy} spreekt ons aan en wij willen u graag ontmoeten. "
            "Antwoord op deze e-mail met enkele dagen en uren die u passen.\n\n"
            "Met vriendelijke groeten," + END,
        ),
        "fr": (
            "Invitation à un entretien : {vacancy}",
            "Bonjour {name},\n\n"
            "Votre candidature pour {vacancy} nous intéresse et nous souhaitons vous rencontrer. "
            "Merci de répondre à cet e-mail avec quelques jours et heures qui vous conviennent.\n\n"
            "Cordialement," + END,
        ),
        "de": (
            "Einladung zu einem Gespräch: {vacancy}",
            "Guten Tag {name},\n\n"
            "Ihre Bewerbung für {vacancy} hat uns angesprochen, und wir möchten Sie gern kennenlernen. "
            "Bitte antworten Sie mit einigen Tagen und Uhrzeiten, die Ihnen passen.\n\n"
            "Mit freundlichen Grüßen" + END,
        ),
    },
    "Rejection": {
        "en": (
            "Your application: {vacancy}",
            "Dear {name},\n\n"
            "Thank you for your application for {vacancy} and for your time. "
            "We considered it carefully and decided to continue with other candidates.\n\n"
            "We wish you every success.\n\n"
            "Kind regards," + END,
        ),
        "nl": (
            "Uw sollicitatie: {vacancy}",
            "Beste {name},\n\n"
            "Bedankt voor uw sollicitatie voor {vacancy} en voor uw tijd. "
            "Wij hebben ze zorgvuldig bekeken en gaan verder met andere kandidaten.\n\n"
            "Wij wensen u veel succes.\n\n"
            "Met vriendelijke groeten," + END,
        ),
        "fr": (
            "Votre candidature : {vacancy}",
            "Bonjour {name},\n\n"
            "Nous vous remercions de votre candidature pour {vacancy} et du temps que vous y avez consacré. "
            "Après un examen attentif, nous avons décidé de poursuivre avec d’autres candidats.\n\n"
            "Nous vous souhaitons beaucoup de succès.\n\n"
            "Cordialement," + END,
        ),
        "de": (
            "Ihre Bewerbung: {vacancy}",
            "Guten Tag {name},\n\n"
            "vielen Dank für Ihre Bewerbung für {vacancy} und für Ihre Zeit. "
            "Wir haben sie sorgfältig geprüft und uns für andere Bewerbungen entschieden.\n\n"
            "Wir wünschen Ihnen viel Erfolg.\n\n"
            "Mit freundlichen Grüßen" + END,
        ),
    },
    "Offer": {
        "en": (
            "Our offer: {vacancy}",
            "Dear {name},\n\n"
            "We are glad to offer you the position of {vacancy}. "
            "We will contact you about the details. Please reply if you have any questions.\n\n"
            "Kind regards," + END,
        ),
        "nl": (
            "Ons aanbod: {vacancy}",
            "Beste {name},\n\n"
            "Met genoegen bieden wij u de functie van {vacancy} aan. "
            "Wij nemen contact met u op over de details. Antwoord op deze e-mail als u vragen hebt.\n\n"
            "Met vriendelijke groeten," + END,
        ),
        "fr": (
            "Notre offre : {vacancy}",
            "Bonjour {name},\n\n"
            "Nous avons le plaisir de vous proposer le poste de {vacancy}. "
            "Nous vous contacterons au sujet des détails. Répondez à cet e-mail si vous avez des questions."
            "\n\nCordialement," + END,
        ),
        "de": (
            "Unser Angebot: {vacancy}",
            "Guten Tag {name},\n\n"
            "wir freuen uns, Ihnen die Stelle {vacancy} anzubieten. "
            "Wir melden uns bei Ihnen wegen der Einzelheiten. Bitte antworten Sie, wenn Sie Fragen haben.\n\n"
            "Mit freundlichen Grüßen" + END,
        ),
    },
}


def create(apps, schema_editor):
    template_model = apps.get_model("applications", "MailTemplate")
    for name, texts in TEMPLATES.items():
        values = {}
        for language, (subject, body) in texts.items():
            values |= {f"subject_{language}": subject, f"body_{language}": body}
        template_model.objects.get_or_create(name=name, defaults=values)


class Migration(migrations.Migration):
    dependencies = [("applications", "0005_stage_kinds")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
