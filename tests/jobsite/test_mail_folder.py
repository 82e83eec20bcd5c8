"""EMAIL_URL with a folder."""

from jobsite.environment import env


def test_folder_of_emails_begins_with_the_third_slash(monkeypatch):
    for url in ("filemail:///var/mails", "filemail:////var/mails"):
        monkeypatch.setenv("EMAIL_URL", url)
        assert env.mail_server("EMAIL_URL", default="")["EMAIL_FILE_PATH"] == "/var/mails"
