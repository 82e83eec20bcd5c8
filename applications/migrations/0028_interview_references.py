import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from jobsite.ops.online_migrations import (
    AddColumnOnline,
    AddConstraintOnline,
    AddForeignKeyOnline,
    AddIndexOnline,
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("applications", "0027_interviews"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddColumnOnline(
            model_name="historyentry",
            name="details",
            field=models.TextField(blank=True, db_default="", default="", editable=False, max_length=2000),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="ends_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="is_cancelled",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, verbose_name="cancelled"
            ),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="place",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=300),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="sequence",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="uid",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=32),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="video_url",
            field=models.URLField(blank=True, db_default="", default="", editable=False, max_length=500),
        ),
        AddColumnOnline(
            model_name="historyentry",
            name="zone",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=64),
        ),
        AddColumnOnline(
            model_name="message",
            name="calendar",
            field=models.TextField(blank=True, db_default="", default="", editable=False),
        ),
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
