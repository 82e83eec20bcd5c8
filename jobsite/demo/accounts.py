"""The accounts of the demo. The password of each is its user name."""

from django.contrib.auth.models import Group, Permission, User

from jobsite.accounts import roles
from vacancies.models import Brand

ACCOUNTS = {  # user name: description, printed by `manage.py demo`
    "admin": "superuser, sees and changes everything",
    "editor": "edits the vacancies of every brand in the admin",
    "recruiter": "edits the vacancies of two brands in the admin",
    "applicant": "applied to four vacancies: sign in at /account/login, or POST /v1/auth/token",
    "employee": "colleague, for INTERNAL_ACCESS=authenticated: manage.py issue_token employee",
}
ROLES = {"editor": "Editor", "recruiter": "Recruiter"}


def create() -> list[str]:
    """Create the accounts that are missing, and the roles. Return the names of the new accounts."""
    known = set(User.objects.filter(username__in=ACCOUNTS).values_list("username", flat=True))
    missing = [name for name in ACCOUNTS if name not in known]
    roles.create()
    for name in missing:
        email = f"{name}@example.org"
        if name == "admin":
            User.objects.create_superuser(name, email, name)
            continue
        person = {"first_name": "Mia", "last_name": "Maes"} if name == "applicant" else {}
        user = User.objects.create_user(name, email, name, is_staff=name in ROLES, **person)
        if user.is_staff:
            user.groups.add(Group.objects.get(name=ROLES[name]))
            if name == "recruiter":
                user.brands.set(Brand.objects.order_by("pk")[:2])
        elif name == "employee":
            user.user_permissions.set(Permission.objects.filter(codename="see_internal"))
    return missing
