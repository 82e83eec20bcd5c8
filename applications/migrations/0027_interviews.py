import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0026_scorecards"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Participant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participants",
                        to="applications.historyentry",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("address", models.EmailField(max_length=254)),
                ("sequence", models.PositiveIntegerField(default=0)),
                (
                    "reply",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "no answer yet"),
                            ("accepted", "accepted"),
                            ("tentative", "tentative"),
                            ("declined", "declined"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("replied_at", models.DateTimeField(blank=True, null=True)),
                ("reminded_for", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "participant",
                "verbose_name_plural": "participants",
                "ordering": ["pk"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("entry", "user"), name="one_participant_per_user"),
                    models.UniqueConstraint(
                        condition=models.Q(("user", None)),
                        fields=("entry",),
                        name="one_participant_is_the_applicant",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="brandmail",
            name="has_names_in_invitations",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Calendars of colleagues keep the name after the applicant was erased.",
                verbose_name="name the applicant in invitations of colleagues",
            ),
        ),
        migrations.CreateModel(
            name="CalendarFeed",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "calendar address",
                "verbose_name_plural": "calendar addresses",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SlotSet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("minutes", models.PositiveSmallIntegerField()),
                ("zone", models.CharField(max_length=64)),
                ("place", models.CharField(blank=True, default="", max_length=300)),
                ("video_url", models.URLField(blank=True, default="", max_length=500)),
                ("details", models.TextField(blank=True, default="", max_length=2000)),
                (
                    "notice_hours",
                    models.PositiveSmallIntegerField(
                        default=24, validators=[django.core.validators.MaxValueValidator(336)]
                    ),
                ),
                ("closes_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "colleagues",
                    models.ManyToManyField(blank=True, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "vacancy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="vacancies.vacancy"
                    ),
                ),
            ],
            options={
                "verbose_name": "times to choose from",
                "verbose_name_plural": "times to choose from",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Offer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offers",
                        to="applications.application",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="applications.historyentry",
                    ),
                ),
                (
                    "set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offers",
                        to="applications.slotset",
                    ),
                ),
            ],
            options={
                "verbose_name": "offer of times",
                "verbose_name_plural": "offers of times",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("starts_at", models.DateTimeField()),
                (
                    "offer",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="slot",
                        to="applications.offer",
                    ),
                ),
                (
                    "set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to="applications.slotset",
                    ),
                ),
            ],
            options={
                "verbose_name": "time to choose",
                "verbose_name_plural": "times to choose",
                "ordering": ["starts_at", "pk"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("set", "starts_at"), name="one_slot_per_time")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="offer",
            constraint=models.UniqueConstraint(fields=("set", "application"), name="one_offer_per_set"),
        ),
    ]
