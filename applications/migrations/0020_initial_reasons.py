"""The reasons of a new site. They are offered once a stage asks for a reason."""

from django.db import migrations

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


def create(apps, schema_editor):
    apps.get_model("applications", "Reason").objects.bulk_create(
        apps.get_model("applications", "Reason")(kind=kind, name=name, position=position)
        for kind, names in REASONS.items()
        for position, name in enumerate(names)
    )


class Migration(migrations.Migration):
    dependencies = [("applications", "0019_stage_change_reason")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
