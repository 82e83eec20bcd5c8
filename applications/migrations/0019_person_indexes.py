"""The index of persons."""

from django.db import migrations, models
from django.db.models import Q

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0018_persons")]
    operations = [
        AddIndexOnline(
            "application",
            models.Index(
                "person", condition=Q(person__isnull=False), name="applications_of_person"
            ),
        )
    ]
