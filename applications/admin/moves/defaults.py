"""What the form of a move begins with: as the stage, or for a rejection the brand, says."""

from collections.abc import Collection
from dataclasses import dataclass

from applications.models import Application, BrandMail, Stage

Asks = Stage.AsksReason


@dataclass(frozen=True)
class MoveDefaults:
    """Whether there is an email, and whether it is switched on; whether a reason is asked for. Of
    several brands, one that wants an email or a reason decides: the page shows both.
    """

    has_email: bool
    sends_email: bool
    asks_reason: str

    @classmethod
    def of(cls, stage: Stage, applications: Collection[int]) -> "MoveDefaults":
        """Return the defaults of a move of `applications`, by id, to `stage`."""
        if stage.kind != Stage.Kind.REJECTED:
            return cls(stage.email_id is not None, True, stage.asks_reason)
        rows = Application.objects.filter(pk__in=applications).order_by()
        brands = set(rows.values_list("vacancy__brand", flat=True))
        own = {each.brand_id: each for each in BrandMail.objects.filter(brand__in=brands)}
        mails = [own.get(brand) or BrandMail() for brand in brands]
        asks = {mail.asks_reason or stage.asks_reason for mail in mails}
        return cls(
            has_email=any(mail.rejection_id or stage.email_id for mail in mails),
            sends_email=any(mail.has_rejection_email for mail in mails),
            asks_reason=next((each for each in (Asks.MUST, Asks.MAY) if each in asks), Asks.NEVER),
        )
