from django.db import migrations, models

from jobsite.ops.online_migrations import DropTriggers


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.BigIntegerField(default=0)),
                ("shared", models.BigIntegerField(db_default=0, default=0)),
                ("watermark", models.BigIntegerField(db_default=0, default=0)),
            ],
        ),
        DropTriggers("jobsite_pending_bump|jobsite_revision"),
    ]
