"""Constraints of the facts of a vacancy, slugs of the existing brands, and the triggers of places.

Stored items contain the employment types of options, and the address of a vacancy of the brand: a change of these
columns gives the vacancies new row versions.
"""

from importlib import import_module

from django.db import migrations, models

from jobsite.ops.online_migrations import AddConstraintOnline, RunSQLOn, revision_trigger
from vacancies.fields import free_value

CHILD_TRIGGERS = import_module("vacancies.migrations.0014_read_model_triggers").CHILD_TRIGGERS
READ_MODEL = [
    """
CREATE OR REPLACE TRIGGER listed_vacancy_option_moved AFTER UPDATE ON vacancies_filteroption
  FOR EACH ROW WHEN (OLD.filter_id <> NEW.filter_id OR OLD.employment_type <> NEW.employment_type)
  EXECUTE FUNCTION listed_vacancy_option_moved()
    """,
    # FOR UPDATE makes transactions wait that give the brand to a vacancy. The vacancies are locked before it, because
    # a save locks the vacancy before its brand, and after it, because more may have the brand then.
    """
CREATE OR REPLACE FUNCTION listed_vacancy_brand_address() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint);
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE brand_id = NEW.id ORDER BY id FOR NO KEY UPDATE;
  PERFORM 1 FROM vacancies_brand WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_vacancy WHERE brand_id = NEW.id ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version WHERE brand_id = NEW.id AND row_version <> version;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_brand_address AFTER UPDATE ON vacancies_brand
  FOR EACH ROW WHEN (OLD.vacancy_url <> NEW.vacancy_url) EXECUTE FUNCTION listed_vacancy_brand_address()
    """,
]


def fill_slugs(apps, schema_editor):
    brands = apps.get_model("vacancies", "Brand").objects
    taken = set(brands.values_list("slug", flat=True))
    for pk, name in list(brands.filter(slug="").order_by("pk").values_list("pk", "name")):
        slug = free_value(name, taken)
        taken.add(slug)
        brands.filter(pk=pk).update(slug=slug)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0017_vacancy_facts")]
    operations = [
        migrations.RunPython(fill_slugs, migrations.RunPython.noop),
        AddConstraintOnline(
            model_name="brand",
            constraint=models.UniqueConstraint(
                condition=models.Q(("slug", ""), _negated=True),
                fields=("slug",),
                name="brand_slug_once",
                violation_error_message="Another brand has this value.",
            ),
        ),
        AddConstraintOnline(
            model_name="filteroption",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "employment_type__in",
                        [
                            "",
                            "FULL_TIME",
                            "PART_TIME",
                            "CONTRACTOR",
                            "TEMPORARY",
                            "INTERN",
                            "VOLUNTEER",
                            "PER_DIEM",
                            "OTHER",
                        ],
                    )
                ),
                name="employment_type_known",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.UniqueConstraint(
                condition=models.Q(("reference", ""), _negated=True),
                fields=("brand", "reference"),
                name="reference_once_per_brand",
                violation_error_message="Another vacancy of this brand has this reference.",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.UniqueConstraint(
                condition=models.Q(("brand", None), models.Q(("reference", ""), _negated=True)),
                fields=("reference",),
                name="reference_once_without_brand",
                violation_error_message="Another vacancy of this brand has this reference.",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "language__in",
                        [
                            "",
                            "aa",
                            "ab",
                            "ae",
                            "af",
                            "ak",
                            "am",
                            "an",
                            "ar",
                            "as",
                            "av",
                            "ay",
                            "az",
                            "ba",
                            "be",
                            "bg",
                            "bi",
                            "bm",
                            "bn",
                            "bo",
                            "br",
                            "bs",
                            "ca",
                            "ce",
                            "ch",
                            "co",
                            "cr",
                            "cs",
                            "cu",
                            "cv",
                            "cy",
                            "da",
                            "de",
                            "dv",
                            "dz",
                            "ee",
                            "el",
                            "en",
                            "eo",
                            "es",
                            "et",
                            "eu",
                            "fa",
                            "ff",
                            "fi",
                            "fj",
                            "fo",
                            "fr",
                            "fy",
                            "ga",
                            "gd",
                            "gl",
                            "gn",
                            "gu",
                            "gv",
                            "ha",
                            "he",
                            "hi",
                            "ho",
                            "hr",
                            "ht",
                            "hu",
                            "hy",
                            "hz",
                            "ia",
                            "id",
                            "ie",
                            "ig",
                            "ii",
                            "ik",
                            "io",
                            "is",
                            "it",
                            "iu",
                            "ja",
                            "jv",
                            "ka",
                            "kg",
                            "ki",
                            "kj",
                            "kk",
                            "kl",
                            "km",
                            "kn",
                            "ko",
                            "kr",
                            "ks",
                            "ku",
                            "kv",
                            "kw",
                            "ky",
                            "la",
                            "lb",
                            "lg",
                            "li",
                            "ln",
                            "lo",
                            "lt",
                            "lu",
                            "lv",
                            "mg",
                            "mh",
                            "mi",
                            "mk",
                            "ml",
                            "mn",
                            "mr",
                            "ms",
                            "mt",
                            "my",
                            "na",
                            "nb",
                            "nd",
                            "ne",
                            "ng",
                            "nl",
                            "nn",
                            "no",
                            "nr",
                            "nv",
                            "ny",
                            "oc",
                            "oj",
                            "om",
                            "or",
                            "os",
                            "pa",
                            "pi",
                            "pl",
                            "ps",
                            "pt",
                            "qu",
                            "rm",
                            "rn",
                            "ro",
                            "ru",
                            "rw",
                            "sa",
                            "sc",
                            "sd",
                            "se",
                            "sg",
                            "si",
                            "sk",
                            "sl",
                            "sm",
                            "sn",
                            "so",
                            "sq",
                            "sr",
                            "ss",
                            "st",
                            "su",
                            "sv",
                            "sw",
                            "ta",
                            "te",
                            "tg",
                            "th",
                            "ti",
                            "tk",
                            "tl",
                            "tn",
                            "to",
                            "tr",
                            "ts",
                            "tt",
                            "tw",
                            "ty",
                            "ug",
                            "uk",
                            "ur",
                            "uz",
                            "ve",
                            "vi",
                            "vo",
                            "wa",
                            "wo",
                            "xh",
                            "yi",
                            "yo",
                            "za",
                            "zh",
                            "zu",
                        ],
                    )
                ),
                name="language_known",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(("work_place__in", ["", "onsite", "hybrid", "remote"])),
                name="work_place_known",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(("pay_period__in", ["", "hour", "day", "week", "month", "year"])),
                name="pay_period_known",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pay_min", None), ("pay_min__gte", 0), _connector="OR"),
                    models.Q(("pay_max", None), ("pay_max__gte", 0), _connector="OR"),
                    models.Q(
                        ("pay_min", None),
                        ("pay_max", None),
                        ("pay_max__gte", models.F("pay_min")),
                        _connector="OR",
                    ),
                ),
                name="pay_range",
                violation_error_message="The highest pay is below the lowest.",
            ),
        ),
        AddConstraintOnline(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pay_currency", ""), ("pay_max", None), ("pay_min", None), ("pay_period", "")),
                    models.Q(
                        models.Q(("pay_max", None), ("pay_min", None), _negated=True),
                        models.Q(("pay_currency", ""), _negated=True),
                        models.Q(("pay_period", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="pay_complete",
                violation_error_message="Pay needs an amount, a currency and a period. Without an amount, leave all empty.",
            ),
        ),
        RunSQLOn("postgresql", [revision_trigger("vacancies_place", shared=0)]),
        RunSQLOn("postgresql", [sql.format(child="place") for sql in CHILD_TRIGGERS]),
        RunSQLOn("postgresql", READ_MODEL),
    ]
