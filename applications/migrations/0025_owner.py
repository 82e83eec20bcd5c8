import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from jobsite.ops.online_migrations import AddForeignKeyOnline, AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("applications", "0024_tags"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddForeignKeyOnline(
            model_name="application",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="assigned to",
            ),
        ),
        AddIndexOnline(
            model_name="application",
            index=models.Index(
                "phone_digits", condition=models.Q(phone_digits__gt=""), name="applications_of_phone"
            ),
        ),
    ]
