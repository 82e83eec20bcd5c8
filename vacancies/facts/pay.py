"""The pay of a vacancy as text, in the active language."""

import re
from decimal import Decimal
from typing import NamedTuple

from babel.numbers import format_currency, get_currency_symbol
from django.utils.translation import gettext as _

from jobsite.languages import LANGUAGES
from jobsite.text.iso_names import locale
from jobsite.types import JsonObject
from vacancies.choices import PayPeriod

Amount = Decimal | float
# 3100, 3,100, 3.100,50 and 3 100: thousands, then decimals
_NUMBER = re.compile(r"(\d{1,3}(?:[.,'’\s]\d{3})+|\d+)(?:[.,](\d{1,2}))?(?!\d)")


class Pay(NamedTuple):
    """What a vacancy pays, also if that is not public."""

    lowest: Amount | None
    highest: Amount | None
    currency: str
    period: str
    note: str

    @property
    def is_known(self) -> bool:
        return self.lowest is not None or self.highest is not None or bool(self.note)


def pay_text(pay: Pay) -> str:
    """Return for example "from €3,100 per month (gross)"; "" without pay."""
    amount = amount_text(pay.lowest, pay.highest, pay.currency, pay.period)
    if amount and pay.note:
        return f"{amount} ({pay.note})"
    return amount or pay.note


def pay_lines(pay: JsonObject | None) -> list[str]:
    """Return the amount and the note of the `pay` of an item of the API."""
    if pay is None:
        return []
    amount = amount_text(pay["min"], pay["max"], pay["currency"] or "", pay["period"] or "")
    return [line for line in (amount, pay["note"]) if line]


def amount_text(lowest: Amount | None, highest: Amount | None, currency: str, period: str) -> str:
    """Return the pay without the note, or ""."""
    low, high = (
        None if amount is None else _money(amount, currency) for amount in (lowest, highest)
    )
    if low and high:
        text = low if low == high else f"{low} – {high}"
    elif low:
        text = _("from %(amount)s") % {"amount": low}
    elif high:
        text = _("up to %(amount)s") % {"amount": high}
    else:
        return ""
    return f"{text} {PayPeriod(period).label}"


def states_pay(pay: Pay, text: str) -> bool:
    """Return whether `text`, in whatever language, has the lowest and the highest amount of `pay`,
    or its note if it has no more. Amounts below 1,000 count only if it names the currency: they may
    be times.
    """
    amounts = {Decimal(each) for each in (pay.lowest, pay.highest) if each is not None}
    stated = {
        Decimal(f"{re.sub('[^0-9]', '', whole)}.{part or 0}")
        for whole, part in _NUMBER.findall(text)
    }
    if amounts:
        names = {
            pay.currency,
            *(get_currency_symbol(pay.currency, locale=each) for each in (*LANGUAGES, "pl", "sk")),
        }
        return amounts <= stated and (max(amounts) >= 1000 or any(name in text for name in names))
    note = " ".join(pay.note.split())
    return bool(note) and note in " ".join(text.split())


def _money(amount: Amount, currency: str) -> str:
    """Return `amount` without decimals if it is whole."""
    pattern = locale().currency_formats["standard"].pattern
    if amount == int(amount):
        pattern = pattern.replace(".00", "")
    return format_currency(amount, currency, pattern, locale=locale(), currency_digits=False)
