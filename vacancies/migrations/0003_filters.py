"""Create the nine filters, inactive until a recruiter activates them."""

from django.db import migrations

LABELS = {
    "functiongroup": "Job category",
    "types": "Types",
    "contract_types": "Contract types",
    "work_regimes": "Work regimes",
    "regions": "Regions",
    "jobcustom1_values": "Custom filter 1",
    "jobcustom2_values": "Custom filter 2",
    "jobcustom3_values": "Custom filter 3",
    "jobcustom4_values": "Custom filter 4",
}


def create(apps, schema_editor):
    filters = apps.get_model("vacancies", "Filter").objects
    for position, (keyword, label) in enumerate(LABELS.items()):
        filters.create(keyword=keyword, label=label, position=position)


class Migration(migrations.Migration):
    replaces = [("vacancies", "0002_filters")]
    dependencies = [("vacancies", "0002_editing_and_lists")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
