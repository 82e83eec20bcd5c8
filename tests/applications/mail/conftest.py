import pytest


@pytest.fixture(autouse=True)
def _known_links(monkeypatch):
    """Links without a token, which depends on the time."""
    name = "applications.mail.receipt.receipt_path"
    monkeypatch.setattr(name, lambda application: f"/mine/{application.reference}")
