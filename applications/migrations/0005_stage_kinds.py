"""Mark the initial stages that decide something."""

from django.db import migrations

KINDS = {"Hired": "hired", "Rejected": "rejected", "Withdrawn": "withdrawn"}


def mark(apps, schema_editor):
    stage_model = apps.get_model("applications", "Stage")
    for name, kind in KINDS.items():
        stage_model.objects.filter(name=name, kind="open").update(kind=kind)


class Migration(migrations.Migration):
    dependencies = [("applications", "0004_application_indexes")]
    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
