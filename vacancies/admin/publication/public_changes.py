"""What a publication changes for the public."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from vacancies.access.brands import readable_by
from vacancies.choices import VacancyStatus
from vacancies.history.diff import differences, field_values
from vacancies.history.versions import PUBLICATION, Content, read_content, replay
from vacancies.models import Change, Vacancy, Version, text_fields


def public_changes(vacancy: Vacancy, user: User) -> dict[str, object]:
    """Return the difference between `vacancy` and its last public version, or its whole content
    without one.

    A version from when the vacancy belonged to another brand is not shown to `user`.
    """
    versions = Version.objects.filter(vacancy=vacancy.pk).order_by("pk")
    public = _public_versions(versions, at=timezone.now())
    last = readable_by(user).filter(pk__in=public[-1:]).first()
    before = _shown(replay(versions.filter(pk__lte=last.pk))) if last else {}
    was_public = "title" in before
    now = _shown(read_content(vacancy))
    found = differences(before, now) if was_public else field_values(now)
    return {
        "was_public": was_public,
        "changes": [each for each in found if each.name not in PUBLICATION],
    }


def _shown(content: Content) -> Content:
    """Return `content` without the translations that are not ready."""
    texts = ((name, content.get(name)) for name in text_fields())
    return content | {name: None for name, text in texts if text and not text["is_ready"]}


def _public_versions(versions: QuerySet, *, at: datetime) -> list[int]:
    """Return the ids of those of `versions` that were public at some time before `at`."""
    rows = list(versions.values_list("pk", "change", "created_at", "content"))
    ends = [created_at for _, _, created_at, _ in rows[1:]] + [at]
    public, now = [], dict.fromkeys(PUBLICATION, "")
    # Without rows there is one end.
    for (pk, change, begin, values), end in zip(rows, ends, strict=False):
        now |= {name: values[name] for name in PUBLICATION if name in values}
        publish_from, publish_until = (
            datetime.fromisoformat(now[name]) if now[name] else None
            for name in ("publish_from", "publish_until")
        )
        if now["status"] != VacancyStatus.PUBLISHED or publish_from is None:
            continue
        # A version that was found later is older than its record.
        since = publish_from if change == Change.EXTERNAL else max(begin, publish_from)
        if since <= end and (publish_until is None or since < publish_until):
            public.append(pk)
    return public
