"""Invitations of colleagues: who may invite whom, the email, and the page that accepts."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from applications.mail.delivery import as_email
from applications.mail.links import invitation_of, invitation_token
from applications.models import Invitation, Message
from applications.operations import invitations as operations
from applications.privacy.retention import purge_credentials
from jobsite.accounts import roles
from tests.applications.admin.conftest import colleague, group
from tests.applications.makers import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_roles")]

ADD, LIST = "/admin/auth/user/add/", "/admin/auth/user/"
PASSWORD = "correct horse battery"
WORDS = {"new_password1": PASSWORD, "new_password2": PASSWORD}


def form(group_name, *brands, email="new@example.org", **values):
    names = {"first_name": "Noor", "last_name": "Peeters", "language": "en"}
    chosen = {"role": group(group_name).pk, "brands": [b.pk for b in brands]}
    return {"email": email, **names, **chosen, **values}


def send(user, *args, **values):
    return signed_in(user).post(ADD, form(*args, **values))


def make_invitation(author, role, *brands, email="new@example.org", at=None):
    return operations.invite(
        invitation=Invitation(
            email=email, first_name="", last_name="", role=group(role), language="en", author=author
        ),
        brands=brands,
        at=at or timezone.now(),
    )


def link():
    """Return the path in the newest email, as it is sent."""
    return re.search(r"/account/invitation/\S+", as_email(Message.objects.latest("pk")).body)[0]


@pytest.fixture
def brand_admin(acme):
    return colleague("bea", "Brand administrator", acme, first_name="Bea", last_name="Maes")


# --- the whole way -------------------------------------------------------------------------------


def test_invited_colleague_chooses_a_password_and_works(brand_admin, acme):
    response = send(brand_admin, "Recruiter", acme)
    assert (response.status_code, response["Location"]) == (302, LIST)
    assert not User.objects.filter(email="new@example.org").exists()
    message = Message.objects.get()
    assert (message.kind, message.to, message.language, message.state) == (
        "invitation",
        "new@example.org",
        "en",
        "queued",
    )
    assert message.subject == "Bea Maes invites you to the recruiters’ pages of Acme"
    role = "Bea Maes invites you to work on testserver. Your role: Recruiter."
    assert message.body.splitlines()[:2] == [role, "Brands: Acme."]
    path = link()
    assert path not in message.body  # stored without the secret

    client = Client()
    for method in ("head", "options"):
        getattr(client, method)(path)
    page = client.get(path)
    assert (page.status_code, Invitation.objects.count()) == (200, 1)
    assert (page["Referrer-Policy"], page["Cache-Control"]) == (
        "strict-origin",
        "private, no-store",
    )
    assert client.post(path, {**WORDS, "new_password2": "other"}).status_code == 200
    assert not User.objects.filter(email="new@example.org").exists()

    assert client.post(path, WORDS)["Location"] == "/admin/"
    user = User.objects.get(email="new@example.org")
    assert (user.username, user.get_full_name(), user.is_staff) == (
        "new@example.org",
        "Noor Peeters",
        True,
    )
    assert [list(user.groups.all()), list(user.brands.all())] == [[group("Recruiter")], [acme]]
    assert user.check_password(PASSWORD)
    assert client.get("/admin/vacancies/vacancy/").status_code == 200
    assert not Invitation.objects.exists()
    assert [(e.user, e.change_message) for e in LogEntry.objects.filter(object_id=user.pk)] == [
        (brand_admin, "Accepted an invitation. Role: Recruiter. Brands: Acme.")
    ]
    assert Client().get(path).status_code == 404  # works once


# --- the link ------------------------------------------------------------------------------------


def test_link_expires_after_seven_days(brand_admin, acme):
    send(brand_admin, "Recruiter", acme)
    path, row = link(), Invitation.objects.get()
    token = path.rpartition("/")[2]
    last = row.sent_at + timedelta(days=7) - timedelta(microseconds=1)
    assert invitation_of(token, at=last) == row
    assert invitation_of(token, at=last + timedelta(microseconds=1)) is None
    Invitation.objects.update(sent_at=timezone.now() - timedelta(days=7))
    expired = reverse("invitation", args=[invitation_token(Invitation.objects.get())])
    assert Client().get(expired).status_code == 404


def test_changed_and_earlier_links_are_refused(brand_admin, acme):
    send(brand_admin, "Recruiter", acme)
    old, row = link(), Invitation.objects.get()
    token = old.rpartition("/")[2]
    for changed in ("", token[:-1], token.replace("-", "-0"), "x:y"):
        assert Client().post(f"/account/invitation/{changed}", WORDS).status_code == 404, changed
    assert Invitation.objects.count() == 1

    assert (
        signed_in(brand_admin).post(f"{LIST}invitations/{row.pk}/send-again/")["Location"] == LIST
    )
    assert not Message.objects.filter(pk=row.message_id).exists()  # was not sent yet
    assert link() != old
    assert [Client().get(path).status_code for path in (old, link())] == [404, 200]


def test_withdrawn_invitation_is_not_sent_and_its_link_is_invalid(brand_admin, acme):
    send(brand_admin, "Recruiter", acme)
    path, row = link(), Invitation.objects.get()
    client = signed_in(brand_admin)
    for name in ("send-again", "withdraw"):
        assert client.get(f"{LIST}invitations/{row.pk}/{name}/").status_code == 405
        assert client.post(f"{LIST}invitations/{row.pk + 1}/{name}/").status_code == 404
    client.post(f"{LIST}invitations/{row.pk}/withdraw/")
    assert (Invitation.objects.count(), Message.objects.count()) == (0, 0)
    assert Client().post(path, WORDS).status_code == 404
    assert not User.objects.filter(email="new@example.org").exists()

    User.objects.create_user("gone", "new@example.org", is_active=False)
    send(brand_admin, "Recruiter", acme, language="fr")
    assert Message.objects.get().language == "fr"
    # A deactivated account does not come back.
    assert Client().post(link(), WORDS).status_code == 403
    assert User.objects.filter(email="new@example.org").count() == 1
    Message.objects.update(state="sent")
    operations.withdraw_invitation(invitation=Invitation.objects.get(), author=brand_admin)
    assert "/account/invitation/personal-link" in as_email(Message.objects.get()).body
    assert Client().get("/account/invitation/personal-link").status_code == 404


# --- accounts that exist -------------------------------------------------------------------------


def test_existing_account_accepts_after_signing_in(brand_admin, acme, beta):
    known = colleague("kim", "Recruiter", beta)
    send(brand_admin, "Recruiter", acme, email="KIM@example.org")
    path = link()
    stranger, other = Client(), signed_in(brand_admin)
    for client in (stranger, other):
        assert f"/account/login?next={path}" in client.get(path).content.decode().replace(
            "%3A", ":"
        )
        assert client.post(path, WORDS).status_code == 200
    assert User.objects.filter(email__iexact="kim@example.org").count() == 1
    assert Invitation.objects.count() == 1
    assert signed_in(known).post(path)["Location"] == "/admin/"
    assert set(known.groups.all()) == {group("Recruiter")}
    assert set(known.brands.all()) == {acme, beta}


def test_invitation_gives_no_higher_role_in_other_brands(brand_admin, acme, beta):
    for role in ("Recruiter", "Editor"):
        known = colleague(role.lower(), role, beta)
        send(brand_admin, "Brand administrator", acme, email=known.email)

        assert signed_in(known).post(link()).status_code == 404, role
        assert set(known.groups.all()) == {group(role)}
        assert set(known.brands.all()) == {beta}


def test_inviter_does_not_learn_whether_an_address_has_an_account(brand_admin, acme, beta, at):
    colleague("zzcolleague", "Recruiter", beta)
    User.objects.create_user("zzapplicant", "zzapplicant@example.org")
    client = signed_in(brand_admin)
    pages = []
    for name in ("zzcolleague", "zzapplicant", "zznobody"):
        address = f"{name}@example.org"
        response = client.post(ADD, form("Recruiter", acme, email=address), follow=True)
        page = re.sub(
            r"/invitations/\d+/|csrfmiddlewaretoken.*?>|nonce=\S+", "", response.content.decode()
        )
        pages.append(page.replace(name, "X"))
        Invitation.objects.all().delete()
    assert pages[0] == pages[1] == pages[2]

    colleague("kim", "Recruiter", acme)  # whom the inviter sees
    page = send(brand_admin, "Recruiter", acme, email="Kim@example.org")
    told = "A colleague has this address already. Search in the list of users."
    assert (page.status_code, page.context["form"].errors["email"]) == (200, [told])
    assert not Invitation.objects.exists()


# --- no more than own permissions -----------------------------------------------------------------


def test_brand_administrator_gives_no_higher_role_and_no_other_brand(brand_admin, acme, beta):
    client = signed_in(brand_admin)
    offered = client.get(ADD).context["form"].fields
    may_give = ["Brand administrator", "Client", "Hiring manager", "Recruiter"]
    assert [each.name for each in offered["role"].queryset] == may_give
    assert list(offered["brands"].queryset) == [acme]
    for role in ("Editor", "Filter manager", "Auditor", "Administrator"):
        page = client.post(ADD, form(role, acme))
        assert list(page.context["form"].errors) == ["role"], role
    for brands in ((beta,), (acme, beta), ()):
        page = client.post(ADD, form("Recruiter", *brands))
        assert list(page.context["form"].errors) == ["brands"]
    assert not Invitation.objects.exists()


def test_group_with_one_more_permission_is_not_offered(brand_admin):
    mine = Group.objects.create(name="Ours")
    assert mine in roles.grantable_by(brand_admin)
    mine.permissions.add(Permission.objects.get(codename="delete_user"))
    assert mine not in roles.grantable_by(brand_admin)
    assert mine in roles.grantable_by(colleague("ada", "Administrator"))
    root = User.objects.create_superuser("root", is_active=False)
    assert list(roles.grantable_by(root).exclude(permissions=None)) == []


def test_others_cannot_invite(acme):
    row = make_invitation(User.objects.create_superuser("root"), "Recruiter", acme)
    for role in ("Recruiter", "Editor", "Filter manager", "Auditor"):
        client = signed_in(colleague(role, role, acme))
        assert client.get(ADD).status_code == 403, role
        assert client.post(ADD, form("Filter manager", acme)).status_code == 403, role
        for name in ("send-again", "withdraw"):
            assert client.post(f"{LIST}invitations/{row.pk}/{name}/").status_code == 403, role
    assert Invitation.objects.get().sent_at == row.sent_at


def test_invitations_of_others_are_out_of_reach(brand_admin, acme, beta):
    root = User.objects.create_superuser("root")
    given = ("Recruiter", beta), ("Recruiter", acme, beta), ("Editor", acme), ("Editor",)
    hidden = [make_invitation(root, *each, email="hidden@example.org") for each in given]
    client = signed_in(brand_admin)
    assert b"hidden@example.org" not in client.get(LIST).content
    for row in hidden:
        for name in ("send-again", "withdraw"):
            assert client.post(f"{LIST}invitations/{row.pk}/{name}/").status_code == 404
    assert Invitation.objects.count() == 4


def test_invitation_is_worth_no_more_than_its_author(brand_admin, acme):
    """The author lost the brand, the role, or the account since."""
    send(brand_admin, "Recruiter", acme)
    path = link()
    for undo in (
        lambda: brand_admin.brands.clear(),
        lambda: brand_admin.groups.clear(),
        lambda: User.objects.filter(pk=brand_admin.pk).update(is_active=False),
    ):
        brand_admin.brands.set([acme])
        brand_admin.groups.set([group("Brand administrator")])
        undo()
        assert Client().post(path, WORDS).status_code == 404
        assert not User.objects.filter(email="new@example.org").exists()


# --- limits and bad input -------------------------------------------------------------------------


def test_bad_input_names_the_field(brand_admin, acme):
    long = f"{'x' * 60}@{'y' * 60}.{'z' * 60}.example"
    client = signed_in(brand_admin)
    for values in (
        {"email": ""},
        {"role": "x"},
        {"email": "no address", "role": ""},
        {"email": "a@b.example\nBcc: c@d.example", "brands": ["x"]},
        {"email": long, "language": "xx", "first_name": "x" * 151},
    ):
        page = client.post(ADD, form("Recruiter", acme) | values)
        assert page.status_code == 200, values
        assert values.keys() <= page.context["form"].errors.keys(), values
    assert (Invitation.objects.count(), Message.objects.count()) == (0, 0)


def test_one_address_gets_few_emails(brand_admin, acme, settings):
    settings.RESET_MAIL_RATE = "3/hour"
    for _ in range(5):
        send(brand_admin, "Recruiter", acme)
    assert Invitation.objects.count() == 3
    pk = Invitation.objects.first().pk
    signed_in(brand_admin).post(f"{LIST}invitations/{pk}/send-again/")
    assert Message.objects.count() == 3


# --- the list -------------------------------------------------------------------------------------


def test_list_shows_open_invitations_with_their_state(brand_admin, acme):
    now = timezone.now()
    for number, (state, sent_at) in enumerate(
        (("queued", now), ("sent", now), ("failed", now), ("sent", now - timedelta(days=8)))
    ):
        row = make_invitation(
            brand_admin, "Recruiter", acme, email=f"{number}@example.org", at=sent_at
        )
        Message.objects.filter(pk=row.message_id).update(
            state=state, error="The address is not valid."
        )
    rows = signed_in(brand_admin).get(LIST).context["invitations"]
    assert {row["email"][0]: row["state"].split(",")[0].split(" on ")[0] for row in rows} == {
        "0": "Email queued",
        "1": "Invited",
        "2": "Email failed: The address is not valid.",
        "3": "Expired",
    }
    assert {(row["role"], row["brands"]) for row in rows} == {("Recruiter", "Acme")}


# --- retention ------------------------------------------------------------------------------------


def test_forgotten_invitations_are_deleted_after_thirty_days(brand_admin, acme):
    now = timezone.now()
    for days in (29, 31):
        at = now - timedelta(days=days)
        make_invitation(brand_admin, "Recruiter", acme, email=f"{days}@example.org", at=at)
    assert purge_credentials(now=now)["invitations"] == 1
    assert Invitation.objects.get().email == "29@example.org"
