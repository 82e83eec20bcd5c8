"""SITE_NAME, SITE_LOGO and SITE_COLOR: readable shades, and the pages that have them."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from jobsite.appearance import DARK, LIGHT, MIN_CONTRAST, contrast, palette, text_on
from jobsite.ops.checks import settings_are_valid


@pytest.mark.parametrize(
    "color", ["#0b57b0", "#ffd500", "#000000", "#ffffff", "#e11d48", "#7fff00"]
)
def test_every_color_has_readable_shades(color):
    shades = palette(color)

    assert [
        n for n in ("600", "700", "800", "900", "950") if contrast(shades[n], LIGHT) < MIN_CONTRAST
    ] == []
    assert [n for n in ("400", "500") if contrast(shades[n], DARK) < MIN_CONTRAST] == []
    assert contrast(text_on(color), color) >= MIN_CONTRAST


def test_a_readable_color_is_used_as_it_is():
    assert palette("#0b57b0")["600"] == "#0b57b0"


def test_check_names_the_shade_of_a_light_color(settings):
    settings.SITE_COLOR = "#ffd500"

    [warning] = [each for each in settings_are_valid() if each.id == "jobsite.W038"]

    assert palette("#ffd500")["600"] in warning.msg


def test_pages_of_applicants_have_the_name_the_logo_and_the_colors(client, settings, db):
    page = client.get("/account/login")
    [style] = re.findall("<style>(.*?)</style>", page.text)
    assert "--site:#0b57b0;--on-site:#ffffff" in style
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page["Content-Security-Policy"]
    assert '<header class="site">Jobsite</header>' in page.text

    settings.SITE_NAME, settings.SITE_LOGO = "Acme", "/files/logo.svg"
    for address in ("/account/login", "/account/nothing"):
        assert '<img src="/files/logo.svg" alt="Acme">' in client.get(address).text


def test_admin_has_the_color(client, db):
    assert "--color-primary-600: rgb(11, 87, 176);" in client.get("/admin/login/").text
