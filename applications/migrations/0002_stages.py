"""Create the initial stages, each with a candidate-facing status in four languages."""

from django.db import migrations

# stage, embargo in days, and the status in English, Dutch, French and German
STAGES = [
    ("New", 0, "Received", "Ontvangen", "Reçue", "Eingegangen"),
    ("Screening", 0, "Under review", "In behandeling", "En cours d’examen", "In Prüfung"),
    ("Interview", 0, "In interviews", "In gesprek", "En entretien", "Im Gespräch"),
    ("Offer", 0, "Offer made", "Aanbod gedaan", "Offre faite", "Angebot gemacht"),
    ("Hired", 0, "Hired", "Aangeworven", "Engagé(e)", "Eingestellt"),
    ("Rejected", 2, "Not selected", "Niet weerhouden", "Non retenue", "Nicht ausgewählt"),
    ("Withdrawn", 0, "Withdrawn", "Ingetrokken", "Retirée", "Zurückgezogen"),
]


def create(apps, schema_editor):
    status_model = apps.get_model("applications", "Status")
    stage_model = apps.get_model("applications", "Stage")
    for position, (name, embargo, en, nl, fr, de) in enumerate(STAGES):
        status = status_model.objects.create(label_en=en, label_nl=nl, label_fr=fr, label_de=de)
        stage_model.objects.create(name=name, status=status, embargo_days=embargo, position=position)


class Migration(migrations.Migration):
    dependencies = [("applications", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
