"""The API contract as golden JSON: the exact body of each endpoint and version.

After an intended change, `make golden` writes the files. Read the diff before you commit it.
"""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from pathlib import Path

import pytest

from forms_structure import operations
from forms_structure.models import ConsentText
from jobsite.api.openapi import example
from tests.applications.makers import bearer, make_application, make_token, make_user
from tests.factories import make_brand, make_filter, make_recruiter, make_vacancy
from tests.forms_structure.strategies import section, text_field
from vacancies import pages
from vacancies.admin.spreadsheets import columns as spreadsheets
from vacancies.api import schema, v0_1
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Keyword
from vacancies.exchange.columns import COLUMNS
from vacancies.exchange.serializers import ImportSerializer
from vacancies.feed.maintenance import delete_old
from vacancies.fields import HtmlField
from vacancies.models import Attachment, Brand, FilterOption, Place, Vacancy

HERE = Path(__file__).parent

BODIES = {
    "v1/vacancies.json": "/v1/vacancies",
    "v1/vacancies-page-2-of-1.json": "/v1/vacancies?page[size]=1&page[number]=2",
    "v1/vacancies-beyond.json": "/v1/vacancies?page[number]=9",
    "v1/vacancies-filtered.json": (
        "/v1/vacancies?filter[regions]=antwerp,liege&filter[search]=INFIRMIER&sort=-title&fields=id,title,regions"
    ),
    "v1/vacancies-none.json": "/v1/vacancies?filter[types]=nobody",
    "v1/hot.json": "/v1/vacancies/hot",
    "v1/internal.json": "/v1/vacancies/internal",
    "v1/hot-internal.json": "/v1/vacancies/hot/internal",
    "v1/vacancy-full.json": "/v1/vacancies/101",
    "v1/vacancy-bare.json": "/v1/vacancies/102",
    "v1/vacancy-internal.json": "/v1/vacancies/103",
    "v1/form.json": "/v1/vacancies/101/form",
    "v1/form-none.json": "/v1/vacancies/102/form",
    "v1/form-schema.json": "/v1/vacancies/101/form/schema",
    "v1/filters.json": "/v1/filters",
    "v1/filters-filtered.json": "/v1/filters?filter[regions]=antwerp",
    "v1/problem-404.json": "/v1/vacancies/104",
    "v1/problem-400.json": "/v1/vacancies?page[size]=0&filter[region]=x&sort=title&sort=title",
    "v0_1/vacancies.json": "/v0.1/vacancies",
    "v0_1/internal.json": "/v0.1/vacancies/internal",
}


# The five types of the interface, every kind of parent field, nested conditions; one further type.
BASE = [
    section(
        text_field("first_name", label="Prénom", required=True, css="col-6"),
        text_field("email", type="email", label="E-mail", required=True, css="col-6"),
        title="À propos de vous",
        description=(
            '<p>Deux <strong>minutes</strong> &amp; "c\'est" tout.</p><script>alert(1)</script>'
        ),
    )
]
DIPLOMAS = [{"value": "nurse", "label": "Infirmier·ère <A1>"}, {"value": "other", "label": "Autre"}]
DIPLOMA = text_field(
    "diploma", type="select", label="Votre diplôme ?", required=True, options=DIPLOMAS
)
YEAR = text_field("visa_year", label="Depuis ?", required=True, css="col-3", on_value="1")
DIPLOMA["conditional"] = [
    text_field("which-diploma", label="Lequel ?", required=True, css="col-8", on_value="other"),
    text_field(
        "visa", type="checkbox", label="J’ai mon visa", on_value="nurse", conditional=[YEAR]
    ),
]
DAYS = text_field("days", type="checkbox-group", label="Vos jours", css="col-4")
DAYS["options"] = [{"value": "sat", "label": "Samedi"}, {"value": "sun", "label": "Dimanche"}]
DAYS["conditional"] = [text_field("why_sunday", label="Pourquoi ?", on_value="sun")]
CERTIFICATE = text_field("certificate", type="checkbox", label="Avec certificat", on_value="5")
LANGUAGES = [
    text_field("dutch", type="range", label="Néerlandais", conditional=[CERTIFICATE]),
    text_field(
        "other_level", type="range", label={"name": "other_language", "label": "Autre langue"}
    ),
]
FORM = [section(DIPLOMA, DAYS, title="Diplômes 日本語 🚑"), section(*LANGUAGES, title="")]
OPTIONS = {"functiongroup": ["Care"], "types": ["Nurse", "Carer"], "contract_types": ["Permanent"]}
OPTIONS |= {"work_regimes": ["Nights", "Part-time"], "regions": ["Liège", "Antwerp"]}
OPTIONS |= {"jobcustom1_values": ["Dutch"], "jobcustom2_values": ["3-5 years"]}
OPTIONS |= {"jobcustom3_values": ["Bachelor"], "jobcustom4_values": ["Bike lease", "Meal vouchers"]}
TEXTS = {
    "description": '<p>Soins &amp; "accueil"</p><script>alert(1)</script>',
    "short_description": "<p>Court.</p>",
    "profile": "<ul><li>Diplôme</li></ul>",
    "offer": "<p>€ 3.500 &lt; brut</p>",
    "contact": '<p><a href="mailto:noor@example.com" onclick="x()">Noor</a></p>',
    "company": "<p>Hôpital</p>",
    "postcustom1": "<h3>Plus</h3><p>日本語 🚑</p>",
}
PAY = {f"pay_{name}": value for name, value in example(schema.PAY).items()}
OF_BRAND = {
    "vacancy_url": "https://www.example.com/elisabeth/jobs/",
    "description": "<p>Zorg met een hart.</p>",
    "url": "https://www.example.com/elisabeth",
    "icon_small": "brands/elisabeth-64.png",
    "icon_large_url": "https://static.example.com/elisabeth-256.png",
}
OF_HEAD = {
    "function": "HR",
    "email": "noor@example.com",
    "is_email_public": True,
    "phone": "+32 3 555",
}


@pytest.fixture
def site(at, filters, settings):
    """A full vacancy, a bare one, an internal one and a hidden one, ids 101 to 104."""
    settings.TIME_ZONE = "Europe/Brussels"
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    make_filter(Keyword.JOBCUSTOM4, is_active=False)
    brand = make_brand("Ziekenhuis Sint-Elisabeth", id=11, **OF_BRAND)
    head = make_recruiter("Noor Peeters", id=21, **OF_HEAD)
    bare_head = make_recruiter("HR desk", id=22)
    make_recruiter(
        "Sam Öz", id=23, phone="+32 3 556", is_phone_public=True, image="recruiters/sam.jpg"
    )
    times = {"created_at": at - timedelta(days=9), "updated_at": at - timedelta(seconds=1)}
    url = "https://example.com/vie-privée?a=1&b=2"
    ConsentText.objects.add(language="fr", text="J’accepte.", statement_url=url)
    base = operations.create(name="Base", language="fr", structure=BASE)
    form = operations.create(name="Soins", language="fr", structure=FORM, extends=base)
    values = {
        "form": form,
        "brand": brand,
        "head_recruiter": head,
        "recruiters": ("Sam Öz", "HR desk"),
    }
    values |= {"title": "Infirmier·ère « nuit » & week-end", "title_internal": "Nacht 12B"}
    values |= {
        "is_hot": True,
        "is_permanent": True,
        "audience": "both",
        "image": "vacancies/nuit.jpg",
    }
    values |= {
        "video": "https://video.example.com/1",
        "apply_url": "https://apply.example.com/nuit",
    }
    values |= {
        "location": "Liège",
        "publish_from": at - timedelta(days=1),
        "options": OPTIONS,
        **TEXTS,
    }
    others = [column.name for column in COLUMNS if column.name in VacancySerializer.Meta.fields]
    make_vacancy(pk=101, **example(schema.VACANCY, others) | values | PAY | times)
    Place.objects.create(vacancy_id=101, **example(schema.PLACE))
    Place.objects.create(vacancy_id=101, locality="Ghent", country="BE", position=1)
    for position, country in enumerate(("NL", "BE")):
        Place.objects.create(vacancy_id=101, kind="applicant", country=country, position=position)
    FilterOption.objects.filter(label__in=["Nights", "Part-time"]).update(
        employment_type="PART_TIME"
    )
    FilterOption.objects.filter(label="Permanent").update(employment_type="FULL_TIME")
    Attachment.objects.create(
        vacancy_id=101, name="Functieprofiel.pdf", file="attachments/profile.pdf"
    )
    Attachment.objects.create(
        vacancy_id=101, name="CAO.pdf", url="https://example.com/cao.pdf", position=1
    )
    make_vacancy(
        pk=102,
        title="看護師",
        brand=brand,
        head_recruiter=bare_head,
        description="<p>&nbsp;</p>",
        publish_from=at - timedelta(days=2),
        **times,
    )
    make_vacancy(
        pk=103,
        title="Internal planner",
        brand=brand,
        head_recruiter=head,
        audience="internal",
        is_hot=True,
        options={"types": ["Planner"]},
        description="<p>Plans.</p>",
        publish_from=at - timedelta(days=3),
        **times,
    )
    make_vacancy(
        pk=104, title="Draft", brand=brand, head_recruiter=head, status="draft", is_hot=True
    )


# Of the feed, after `CHANGED`; the restart follows the deletion of all changes.
CHANGES = {
    "v1/changes.json": "/v1/vacancies/changes?page[size]=1",
    "v1/changes-live.json": "",
    "v1/changes-problem-400.json": "/v1/vacancies/changes?since=abc&page[size]=1001&filter[brand]=x&fields=y",
    "v1/changes-problem-410.json": "",
}


@pytest.mark.django_db
def test_bodies_equal_the_golden_files(client, site):
    different = []
    for name, path in BODIES.items():
        text = json.dumps(client.get(path).json(), indent=2, ensure_ascii=False) + "\n"
        different += differences(name, path, text)
    assert different == []


@pytest.mark.django_db(transaction=True)
def test_changes_equal_the_golden_files(client, site):
    """An upsert and a removal after a cursor, which is replaced: it contains the revision."""
    of_internal = "/v1/vacancies/internal/changes?fields=id,title&page[size]=3"
    live = client.get(of_internal).json()["links"]["next"]
    Vacancy.objects.filter(pk=101).update(title="Infirmier·ère")
    Vacancy.objects.filter(pk=103).update(status="draft")
    CHANGES["v1/changes-live.json"] = CHANGES["v1/changes-problem-410.json"] = live
    different = []
    for name, path in CHANGES.items():
        if "410" in name:
            delete_old(datetime.max.replace(tzinfo=UTC))
        text = json.dumps(client.get(path).json(), indent=2, ensure_ascii=False) + "\n"
        text = re.sub(r'(since=|"cursor": ")[\w-]{20,}', r"\1CURSOR", text)
        different += differences(name, path, text)
    assert different == []


PAGE_URLS = {
    101: "https://acme.test/jobs/101-infirmierere-nuit-week-end",
    102: "https://acme.test/jobs/102",
}


@pytest.mark.slow("sends every golden request twice")
@pytest.mark.each_database
@pytest.mark.django_db
def test_career_site_changes_only_the_address_of_public_vacancies(client, site, settings):
    Brand.objects.update(vacancy_url="", host="acme.test")
    applicant = make_user()
    make_application(user=applicant, vacancy=Vacancy.objects.get(pk=101))
    paths = {path: {} for path in BODIES.values()}
    paths["/v1/user/applications"] = bearer(make_token(applicant))

    def lines():
        return {
            path: json.dumps(client.get(path, headers=headers).json(), indent=0).splitlines()
            for path, headers in paths.items()
        }

    before = lines()
    settings.CAREER_SITE = True
    after = lines()
    changes = {
        path: set(unified_diff(before[path], after[path], n=0, lineterm="")) for path in paths
    }
    found = {
        path: {line.rstrip(",") for line in changed if line[:2] not in ("--", "++", "@@")}
        for path, changed in changes.items()
        if changed
    }
    first, second = ({'-"url": null', f'+"url": "{url}"'} for url in PAGE_URLS.values())
    assert found == {
        "/v1/vacancies": first | second,
        "/v1/vacancies?page[size]=1&page[number]=2": second,
        "/v1/vacancies/hot": first,
        "/v1/vacancies/internal": first,  # the second is internal only
        "/v1/vacancies/hot/internal": first,
        "/v1/vacancies/101": first,
        "/v1/vacancies/102": second,
        "/v1/user/applications": first,
    }


def differences(name, source, text):
    """Return the differences between a golden file and `text`, as lines."""
    golden = HERE / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text)
    lines = (golden.read_text().splitlines(), text.splitlines())
    return [*unified_diff(*lines, f"golden {name}", source, lineterm="", n=0)]


def test_columns_occur_where_the_golden_file_says():
    """A column that is new in imports or spreadsheets is visible in the diff of this file."""
    places = {
        "v1": VacancySerializer.Meta.fields,
        "v0.1": v0_1.VacancySerializer.Meta.fields,
        "import": ImportSerializer().fields,
        "spreadsheet": spreadsheets.sheet_columns(),
        "page (text)": [field.name for field in COLUMNS if isinstance(field, HtmlField)],
        "page (fact)": [field.name for field in pages.FACTS],
    }
    lines = [
        f"{field.name}: {', '.join(place for place, names in places.items() if field.name in names) or '-'}"
        for field in Vacancy._meta.fields
    ]
    assert differences("columns.txt", "columns", "\n".join(lines) + "\n") == []


def test_every_golden_file_has_a_request():
    assert {str(path.relative_to(HERE)) for path in HERE.glob("v*/*.json")} == set(BODIES | CHANGES)
