import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from jobsite.ops.online_migrations import AddConstraintOnline, AddForeignKeyOnline, AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("applications", "0027_interviews"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddForeignKeyOnline(
            model_name="historyentry",
            name="author",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        AddConstraintOnline(
            model_name="historyentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("planned_at"))), name="step_ends_after_start"
            ),
        ),
        AddConstraintOnline(
            model_name="historyentry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("uid", ""), _negated=True), fields=("uid",), name="step_uid_once"
            ),
        ),
        AddForeignKeyOnline(
            model_name="message",
            name="participant",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="messages",
                to="applications.participant",
            ),
        ),
        AddIndexOnline(
            model_name="historyentry",
            index=models.Index(
                models.F("planned_at"),
                condition=models.Q(("uid", ""), _negated=True),
                name="interviews_by_time",
            ),
        ),
    ]
