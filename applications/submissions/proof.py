"""A proof of work against spam, in ALTCHA's format (https://altcha.org/docs/v2/proof-of-work/,
version 1).

The client looks for the number whose SHA-256 with the salt is the challenge. The salt has the
vacancy and the time until which the challenge is valid: the end of the hour after the one in which
it was made.
"""

import base64
import json
from datetime import UTC, datetime, timedelta

from altcha import create_challenge_v1, extract_params_v1, verify_solution_v1
from django.conf import settings
from django.db import IntegrityError
from django.utils.crypto import salted_hmac

from applications.models import Application, UsedProof
from jobsite.types import JsonObject
from vacancies.models import Vacancy

MAX_NUMBER = 100_000  # takes a browser about a second
SUBMISSIONS_MAX = 30  # in an hour, to one vacancy, without a proof
_MEMBERS: dict[str, type] = {
    "algorithm": str,
    "challenge": str,
    "number": int,
    "salt": str,
    "signature": str,
}


class ProofRequiredError(Exception):
    """A proof is required, and is missing, wrong or used."""


def is_required(vacancy: Vacancy, *, at: datetime) -> bool:
    """Whether a submission to `vacancy` at `at` needs a proof (the setting APPLY_PROOF)."""
    if settings.APPLY_PROOF != "auto":
        return settings.APPLY_PROOF == "always"
    recent = Application.objects.filter(vacancy=vacancy, created_at__gt=at - timedelta(hours=1))
    return recent.exclude(reference=None)[: SUBMISSIONS_MAX + 1].count() > SUBMISSIONS_MAX


def challenge(vacancy: Vacancy, *, at: datetime) -> JsonObject:
    """Return a challenge for one submission to `vacancy`."""
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    made = create_challenge_v1(
        algorithm="SHA-256",
        max_number=MAX_NUMBER,
        salt_length=12,
        hmac_key=_key(),
        salt="",
        number=None,
        expires=hour + timedelta(hours=2),
        params={"vacancy": str(vacancy.pk)},
    )
    # Clients of the format read one of the two spellings.
    return made.to_dict() | {"maxnumber": MAX_NUMBER}


def verified(vacancy: Vacancy, solution: str | None, *, at: datetime) -> UsedProof:
    """Return the unsaved row that marks `solution`, an ALTCHA payload, as used.

    Raise ProofRequiredError if it is missing, wrong, expired, of another vacancy, or used.
    """
    payload = _payload(solution or "")
    params = extract_params_v1(payload)  # type: ignore[arg-type]  # its members were checked
    is_solved, _reason = verify_solution_v1(payload, _key(), check_expires=False)  # type: ignore[call-overload]
    if not is_solved or params.get("vacancy") != [str(vacancy.pk)]:
        raise ProofRequiredError
    expires_at = datetime.fromtimestamp(int(params["expires"][0]), UTC)  # we signed it
    if expires_at <= at or UsedProof.objects.filter(digest=payload["challenge"]).exists():
        raise ProofRequiredError
    return UsedProof(digest=payload["challenge"], expires_at=expires_at)


def spend(proof: UsedProof) -> None:
    """Mark `proof` as used, in the transaction of its application.
    Raise ProofRequiredError if it is used.
    """
    try:
        proof.save(force_insert=True)
    except IntegrityError as error:
        raise ProofRequiredError from error


def _payload(solution: str) -> JsonObject:
    """Return the decoded ALTCHA payload. Raise ProofRequiredError if it is not one."""
    try:
        payload = json.loads(base64.b64decode(solution, validate=True))
        # No characters that UTF-8 cannot represent.
        json.dumps(payload, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ProofRequiredError from error
    is_complete = isinstance(payload, dict) and all(
        type(payload.get(name)) is type_ for name, type_ in _MEMBERS.items()
    )
    if not is_complete or payload["algorithm"] != "SHA-256":
        raise ProofRequiredError
    return payload


def _key() -> str:
    return salted_hmac("applications.proof", "", algorithm="sha256").hexdigest()
