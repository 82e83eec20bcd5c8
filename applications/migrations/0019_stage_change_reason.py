import django.db.models.deletion
from django.db import migrations, models

from jobsite.ops.online_migrations import AddForeignKeyOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0018_reasons")]

    operations = [
        AddForeignKeyOnline(
            model_name="stagechange",
            name="reason",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="applications.reason",
            ),
        ),
    ]
