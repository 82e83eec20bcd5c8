"""The teams of vacancies."""

import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from jobsite.db.tables import CreateModels, fields

TABLES = [
    migrations.CreateModel(
        "TeamMember",
        fields(
            vacancy=models.ForeignKey(
                "vacancies.vacancy", on_delete=models.CASCADE, related_name="team"
            ),
            user=models.ForeignKey(
                settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="teams"
            ),
            sees=models.CharField(
                "sees",
                max_length=10,
                choices=[
                    ("all", "all applications"),
                    ("presented", "those in a stage that is presented"),
                ],
                default="all",
            ),
            added_by=models.ForeignKey(
                settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
            ),
            added_at=models.DateTimeField(default=django.utils.timezone.now),
            told_at=models.DateTimeField(null=True),
        ),
        {
            "verbose_name": "team member",
            "verbose_name_plural": "team members",
            "ordering": ["added_at", "pk"],
            "default_permissions": (),
            "constraints": [
                models.UniqueConstraint(fields=["vacancy", "user"], name="team_member_once")
            ],
        },
    ),
]


class Migration(migrations.Migration):
    dependencies = [
        ("vacancies", "0015_webhook_integration"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [CreateModels(TABLES)]
