"""What teams of vacancies see, and invitations to them."""

from django.db import migrations, models

SEES = [("all", "all applications"), ("presented", "those in a stage that is presented")]


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0019_person_indexes"),
        ("vacancies", "0016_teams"),
    ]
    operations = [
        migrations.AddField(
            "stage",
            "is_presented",
            models.BooleanField(
                "presented",
                default=False,
                db_default=False,
                help_text="Members of a team who see presented applications only see those in it.",
            ),
        ),
        migrations.AddField(
            "note",
            "is_for_team",
            models.BooleanField("for the team", default=False, db_default=False),
        ),
        migrations.AddField(
            "invitation",
            "vacancies",
            models.ManyToManyField("vacancies.vacancy", blank=True, related_name="+"),
        ),
        migrations.AddField(
            "invitation",
            "sees",
            models.CharField(max_length=10, choices=SEES, default="all", db_default="all"),
        ),
    ]
