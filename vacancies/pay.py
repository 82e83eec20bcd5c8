"""The pay of a vacancy as text, in the active language."""

from decimal import Decimal

from babel.numbers import format_currency
from django.utils.translation import gettext as _

from jobsite.text.iso_names import locale
from vacancies.choices import PayPeriod
from vacancies.models import Vacancy


def pay_text(vacancy: Vacancy) -> str:
    """Return for example "from €3,100 per month (gross)", also if the pay is not public; "" without pay."""
    amount = amount_text(vacancy)
    if amount and vacancy.pay_note:
        return f"{amount} ({vacancy.pay_note})"
    return amount or vacancy.pay_note


def amount_text(vacancy: Vacancy) -> str:
    """Return the pay without the note, or ""."""
    lowest, highest = (
        None if amount is None else _money(amount, vacancy.pay_currency)
        for amount in (vacancy.pay_min, vacancy.pay_max)
    )
    if lowest and highest:
        text = lowest if lowest == highest else f"{lowest} – {highest}"
    elif lowest:
        text = _("from %(amount)s") % {"amount": lowest}
    elif highest:
        text = _("up to %(amount)s") % {"amount": highest}
    else:
        return ""
    return f"{text} {PayPeriod(vacancy.pay_period).label}"


def _money(amount: Decimal, currency: str) -> str:
    """Return `amount` without decimals if it is whole."""
    pattern = locale().currency_formats["standard"].pattern
    if amount == amount.to_integral_value():
        pattern = pattern.replace(".00", "")
    return format_currency(amount, currency, pattern, locale=locale(), currency_digits=False)
