"""The vocabularies that classify a vacancy, and the closed lists of its facts."""

from collections.abc import Callable
from functools import cache

from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from jobsite.db.folding import fold
from jobsite.text.iso_names import country_name, language_name


class Keyword(models.TextChoices):
    """The nine vocabularies of a vacancy: keys of the API and of `filter[...]`."""

    FUNCTIONGROUP = "functiongroup", "Job category"
    TYPES = "types", "Types"
    CONTRACT_TYPES = "contract_types", "Contract types"
    WORK_REGIMES = "work_regimes", "Work regimes"
    REGIONS = "regions", "Regions"
    JOBCUSTOM1 = "jobcustom1_values", "Custom filter 1"
    JOBCUSTOM2 = "jobcustom2_values", "Custom filter 2"
    JOBCUSTOM3 = "jobcustom3_values", "Custom filter 3"
    JOBCUSTOM4 = "jobcustom4_values", "Custom filter 4"

    @property
    def is_single(self) -> bool:
        """Whether a vacancy has at most one of its options."""
        return self is Keyword.FUNCTIONGROUP


class WorkPlace(models.TextChoices):
    """Where the work is done."""

    ONSITE = "onsite", _("On site")
    HYBRID = "hybrid", _("Hybrid")
    REMOTE = "remote", _("Remote")


class PayPeriod(models.TextChoices):
    """What an amount of pay is for."""

    HOUR = "hour", _("per hour")
    DAY = "day", _("per day")
    WEEK = "week", _("per week")
    MONTH = "month", _("per month")
    YEAR = "year", _("per year")


class EmploymentType(models.TextChoices):
    """The values of `employmentType` of schema.org that search engines read, in the order of the API."""

    FULL_TIME = "FULL_TIME", _("Full-time")
    PART_TIME = "PART_TIME", _("Part-time")
    CONTRACTOR = "CONTRACTOR", _("Contractor")
    TEMPORARY = "TEMPORARY", _("Temporary")
    INTERN = "INTERN", _("Internship")
    VOLUNTEER = "VOLUNTEER", _("Volunteer")
    PER_DIEM = "PER_DIEM", _("Per day")
    OTHER = "OTHER", _("Other")


class PlaceKind(models.TextChoices):
    """What a place is: where the work is done, or a country in which a remote worker may live."""

    SITE = "site", _("Place of work")
    APPLICANT = "applicant", _("Country for remote work")


PLACES_MAX = 10  # of each kind

# ISO 3166-1 alpha-2
_COUNTRIES = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT "
    "BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH "
    "ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT "
    "HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS "
    "LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI "
    "NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG "
    "SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG "
    "UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
)
COUNTRIES = tuple(_COUNTRIES.split())
# ISO 639-1
_LANGUAGES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv "
    "dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie "
    "ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv "
    "mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm "
    "rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts "
    "tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
LANGUAGES = tuple(_LANGUAGES.split())


def country_choices() -> list[tuple[str, str]]:
    """Return the countries with their names in the active language, in the order of the names."""
    return _by_name(get_language() or "en", country_name, COUNTRIES)


def language_choices() -> list[tuple[str, str]]:
    """Return the languages with their names in the active language, in the order of the names."""
    return _by_name(get_language() or "en", language_name, LANGUAGES)


@cache
def _by_name(language: str, name: Callable[[str, str], str], codes: tuple[str, ...]) -> list[tuple[str, str]]:
    return sorted(((code, name(code, language)) for code in codes), key=lambda pair: fold(pair[1]))
