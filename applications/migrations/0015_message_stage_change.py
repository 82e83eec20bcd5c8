import django.db.models.deletion
from django.db import migrations, models

from jobsite.ops.online_migrations import AddForeignKeyOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0014_folded_name_search")]

    operations = [
        AddForeignKeyOnline(
            model_name="message",
            name="stage_change",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="messages",
                to="applications.stagechange",
            ),
        ),
    ]
