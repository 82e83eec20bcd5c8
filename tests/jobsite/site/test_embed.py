"""How the list for other sites is served. tests/browser/test_embed.py uses it."""

import gzip
import re

from jobsite.languages import LANGUAGES


def test_module_may_be_loaded_by_any_site(client, settings):
    settings.CAREER_SITE = True
    settings.TEXT_LANGUAGES = ["fr", "nl"]
    answer = client.get("/embed.js", headers={"Origin": "https://www.example.com"})
    assert {
        name: answer[name]
        for name in (
            "Content-Type",
            "Access-Control-Allow-Origin",
            "Cross-Origin-Resource-Policy",
            "Cache-Control",
            "X-Content-Type-Options",
        )
    } == {
        "Content-Type": "text/javascript; charset=utf-8",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "public, max-age=3600",
        "X-Content-Type-Options": "nosniff",
    }
    assert client.get("/embed.js", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert client.post("/embed.js").status_code == 405
    assert len(gzip.compress(answer.content)) < 5000
    assert set(re.findall(r"^  (\w\w): \{", answer.text, re.MULTILINE)) == set(LANGUAGES)
    assert answer.text.startswith('const LANGUAGES = ["en", "fr", "nl"];\n')
    settings.CAREER_SITE = False
    assert client.get("/embed.js").status_code == 404
