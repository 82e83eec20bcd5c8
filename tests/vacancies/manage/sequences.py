"""Random sequences of requests, of a recruiter's edits, approvals and imports, checked against a
small model of who wins. `python -m tests.vacancies.manage.sequences` runs 1,000 of them.
"""

import os
import random
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import make_brand, make_option, make_recruiter
from tests.vacancies.manage.client import Api, make_integration
from vacancies.models import Approval, Vacancy, Version
from vacancies.operations import approval_decisions, publication
from vacancies.operations.save import Edit, save_content

TEXTS = ("title", "location")
VERBS = ("INSERT", "UPDATE", "DELETE")


@dataclass
class Model:
    """What the vacancy has to be: its texts, whether it is public, and who set that last."""

    texts: dict[str, str] = field(default_factory=dict)
    is_public: bool = False
    is_archived: bool = False
    by_person: bool = False
    exists: bool = False


class Sequence:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        make_brand("Acme")
        make_option("regions", "Ghent")
        make_recruiter("An Peeters", email="an@acme.example")
        self.api = Api(make_integration(f"HRIS {seed}"))
        self.person = User.objects.create_user(f"recruiter-{seed}")
        self.reference, self.model = f"R-{seed}", Model()
        self.done: list[str] = []

    def vacancy(self) -> Vacancy:
        return Vacancy.objects.get(reference=self.reference)

    def body(self) -> dict[str, Any]:
        texts = {name: f"{name} {self.random.randrange(4)}" for name in TEXTS}
        sent: dict[str, Any] = {name: texts[name] for name in TEXTS if self.random.random() < 0.7}
        if not self.model.exists:
            sent |= {"title": texts["title"], "description": "<p>Work.</p>"}
            sent["head_recruiter"] = {"email": "an@acme.example"}
        state = self.random.choice(["public", "closed", None])
        return sent | ({"publication": {"state": state}} if state else {})

    def put(self) -> None:
        sent, model = self.body(), self.model
        answer = self.api.put(self.reference, sent)
        assert answer.status_code == (200 if model.exists else 201), answer.content
        model.texts |= {name: sent[name] for name in TEXTS if name in sent}
        wanted = {"public": True, "closed": False}.get(sent.get("publication", {}).get("state"))
        is_kept = bool(wanted) and not model.is_public and model.by_person
        if wanted is not None and not is_kept and wanted != model.is_public:
            model.is_public, model.by_person = wanted, False
            model.is_archived = model.is_archived and not wanted
        if not model.exists and wanted is False:
            model.by_person = False
        model.exists = True
        assert answer.json()["kept"] == (["publication"] if is_kept else [])
        self.check()
        with CaptureQueriesContext(connection) as queries:
            again = self.api.put(self.reference, sent).json()
        assert again["changed"] == []
        writes = [each["sql"] for each in queries if each["sql"].startswith(VERBS)]
        assert [sql for sql in writes if "integrationtoken" not in sql] == []

    def delete(self) -> None:
        answer = self.api.delete(self.reference)
        assert answer.status_code == (204 if self.model.exists else 404)
        if self.model.exists and not self.model.is_archived:
            self.model.is_public, self.model.is_archived = False, True
            self.model.by_person = False

    def edit(self) -> None:
        if not self.model.exists:
            return
        name = self.random.choice(TEXTS)
        text = f"own {self.random.randrange(4)}"
        self.save({name: text})
        self.model.texts[name] = text

    def save(self, wanted: dict[str, Any]) -> None:
        save_content(self.vacancy(), Edit(wanted), author=self.person, at=timezone.now())

    def publish(self) -> None:
        if self.model.exists:
            rows = Vacancy.objects.filter(reference=self.reference)
            done = publication.publish(vacancies=rows, at=timezone.now(), author=self.person).done
            assert bool(done) != self.model.is_public
            if done:
                self.model.is_public, self.model.by_person = True, True
                self.model.is_archived = False

    def unpublish(self) -> None:
        if self.model.exists and self.model.is_public:
            rows = Vacancy.objects.filter(reference=self.reference)
            publication.unpublish(vacancies=rows, at=timezone.now(), author=self.person)
            self.model.is_public, self.model.by_person = False, True

    def import_(self) -> None:
        """An import changes a text without a version."""
        if self.model.exists:
            text = f"imported {self.random.randrange(4)}"
            vacancy = self.vacancy()
            vacancy.location = text
            vacancy.updated_at += timedelta(seconds=1)
            vacancy.save()
            self.model.texts["location"] = text

    def approve(self) -> None:
        """The brand starts to need approval; the source changes its mind, or a colleague agrees."""
        if not (self.model.exists and self.model.is_public):
            return
        brand = self.vacancy().brand
        type(brand).objects.filter(pk=brand.pk).update(requires_approval=True)
        text = f"asked {self.random.randrange(1000)}"
        for _time in range(2):
            answer = self.api.put(self.reference, {"title": text})
            assert (answer.status_code, answer.json()["approval"]["waiting"]) == (202, ["title"])
        waiting = Approval.objects.waiting().get()
        if self.random.random() < 0.5:
            boss = User.objects.filter(is_superuser=True).first()
            boss = boss or User.objects.create_superuser("boss")
            seen = approval_decisions.fingerprint(self.vacancy(), waiting)
            approval_decisions.approve(
                vacancy=self.vacancy(), seen=seen, at=timezone.now(), author=boss
            )
            self.model.texts["title"] = text
        else:
            self.api.put(self.reference, {"title": self.model.texts["title"]})
        assert not Approval.objects.waiting().exists()
        type(brand).objects.filter(pk=brand.pk).update(requires_approval=False)

    def check(self) -> None:
        if not self.model.exists:
            assert not Vacancy.objects.filter(reference=self.reference).exists()
            return
        vacancy, model = self.vacancy(), self.model
        assert {name: getattr(vacancy, name) for name in model.texts} == model.texts, self.done
        assert (vacancy.status == "published") == model.is_public, self.done
        assert (vacancy.status == "archived") == model.is_archived, self.done
        last = Version.objects.filter(vacancy=vacancy.pk, content__has_key="status").first()
        by_person = last is not None and last.author == self.person
        assert by_person == model.by_person, self.done

    def run(self, steps: int = 12) -> None:
        for _step in range(steps):
            acts = (self.put, self.put, self.delete, self.edit, self.publish, self.unpublish)
            act = self.random.choice((*acts, self.import_, self.approve))
            self.done.append(act.__name__)
            act()
            self.check()


def main() -> None:
    """Run as many sequences as the first argument says (1,000), in a database of its own."""
    from django.test.utils import setup_databases, teardown_databases  # needs the settings

    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    old = setup_databases(verbosity=0, interactive=False)
    settings.INTEGRATION_RATE, settings.ALLOWED_HOSTS = "off", ["testserver"]
    for seed in range(number):
        with transaction.atomic():
            Sequence(seed).run()
            transaction.set_rollback(True)
    teardown_databases(old, verbosity=0)
    print(f"{number} sequences equal the model")


if __name__ == "__main__":
    main()
