"""The access log: people and applications by name, with links, for own brands, without queries per
row.
"""

import re

import pytest
from django.contrib.auth.models import Group

from applications.models import AccessLog
from jobsite.accounts import roles
from tests.applications.admin.conftest import colleague
from tests.applications.makers import make_application, signed_in
from tests.factories import make_brand, make_vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_roles")]

LIST = "/admin/applications/accesslog/"


def log(actor, application, action="view"):
    return AccessLog.objects.create(
        actor=actor, application=getattr(application, "pk", application), action=action
    )


def cells(response, name):
    """Return the cells of the column `name`: (address of the link or "", text)."""
    found = re.findall(rf"<td[^>]*field-{name}[^>]*>(.*?)</td>", response.content.decode(), re.S)
    texts = [re.sub(r"<[^>]*>", "", each).strip() for each in found]
    links = [(re.findall(r'href="([^"]*)"', each) or [""])[0] for each in found]
    return list(zip(links, texts, strict=True))


@pytest.fixture
def jan(acme):
    vacancy = make_vacancy(title="Nurse", brand=acme)
    return make_application(vacancy=vacancy, user=None, given_name="Jan", family_name="Peeters")


def test_deleted_rows_are_shown_by_number(acme, jan):
    admin = colleague("ada", "Administrator")
    an = colleague("an", "Recruiter", acme)
    entry = log(an, jan)
    pk = jan.pk
    jan.delete()
    an.delete()
    client = signed_in(admin)
    page = client.get(LIST)
    assert cells(page, "who") == [("", "A command, or a deleted account")]
    assert cells(page, "record") == [("", f"Applicant {pk}")]
    assert f"Applicant {pk}" in client.get(f"{LIST}{entry.pk}/change/").content.decode()


def test_names_need_their_permissions(acme, jan):
    """Somebody who may see the log, but neither applications nor users."""
    log(colleague("an", "Recruiter", acme, last_name="Maes"), jan)
    user = colleague("log", "Administrator")
    group = Group.objects.create(name="Log")
    group.permissions.set(roles.permissions("Administrator"))
    group.permissions.remove(
        *group.permissions.filter(codename__in=("view_user", "view_application"))
    )
    user.groups.set([group])
    page = signed_in(user).get(LIST)
    assert cells(page, "who") == [("", "Maes")]
    assert cells(page, "record") == [("", f"Applicant {jan.pk}")]
    assert page.context["cl"].filter_specs[0].lookup_choices == []


def test_brand_administrator_sees_own_applications_only(acme, jan):
    bea = colleague("bea", "Brand administrator", acme)
    editor = colleague("ed", "Editor", last_name="Zzeditor")
    beta = make_brand("Beta")
    zz = colleague("zz", "Recruiter", beta, last_name="Zzcolleague")
    hidden = make_application(
        vacancy=make_vacancy(title="Zzvacancy", brand=beta),
        user=None,
        given_name="Zzjane",
        family_name="Doe",
    )
    log(editor, jan)
    entry = log(zz, hidden)
    client = signed_in(bea)
    page = client.get(LIST)
    assert cells(page, "who") == [("", "Zzeditor")]  # no link: not a member of the brand
    assert cells(page, "record") == [
        (f"/admin/applications/application/{jan.pk}/change/", "Jan Peeters: Nurse")
    ]
    for query in (f"?actor={zz.pk}", f"?application={hidden.pk}"):
        assert not re.search("Zzcolleague|Zzjane|Zzvacancy", client.get(LIST + query).text), query
    # As for rows that do not exist.
    assert client.get(f"{LIST}{entry.pk}/change/").status_code == 302
    assert client.get("/admin/").status_code == 200


@pytest.mark.slow("opens several pages of the admin")
def test_log_is_filtered_by_person_and_record(acme, jan):
    admin = colleague("ada", "Administrator")
    an = colleague("an", "Recruiter", acme, first_name="An", last_name="Maes")
    bob = colleague("bob", "Recruiter", acme, last_name="Bos")
    other = make_application(vacancy=jan.vacancy, user=None)
    log(an, jan)
    log(an, other, "file")
    log(bob, jan)
    expected = {
        "": 3,
        f"actor={an.pk}": 2,
        f"actor={bob.pk}": 1,
        f"application={jan.pk}": 2,
        "application=999999": 0,
        f"actor={an.pk}&application={jan.pk}": 1,
        "q=Maes": 2,
        "actor=x": 3,
        "application=x": 3,
        "application=99999999999999999999": 3,
        "action__exact=file": 1,
    }
    client = signed_in(admin)
    found = {query: len(cells(client.get(f"{LIST}?{query}"), "who")) for query in expected}
    assert found == expected
    page = client.get(f"{LIST}?actor={an.pk}&application={jan.pk}")
    assert cells(page, "who") == [(f"/admin/auth/user/{an.pk}/change/", "An Maes")]
    assert cells(page, "record") == [
        (f"/admin/applications/application/{jan.pk}/change/", "Jan Peeters: Nurse")
    ]
    url = f"/admin/applications/application/{jan.pk}/change/"  # links to its log
    link = f'{LIST}?application={jan.pk}"'
    assert [link in each.get(url).text for each in (client, signed_in(bob))] == [True, False]


def test_history_that_is_not_shown_is_not_logged(acme, jan):
    foreign = make_application(vacancy=make_vacancy(brand=make_brand("Beta")), user=None)
    client = signed_in(colleague("an", "Recruiter", acme))
    pages = [
        f"/admin/applications/application/{pk}/history/"
        for pk in (jan.pk, foreign.pk, 10**6, "x", "9" * 30)
    ]
    assert [client.get(page).status_code for page in pages] == [200, 302, 302, 302, 302]
    assert list(AccessLog.objects.values_list("application", flat=True)) == [jan.pk]
