from django.db import migrations, models

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0003_submissions")]

    operations = [
        AddIndexOnline(
            model_name="application",
            index=models.Index(models.F("email_folded"), name="applications_of_address"),
        ),
        AddIndexOnline(
            model_name="application",
            index=models.Index(
                models.F("vacancy"),
                models.OrderBy(models.F("created_at"), descending=True),
                name="applications_of_vacancy",
            ),
        ),
        AddIndexOnline(
            model_name="application",
            index=models.Index(
                models.F("vacancy"),
                models.OrderBy(models.F("created_at"), descending=True),
                condition=models.Q(("read_at", None)),
                name="applications_unread",
            ),
        ),
        AddIndexOnline(
            model_name="stagechange",
            index=models.Index(fields=["application", "-at", "-id", "stage"], name="stage_changes_latest"),
        ),
    ]
