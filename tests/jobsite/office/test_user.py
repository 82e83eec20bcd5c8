"""The pages of users: the list, roles and brands, deactivation, and
nothing beyond own permissions.
"""

import pytest
from django.contrib.auth.models import Group, Permission, User

from jobsite.accounts import roles
from tests.applications.admin.conftest import colleague, group
from tests.applications.makers import signed_in
from tests.vacancies.admin.forms import changelist

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_roles")]

LIST = "/admin/auth/user/"


def change(client, user, **values):
    data = {
        "username": user.username,
        "email": user.email,
        "is_active": "on",
        "groups": [each.pk for each in user.groups.all()],
        "brands": [each.pk for each in user.brands.all()],
    }
    return client.post(f"{LIST}{user.pk}/change/", data | values)


def access(user):
    user = User.objects.get(pk=user.pk)
    return sorted(each.name for each in user.groups.all()), sorted(
        str(brand) for brand in user.brands.all()
    )


def listed(client, query=""):
    return {user.username for user in changelist(client, f"{LIST}?{query}").result_list}


@pytest.fixture
def brand_admin(acme):
    return colleague("bea", "Brand administrator", acme)


@pytest.fixture
def administrator():
    return colleague("ada", "Administrator")


# --- the list -------------------------------------------------------------------------------------


def test_list_shows_roles_brands_and_last_sign_in(administrator, acme, beta):
    colleague("an", "Recruiter", acme, beta, first_name="An", last_name="Maes")
    User.objects.create_user("applicant")
    client = signed_in(administrator)
    page = client.get(LIST)
    assert [*page.context["cl"].list_display][1:] == [
        "who",
        "email",
        "role_names",
        "brand_names",
        "last_sign_in",
        "is_active",
    ]
    text = " ".join(page.content.decode().split())
    for word in ("An Maes", "an@example.org", "Recruiter", "Acme, Beta", "Never"):
        assert word in text
    assert listed(client) == {"ada", "an"}
    assert listed(client, "kind=applicants") == {"applicant"}
    assert listed(client, "kind=all") == {"ada", "an", "applicant"}
    assert listed(client, f"brand={acme.pk}") == {"an"}
    assert listed(client, f"role={group('Recruiter').pk}") == {"an"}


def test_brand_administrator_sees_members_of_own_brands(brand_admin, acme, beta):
    colleague("an", "Recruiter", acme)
    both = colleague("both", "Recruiter", acme, beta)
    hidden = colleague("hidden", "Recruiter", beta)
    colleague("editor", "Editor")
    client = signed_in(brand_admin)
    assert listed(client) == listed(client, "kind=all") == {"bea", "an", "both"}
    for page in ("change", "history", "delete"):
        assert client.get(f"{LIST}{hidden.pk}/{page}/").status_code in (302, 403, 404)
    page = client.get(f"{LIST}{both.pk}/change/")
    assert (page.status_code, page.context["has_change_permission"]) == (200, False)
    assert "Beta" not in page.content.decode()  # whose members are not his business


# --- the form -------------------------------------------------------------------------------------


@pytest.mark.slow("opens many pages")
def test_page_has_no_passwords_and_permissions(administrator, acme):
    an = colleague("an", "Recruiter", acme)
    text = signed_in(administrator).get(f"{LIST}{an.pk}/change/").content.decode()
    for word in ("algorithm", "is_staff", "is_superuser", "user_permissions", "/password/"):
        assert word not in text
    text = (
        signed_in(User.objects.create_superuser("root"))
        .get(f"{LIST}{an.pk}/change/")
        .content.decode()
    )
    for word in ("is_staff", "is_superuser", "user_permissions"):
        assert word in text


def test_role_opens_and_closes_the_admin(administrator, acme, beta):
    client, user = signed_in(administrator), User.objects.create_user("new")
    chosen = [group("Filter manager").pk, group("Recruiter").pk]
    assert change(client, user, groups=chosen, brands=[beta.pk]).status_code == 302
    assert access(user) == (["Filter manager", "Recruiter"], ["Beta"])
    assert User.objects.get(pk=user.pk).is_staff
    change(client, user, groups=[], brands=[acme.pk])
    assert not User.objects.get(pk=user.pk).is_staff
    own = colleague("own", None)
    own.user_permissions.add(Permission.objects.get(codename="view_brand"))
    change(client, own, first_name="An")
    assert User.objects.get(pk=own.pk).is_staff  # for the sake of the own permission


def test_role_of_own_brands_needs_a_brand_and_nobody_deactivates_the_own_account(administrator):
    client = signed_in(administrator)
    page = change(client, colleague("an", "Recruiter"))
    assert page.context["adminform"].form.errors == {"brands": ["Choose at least one brand."]}
    assert change(client, colleague("ed", "Editor")).status_code == 302
    page = change(client, administrator, is_active="")
    assert page.context["adminform"].form.errors == {
        "is_active": ["You cannot deactivate your own account."]
    }


@pytest.mark.slow("many requests")
def test_brand_administrator_gives_no_higher_role_and_no_other_brand(brand_admin, acme, beta):
    an, client = colleague("an", "Recruiter", acme), signed_in(brand_admin)
    roles_of = {an: ("Editor", "Administrator"), brand_admin: ("Auditor", "Filter manager")}
    cases = [(user, {"groups": [group(role).pk]}) for user in roles_of for role in roles_of[user]]
    others = ([acme.pk, beta.pk], [beta.pk], [])
    cases += [(target, {"brands": brands}) for target in (an, brand_admin) for brands in others]
    for target, data in cases:
        before = access(target)
        page = change(client, target, **data)
        assert (list(page.context["adminform"].form.errors), access(target)) == (
            list(data),
            before,
        ), data
    assert change(client, an, groups=[group("Brand administrator").pk]).status_code == 302
    assert access(an) == (["Brand administrator"], ["Acme"])


@pytest.mark.slow("opens several pages of the admin")
def test_brand_administrator_changes_no_one_above_or_of_other_brands(brand_admin, acme, beta):
    above = colleague("editor", "Editor", acme)
    single = colleague("single", "Recruiter", acme)
    single.user_permissions.add(Permission.objects.get(codename="delete_user"))
    both = colleague("both", "Recruiter", acme, beta)
    other = colleague("other", "Recruiter", beta)
    root = User.objects.create_superuser("root", email="root@example.org")
    root.brands.add(acme)
    client = signed_in(brand_admin)
    targets = [above, single, both, other, root]
    for user in targets:
        assert change(client, user, email="mine@example.org").status_code in (302, 403)
        words = {"password1": "x", "password2": "x"}
        assert client.post(f"{LIST}{user.pk}/password/", words).status_code == 403
    for name in ("deactivate", "delete_selected"):
        data = {"action": name, "_selected_action": [user.pk for user in targets]}
        for extra in ({}, {"select_across": "1"}):
            client.post(LIST, data | extra | {"confirmed": "1", "post": "yes"})
    rows = User.objects.filter(pk__in=[user.pk for user in targets])
    assert (rows.filter(is_active=True).count(), rows.filter(email="mine@example.org").count()) == (
        5,
        0,
    )


def test_only_superusers_change_addresses_and_permissions(administrator, acme):
    an = colleague("an", "Recruiter", acme)
    rights = {"is_superuser": "on", "user_permissions": [1, 2, 3], "password": "y"}
    for user in (an, administrator):
        name, client = user.username, signed_in(administrator)
        sent = {"email": "mine@example.org", "username": "mine", "first_name": "Changed"}
        assert change(client, user, **sent, **rights).status_code == 302
        user.refresh_from_db()
        assert (user.email, user.username, user.first_name) == (
            f"{name}@example.org",
            name,
            "Changed",
        )
        assert (user.is_superuser, user.user_permissions.count()) == (False, 0)
        assert user.check_password("x")
    root = signed_in(User.objects.create_superuser("root"))
    change(root, an, email="mine@example.org", username="mine")
    an.refresh_from_db()
    assert (an.email, an.username) == ("mine@example.org", "mine")
    words = {"username": "program", "usable_password": "false"}
    assert root.post(f"{LIST}add/?account", words).status_code == 302
    assert not User.objects.get(username="program").has_usable_password()


def test_members_of_a_brand_are_visible_accounts_only(acme, beta):
    """A group that may change brands and users, for own brands."""
    mine = Group.objects.create(name="Ours")
    mine.permissions.set(
        [*roles.permissions("Brand administrator"), Permission.objects.get(codename="change_brand")]
    )
    user = colleague("own", None, acme)
    user.groups.add(mine)
    hidden = colleague("hidden", "Recruiter", beta)
    client = signed_in(user)
    url = f"/admin/vacancies/brand/{acme.pk}/change/"
    assert "hidden" not in client.get(url).context["adminform"].form["members"].as_widget()
    client.post(
        url, {"name": "Acme", "description": "", "url": "", "members": [user.pk, hidden.pk]}
    )
    assert list(acme.members.all()) == [user]


# --- groups ---------------------------------------------------------------------------------------


def test_group_beyond_own_permissions_is_not_changed():
    """A user who manages groups, but not everything."""
    mine = Group.objects.create(name="Ours")
    mine.permissions.set(Permission.objects.filter(content_type__model="group"))
    user = colleague("own", None)
    user.groups.add(mine)
    client = signed_in(user)
    editor, url = group("Editor"), "/admin/auth/group/"
    everything = list(Permission.objects.values_list("pk", flat=True))
    before = editor.permissions.count()
    assert client.post(f"{url}{editor.pk}/change/", {"name": "Editor"}).status_code == 403
    assert client.post(f"{url}{editor.pk}/delete/", {"post": "yes"}).status_code == 403
    client.post(url, {"action": "delete_selected", "_selected_action": [editor.pk], "post": "yes"})
    assert Group.objects.get(name="Editor").permissions.count() == before
    for path in (f"{mine.pk}/change", "add"):
        data = {"name": "New", "permissions": everything}
        assert client.post(f"{url}{path}/", data).status_code == 200
    assert mine.permissions.count() == 4


# --- deactivation ---------------------------------------------------------------------------------


@pytest.mark.slow("opens many pages")
def test_deactivation_asks_first_and_ends_sessions(administrator, acme):
    an = colleague("an", "Recruiter", acme, first_name="An", last_name="Maes")
    session = signed_in(an)
    client = signed_in(administrator)
    data = {"action": "deactivate", "_selected_action": [an.pk, administrator.pk]}
    page = client.post(LIST, data)
    assert (page.context["names"], page.context["unchanged"]) == (["An Maes"], 1)
    assert session.get("/admin/").status_code == 200
    client.post(LIST, data | {"confirmed": "1"})
    assert session.get("/admin/").status_code == 302
    assert User.objects.get(pk=administrator.pk).is_active
    data = {"action": "activate", "_selected_action": [an.pk, administrator.pk]}
    [section] = client.post(LIST, data).context["sections"]
    assert [row.name for row in section.rows] == ["An Maes"]
    assert not User.objects.get(pk=an.pk).is_active
    client.post(LIST, data | {"confirmed": "1"})
    assert User.objects.get(pk=an.pk).is_active
