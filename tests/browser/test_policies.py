"""Pages work under their content security policies:
`browser_page` fails the test on a violation.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.browser.admin import serve_static_files
from tests.factories import make_vacancy
from vacancies.access.previews import token_for

# Those that the other tests here never open.
ADMIN_PAGES = (
    "applications/accesslog/",
    "auth/user/add/",
    "password_change/",
    "vacancies/filter/",
    "nothing/",
)


@pytest.fixture
def site(live_server: Any, settings: Any) -> str:
    serve_static_files(settings)
    return live_server.url


@pytest.mark.smoke
def test_pages_work_under_their_policies(browser_page: Any, site: str, filters: Any) -> None:
    page, vacancy = browser_page, make_vacancy()
    for path in ("login", "reset", "reset/sent", "reset/x/y"):
        page.goto(f"{site}/account/{path}", wait_until="load")
        assert page.locator("h1").is_visible()
    # the stylesheet was let in
    assert page.eval_on_selector("main", "main => getComputedStyle(main).maxWidth") == "416px"
    page.goto(f"{site}/preview/{token_for(vacancy.pk)}", wait_until="load")
    assert page.get_by_text(vacancy.title).first.is_visible()


def test_pages_of_the_admin_work_under_its_policy(browser_page: Any, site: str) -> None:
    page, client = browser_page, Client()
    client.force_login(User.objects.create_superuser("anna"))
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}]
    )
    for path in ADMIN_PAGES:
        page.goto(f"{site}/admin/{path}", wait_until="load")
        assert "Jobsite" in page.title() or path == "nothing/"


def test_injected_scripts_do_not_run(chromium: Any, site: str) -> None:
    """In the admin, where the theme needs 'unsafe-eval': no inline scripts or handlers, and nothing
    from or to another site.
    """
    client = Client()
    client.force_login(User.objects.create_superuser("anna"))
    context = chromium.new_context()
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}]
    )
    page = context.new_page()
    page.goto(f"{site}/admin/", wait_until="load")
    page.evaluate(
        """() => {
          window.stopped = [];
          document.addEventListener("securitypolicyviolation", (event) =>
            stopped.push(event.effectiveDirective));
          const add = (html) => document.body.append(document.createRange().createContextualFragment(html));
          add("<script>window.pwned = 1</script>");
          add("<script src='https://evil.example/x.js'></script>");
          add("<img src='http://127.0.0.1:1/x.png' onerror='window.pwned = 1'>");
          add("<iframe src='https://evil.example/'></iframe>");
          add("<object data='https://evil.example/x.swf'></object>");
          add("<base href='https://evil.example/'>");
          add("<form id=out action='https://evil.example/' method=post></form>");
          document.getElementById("out").submit();
          fetch("https://evil.example/").catch(() => {});
        }"""
    )
    expected = [
        "script-src-elem",
        "script-src-attr",
        "frame-src",
        "object-src",
        "base-uri",
        "form-action",
        "connect-src",
    ]
    page.wait_for_function("(names) => names.every((name) => stopped.includes(name))", arg=expected)
    whole = page.evaluate("() => !window.pwned && document.baseURI.startsWith(location.origin)")
    context.close()

    assert whole
