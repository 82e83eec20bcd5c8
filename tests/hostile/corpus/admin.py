# ruff: noqa: E501 - tables of requests
"""Requests to the admin, as a signed-in recruiter and as a superuser."""

from collections.abc import Iterator

from tests.hostile.content import Content
from tests.hostile.corpus.case import Case, case

QUERIES = (
    "_facets",
    "_facets=1",
    "_facets=%00",
    "p=99999999999999999999",
    "p=-1",
    "p=0",
    "p=abc",
    "p=%00",
    "p=1e9",
    "p=٣",
    "all=",
    "all=1",
    "o=99",
    "o=-99.1",
    "o=abc",
    "o=..",
    "o=%00",
    "o=" + "1." * 500,
    "o=9" * 1 + "9" * 30,
    "q=%00",
    "q=%FF",
    "q='",
    "q=%22",
    "q=\\",
    "q=" + "a%20" * 300,
    "q=" + "x" * 3000,
    "e=1",
    "e=%00",
    "id__exact=abc",
    "id__exact=%00",
    "id__exact=" + "9" * 30,
    "id=99999999999999999999",
    "pk=1",
    "pk__in=1,2",
    "pk__in=a",
    "id__in=",
    "brand=abc",
    "brand__id__exact=abc",
    "brand__id__exact=%00",
    "brand__id__exact=" + "9" * 30,
    "brand__id__exact=-1",
    "brand__isnull=maybe",
    "brand__isnull=%00",
    "brand__members__password__startswith=p",
    "title__regex=(a%2B)%2B%24",
    "title__nosuch=x",
    "nosuch=x",
    "nosuch__x=y",
    "__=x",
    "=x",
    "status__exact=%00",
    "status__exact=nosuch",
    "audience__exact=nosuch",
    "is_hot__exact=maybe",
    "_connector=OR",
    "_negated=1",
    "_popup=1",
    "_popup=%00",
    "_to_field=id",
    "_to_field=password",
    "_to_field=%00",
    "_to_field=brand__members",
    "_changelist_filters=%00",
    "_preserved=%FF",
    "action=x",
    "_selected_action=x",
    "publish_from__gte=abc",
    "publish_from__gte=0000-00-00",
    "publish_from__year=99999999",
    "publish_from__date=x",
    "created_at__day=abc",
    "state=nosuch",
    "state=%00",
    "attention=nosuch",
    "attention=%00",
    "when=nosuch",
    "when=%00",
    "stage=abc",
    "stage=" + "9" * 30,
    "stage=%00",
    "stage__id__exact=x",
    "user=abc",
    "user__id__exact=x",
    "form=abc",
    "form__id__exact=%00",
    "vacancy=abc",
    "vacancy__id__exact=x",
    "head_recruiter__id__exact=x",
    "filter__id__exact=x",
    "filter=x",
    "groups__id__exact=x",
    "is_staff__exact=x",
    "language__exact=x",
    "language=%00",
    "extends__isnull=x",
    "drf__x=1",
    "show_result_count=1",
    "list_editable=1",
    "%00=%00",
    "%FF=1",
    "a" * 2000 + "=1",
    "brand__id__exact=1&brand__id__exact=2",
    "p=1&p=2",
    "created_at__range=1",
    "title=%00",
    "title__exact=x",
)
CHANGELISTS = (
    "vacancies/vacancy",
    "vacancies/brand",
    "vacancies/brandlink",
    "vacancies/integration",
    "vacancies/recruiter",
    "vacancies/filter",
    "vacancies/filteroption",
    "forms_structure/form",
    "forms_structure/consenttext",
    "applications/application",
    "applications/historyentry",
    "applications/stage",
    "applications/status",
    "applications/token",
    "applications/accesslog",
    "auth/user",
    "auth/group",
)
SEEN = {200, 302, 400, 403, 404, 405}
ROWS = ("abc", "0", "-1", "9" * 19, "9" * 30, "%00", "1%00", "_5F", "_00", "_5B", "%FF", "é", "1,2")
ROWS += ("' OR 1=1", "None", "1%0a", "+1", "１", "x" * 2000, "..", "1_0", "1.0")
ACTIONS = ("publish", "schedule", "unpublish", "extend", "archive", "duplicate")
LIST_QUERIES = (
    "_facets",
    "p=99999999999999999999",
    "p=abc",
    "q=%00",
    "o=99.-98",
    "_to_field=password",
)
LIST_QUERIES += ("nosuch__x=y", "id__exact=abc", "e=1")
PAGE_QUERIES = (
    "ids=abc",
    "ids=%00",
    "ids=" + "9" * 30,
    "ids=1,2,abc",
    "ids=" + "1," * 2000,
    "ids=",
)
PAGE_QUERIES += ("pks=abc", "selected=x", "_selected_action=abc")
SEARCHES = (
    "q=%00",
    "q=%FF",
    "q=" + "x" * 3000,
    "q='&part=results",
    "q=99999999999999999999",
    "q=a&part=%00",
)
SEARCHES += ("q=\\", "q")
TERMS = (
    "",
    "&term=%00",
    "&term=x&page=abc",
    "&page=-1",
    "&page=99999999999999999999",
    "&page=last",
)
TERMS += ("&term=" + "x" * 2000,)


def admin(content: Content) -> Iterator[Case]:
    csrf = "c" * 32
    signed = f"Cookie: sessionid={content.sessions['recruiter']}; csrftoken={csrf}"
    root = f"Cookie: sessionid={content.sessions['root']}; csrftoken={csrf}"

    def get(target: str, cookie: str = signed, **how: object) -> Case:
        who = "root" if cookie == root else "recruiter"
        return case(
            "admin", f"{who} {target[:90]}", target, cookie, allowed=SEEN, is_malformed=True, **how
        )  # type: ignore[arg-type]

    def post(
        target: str, data: str, cookie: str = signed, kind: str = "x-www-form-urlencoded"
    ) -> Case:
        body = (
            f"csrfmiddlewaretoken={csrf}&{data}".encode() if "urlencoded" in kind else data.encode()
        )
        who, kind = "root" if cookie == root else "recruiter", f"Content-Type: application/{kind}"
        headers = [cookie, kind, f"Origin: {content.origin}", f"X-CSRFToken: {csrf}"]
        how = {"method": "POST", "allowed": SEEN | {409, 422}, "is_malformed": True}
        return case("admin", f"{who} POST {target} {data[:70]}", target, *headers, body=body, **how)

    for query in QUERIES:
        yield get(f"/admin/vacancies/vacancy/?{query}")
    for n, name in enumerate(CHANGELISTS):
        for query in (*LIST_QUERIES, *QUERIES[n::15]):
            yield get(f"/admin/{name}/?{query}", root)
        for action in ("delete_selected", "nosuch", "", "publish", "archive", "%00"):
            for chosen in (
                "_selected_action=abc",
                "_selected_action=%00",
                "_selected_action=" + "9" * 30,
                "_selected_action=",
                "_selected_action=1&select_across=1&index=abc",
                "select_across=%00&_selected_action=x&index=99",
                "_selected_action=-1&post=yes",
            ):
                if action in ("delete_selected", "publish") or chosen.endswith("abc"):
                    yield post(f"/admin/{name}/", f"action={action}&{chosen}", root)
        for pk in ROWS if n % 5 == 0 else ROWS[:6]:
            for page in ("change", "history", "delete"):
                yield get(f"/admin/{name}/{pk}/{page}/", root)
            yield get(f"/admin/{name}/{pk}/", root)
        yield post(f"/admin/{name}/add/", "a=%00", root)
        fields = (
            "name",
            "title",
            "username",
            "text",
            "label",
            "label_en",
            "language",
            "brand",
            "id",
        )
        yield post(f"/admin/{name}/add/", "&".join(f"{each}=%00" for each in fields), root)
        query = f"vacancy=%00&form={'9' * 30}&user=x&permissions=a,b&publish_from=x&filter=%00&_to_field=x"
        yield get(f"/admin/{name}/add/?brand=abc&{query}&_popup=%00", root)
        query = "head_recruiter=%FF&stage=-1&groups=x&extends=abc&status=%00&is_hot=maybe"
        yield get(f"/admin/{name}/add/?brand=%00&{query}&_changelist_filters=%FF", root)
    for action in ("delete_selected", *ACTIONS):
        for chosen in ("abc", "%00", "9" * 30, "1&_selected_action=abc", "-1", "", "1_0", "１"):
            yield post("/admin/vacancies/vacancy/", f"action={action}&_selected_action={chosen}")
    for number in ("1", "0", "9" * 30, "abc"):
        yield post(f"/admin/vacancies/vacancy/undo/{number}/", "back=https://evil.example")
    for sent in ("", "%00", "1:", "1:x", "9" * 30 + ":1", "1:1,", "%EF%BC%91:1"):
        yield post("/admin/vacancies/vacancy/bulk/schedule/", f"vacancies={sent}&publish_from_0=x")
    for pk in ROWS:
        for page in (*ACTIONS, "delete", "preview", "application-form", "versions/1"):
            yield get(f"/admin/vacancies/vacancy/{pk}/{page}/")
        for page in ("sections", "export", "change"):
            yield get(f"/admin/forms_structure/form/{pk}/{page}/")
    for page in ACTIONS:
        for query in PAGE_QUERIES:
            yield get(f"/admin/vacancies/vacancy/{page}/?{query}")
            yield get(f"/admin/vacancies/vacancy/{content.own_draft}/{page}/?{query}")
        for data in (
            "publish_from_0=x&publish_from_1=%00",
            "publish_from_0=99999-01-01&publish_from_1=1",
            "day=%00",
            "day=0000-00-00",
            "day=9999-12-31",
            "publish_from_0=9999-12-31&publish_from_1=23:59:59",
            "seen=%00",
            "publish_from_0=0001-01-01&publish_from_1=00:00:00",
            "version=%00&seen=abc",
        ):
            yield post(f"/admin/vacancies/vacancy/{content.own_draft}/{page}/", data)
    change = f"/admin/vacancies/vacancy/{content.own_draft}/change/"
    for data in (
        "",
        "title=%00",
        "title=" + "x" * 300_000,
        "title=x&version=abc",
        "version=%00",
        "brand=abc",
        "brand=%00",
        "brand=" + "9" * 30,
        "head_recruiter=%00",
        "publish_from_0=x&publish_from_1=y",
        "attachments-TOTAL_FORMS=abc",
        "attachments-TOTAL_FORMS=%00",
        "attachments-TOTAL_FORMS=-1",
        "attachments-TOTAL_FORMS=99999999",
        "attachments-TOTAL_FORMS=" + "9" * 5000,
        "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=1&attachments-0-id=abc",
        "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=1&attachments-0-id=%00",
        "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=0&attachments-0-vacancy=999999",
        "recruiter_links-TOTAL_FORMS=1&recruiter_links-INITIAL_FORMS=1&recruiter_links-0-id="
        + "9" * 30,
        "_to_field=x&_popup=%00",
        "_saveasnew=1",
        "regions=%00",
        "regions=abc",
        "regions=" + "9" * 30,
        "description=%00",
        "description=" + "<b>" * 30_000,
        "video=javascript:alert(1)",
        "status=nosuch",
    ):
        yield post(change, data)
        yield post("/admin/vacancies/vacancy/add/", data)
        for page in ("autosave", "discard"):  # then the form is opened with it
            draft = f"/admin/vacancies/vacancy/{content.own_draft}"
            yield post(f"{draft}/{page}/", f"page=p&base=[&_files=x&{data}")
        yield get(change)
    for app, model, name in (
        ("vacancies", "vacancy", "brand"),
        ("vacancies", "vacancy", "nosuch"),
        ("vacancies", "vacancy", "title"),
        ("vacancies", "vacancy", "id"),
        ("vacancies", "vacancy", "%00"),
        ("vacancies", "nosuch", "brand"),
        ("nosuch", "vacancy", "brand"),
        ("%00", "%00", "%00"),
        ("auth", "user", "groups"),
        ("auth", "user", "password"),
        ("auth", "permission", "content_type"),
        ("admin", "logentry", "user"),
        ("applications", "application", "user"),
        ("applications", "application", "vacancy"),
        ("", "", ""),
        ("vacancies", "vacancy", "versions"),
        ("vacancies", "vacancyoption", "option"),
        ("vacancies", "vacancy", "head_recruiter"),
        ("vacancies", "vacancy", "pk"),
        ("vacancies", "vacancy", "brand__members"),
        ("%FF", "x", "y"),
        ("vacancies", "vacancy", "recruiter_links"),
        ("vacancies", "vacancy", "choices"),
        ("contenttypes", "contenttype", "permission"),
        ("vacancies", "brand", "members"),
        ("applications", "token", "user"),
        ("applications", "stagechange", "stage"),
        ("sessions", "session", "session_key"),
        ("vacancies", "vacancy", "form"),
    ):
        query = f"app_label={app}&model_name={model}&field_name={name}"
        for tail in TERMS:
            yield get(f"/admin/autocomplete/?{query}{tail}")
        yield get(f"/admin/autocomplete/?{query}&term=x", root)
        yield post("/admin/autocomplete/", query)
    yield get("/admin/autocomplete/")
    yield get("/admin/autocomplete/?app_label=vacancies")
    for content_type in ("1", "7", "abc", "%00", "9" * 30, "-1", "0"):
        for pk in ("1", "abc", "%00", "9" * 30, "-1", "_5F"):
            yield get(f"/admin/r/{content_type}/{pk}/")
            yield get(f"/admin/r/{content_type}/{pk}/", root)
    for number in range(1, 25):  # every content type
        yield get(f"/admin/r/{number}/abc/", root)
    for query in SEARCHES:
        yield get(f"/admin/search/?{query}")
        yield get(f"/admin/search/?{query}", root)
    for path in (
        "jsi18n/",
        "texts.js",
        "texts.js?packages=nosuch",
        "password_change/",
        "nosuch/",
        "vacancies/nosuch/",
        "nosuch/vacancy/",
        "vacancies/",
        "vacancies/%00/",
        "%FF/",
        "doc/",
        "vacancies/vacancy/deleted/?p=abc",
        "vacancies/vacancy/deleted/?page=99999999999999999999",
        "vacancies/vacancy/deleted/?q=%00",
        "language",
        "?%00=%00",
        "vacancies/vacancy",
        "vacancies/vacancy//",
        "login/?next=//evil.example",
        f"vacancies/vacancy/{content.own_draft}/history/?page=abc",
        f"vacancies/vacancy/{content.own_draft}/history/?p=%00",
        f"vacancies/vacancy/{content.own_draft}/versions/99999999999999999999/",
        f"vacancies/vacancy/{content.own_draft}/versions/abc/",
        f"vacancies/vacancy/{content.own_draft}/versions/1/?with=abc",
        f"vacancies/vacancy/{content.own_draft}/versions/1/?against=%00",
        f"forms_structure/form/{content.own_form}/export/?revision=abc",
        f"forms_structure/form/{content.own_form}/export/?revision=%00",
        f"forms_structure/form/{content.own_form}/history/?p=abc",
    ):
        yield get(f"/admin/{path}")
        yield get(f"/admin/{path}", root)
    for data in (
        "",
        "{",
        "[]",
        "null",
        '{"structure": null}',
        '{"structure": 1}',
        '{"structure": "x"}',
        '{"structure": [1]}',
        '{"structure": [{}]}',
        '{"structure": [{"title": 1, "fields": 2}]}',
        '{"structure": [{"title": "\\u0000", "fields": []}]}',
        '{"structure": [{"title": "x", "description": "", "fields": [{"name": {}, "type": [], "label": 1}]}]}',
        '{"structure": [{"title": "x", "description": "", "fields": [null]}]}',
        '{"structure": [], "revision": "abc", "name": 1, "language": []}',
        '{"structure": [], "revision": 1e999, "name": "x", "language": "en"}',
        '{"structure": [], "revision": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"structure": ' + "[" * 900 + "]" * 900 + "}",
        '{"structure": [{"title": "\\ud800", "description": "", "fields": []}], "revision": 1, "name": "\\ud800", "language": "en"}',
        "\xff",
        '{"structure": NaN}',
        "true",
        "1",
        '{"structure": [{"title": "x", "description": "", "fields": [{"name": "a", "type": "select", "label": "a", "required": 1, "css": "x", "options": 5, "conditional": 5}]}]}',
    ):
        for page in ("save", "check", "copy", "extend"):
            yield post(f"/admin/forms_structure/form/{content.own_form}/{page}/", data, kind="json")
    for data in ("revision=abc&seen=abc", "revision=%00", "revision=" + "9" * 30 + "&seen=1", ""):
        yield post(f"/admin/forms_structure/form/{content.own_form}/restore/", data)
    for data in ("", "a=%00", "title=%00", "TOTAL_FORMS=x"):
        yield post(f"/admin/vacancies/vacancy/{content.own_draft}/review/", data)
        yield post("/admin/vacancies/vacancy/review/", data)
    for data in ("label=%00", "label=", "label=" + "x" * 100_000, "label=%FF"):
        yield post(f"/admin/vacancies/filter/{content.filter}/option/", data, root)
    for pk in ("abc", "%00", "9" * 30):
        yield post(f"/admin/vacancies/filter/{pk}/option/", "label=x", root)
        yield get(f"/admin/vacancies/filter/{pk}/options/", root)
    for data in (
        "",
        "name=%00&planned_at_0=x",
        "name=x&planned_at_0=%00&planned_at_1=" + "9" * 30,
        "delete=1",
    ):
        yield post(f"/admin/applications/application/{content.own_application}/task/", data)
    for query in ("series=abc", "series=%00", f"series={'9' * 30}-1", "_changelist_filters=%00"):
        for page in (f"{content.own_application}/change", "summary"):
            yield get(f"/admin/applications/application/{page}/?{query}")
    users = ("username=%00", "username=x&password1=%00&password2=%00", "date_joined_0=x")
    for data in (
        *users,
        "groups=" + "9" * 30,
        "is_superuser=maybe&groups=abc&user_permissions=%00",
    ):
        yield post(f"/admin/auth/user/{content.users['A']}/change/", data, root)
        yield post("/admin/auth/user/add/?account", data, root)
        yield post(f"/admin/auth/user/{content.users['A']}/password/", data, root)
    for data in (
        "email=%00&first_name=%00&role=%00&brands=%00&language=%00",
        "email=a@b.example&role=abc&brands=abc&language=xx",
        "email=" + "x" * 5000 + "@b.example&role=" + "9" * 30 + "&brands=" + "9" * 30,
    ):
        yield post("/admin/auth/user/add/", data, root)
    for pk in ("0", "9" * 18, "9" * 30):
        yield post(f"/admin/auth/user/invitations/{pk}/send-again/", "", root)
        yield post(f"/admin/auth/user/invitations/{pk}/withdraw/", "", root)
    for token in ("%00", "1-2:x", "9" * 30, "x" * 5000):
        yield get(f"/account/invitation/{token}")
        yield post(f"/account/invitation/{token}", "new_password1=x")
    for data in (
        "old_password=%00&new_password1=%00&new_password2=%00",
        "new_password1=" + "x" * 5000,
    ):
        yield post("/admin/password_change/", data)
