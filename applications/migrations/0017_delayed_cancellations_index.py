"""The index of the cancellations that wait."""

from django.db import migrations, models

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0016_delayed_cancellations")]
    operations = [
        AddIndexOnline(
            "stagechange",
            models.Index(
                models.F("at"),
                condition=models.Q(cancels_interviews=True),
                name="stage_changes_cancelling",
            ),
        ),
    ]
