"""Names of query parameters that an endpoint does not have: likely mistakes, and names to ignore.

A name is a likely mistake if it means a parameter of the endpoint, a key of its items, or a
parameter of other APIs. Ignoring it would return a longer list than the client wants. Case,
punctuation, plurals and words such as "filter", "is" and "since" do not matter, nor does one typing
error in five characters or more.
"""

import re
from fnmatch import fnmatchcase
from functools import lru_cache

# Tracking parameters and cache busters: never an error, whatever they resemble. The document lists
# them.
IGNORED = (
    "utm_*",
    "mtm_*",
    "pk_*",
    "hsa_*",
    "_hs*",
    "_ga",
    "_gl",
    "mc_cid",
    "mc_eid",
    "fbclid",
    "gclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "dclid",
    "msclkid",
    "yclid",
    "ttclid",
    "twclid",
    "igshid",
    "li_fat_id",
    "ref",
    "s",
    "_",
    "_t",
    "t",
    "ts",
    "v",
    "cb",
    "nocache",
    "cachebuster",
)
# The first words of names that are always errors.
FAMILIES = frozenset({"page", "filter", "sort", "field"})
# Names of other APIs by our parameter. NONE: we have no such parameter.
NONE = ""
OTHER_NAMES = {
    "page[size]": """pagesize pagelimit pageperpage perpage itemperpage resultperpage limit size count row
        take top max maxresult result num""",
    "page[number]": """page pagenumber pageno pagenum pageindex pageoffset currentpage offset start startindex
        skip cursor next pagination pg""",
    "filter[search]": "q query search searchterm searchquery keyword term text fulltext",
    "sort": (
        "sort sortby sortorder sortdirection order orderby ordering orderdirection direction dir"
    ),
    "fields": "field select only column attribute property include exclude expand embed",
    "filter[functiongroup]": "category jobcategory function jobfunction sector industry department",
    "filter[contract_types]": "contract",
    "filter[work_regimes]": "regime schedule workschedule workinghour parttime fulltime",
    "filter[regions]": "city province place area state postcode postalcode zip zipcode",
    "filter[brand]": "brand employer organisation organization",
    "filter[country]": "country remotecountry",
    "filter[work_place]": "workplace remote",
    "filter[employment_types]": "employment employmenttype",
    "filter[language]": "filterlang lang language",
    "filter[near]": "lat lon lng latitude longitude radius distance",
    NONE: """id ids name since after before until from to date startdate enddate modified changed posted
        published expired closing deadline status locale format salary wage tag featured internal audience
        vacancyid jobid lastmodified expiry validuntil active open new latest hl output callback facet
        aggregation experience seniority education skill level""",
}
# Instead of those above where texts have several languages.
LANGUAGE_NAMES = "lang locale hl"
# Words of names that ask for what changed.
CHANGES = frozenset({"since", "updated", "modified", "changed", "lastmodified", "delta"})
# Words that a name may have beside its meaning.
_FILLERS = """filter where by is has in the a id name value since after before from to until at on date
    min max gt gte lt lte eq ne not like ilike contain icontain iexact exact equal start end with
    slug code vacancy job"""
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_LENGTH_MAX = 60


def is_ignored(name: str) -> bool:
    """Whether `name` is a tracking parameter or a cache buster."""
    return any(fnmatchcase(name.lower(), pattern) for pattern in IGNORED)


def meant(name: str, allowed: tuple[str, ...], keys: tuple[str, ...]) -> str | None:
    """Return the parameter in `allowed` that the unknown `name` probably means, "" if it is a
    mistake without such a parameter, and None if it resembles nothing. `keys` are those of the
    items.
    """
    words = _words(name[:_LENGTH_MAX])
    if words and (OTHER_NAMES.keys() | {"language"}) & set(allowed):
        names, variants = _known(allowed, keys)
        meaning = _meaning(words)
        for word in ("".join(words), meaning, *(words if not meaning else ())):
            if word in names:
                return names[word]
        for variant in sorted(_variants(meaning)):
            if variant in variants:
                return variants[variant]
    return "" if words and words[0] in FAMILIES else None


def means_changes(name: str) -> bool:
    """Whether the parameter `name` probably asks for what changed."""
    return not CHANGES.isdisjoint(_words(name[:_LENGTH_MAX]))


def _words(name: str) -> list[str]:
    """Return the words of `name` in lower case and singular:
    "filters[workRegimes]" is filter work regime.
    """
    return [_singular(word.lower()) for word in _WORD.findall(name)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word


def _meaning(words: list[str]) -> str:
    fillers = _FILLERS.split()
    return "".join(word for word in words if word not in fillers)


def _variants(word: str) -> set[str]:
    """Return `word`, and it without one character:
    words with a common variant differ by a typing error.
    """
    if len(word) < 5:
        return set()
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}


@lru_cache(maxsize=16)
def _known(
    allowed: tuple[str, ...], keys: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the parameter that each meaning stands for, "" if none, and the same by variants of
    meanings.
    """
    names: dict[str, str] = {}
    for name in allowed:
        member = name.partition("[")[2] or name
        names |= {"".join(_words(each)): name for each in (name, member)} | {
            _meaning(_words(member)): name
        }
    if "language" in allowed:
        names |= dict.fromkeys(LANGUAGE_NAMES.split(), "language")
    for right, others in OTHER_NAMES.items() if OTHER_NAMES.keys() & set(allowed) else ():
        for other in others.split():
            names.setdefault("".join(_words(other)), right if right in allowed else "")
    for key in keys:
        for meaning in ("".join(_words(key)), _meaning(_words(key))):
            names.setdefault(meaning, "")
    names.pop("", None)
    variants: dict[str, str] = {}
    for meaning, right in names.items():
        for variant in _variants(meaning):
            variants.setdefault(variant, right)
    return names, variants
