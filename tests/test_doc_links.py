"""The documents: relative links, anchors and paths of this repository
resolve, and lines are short.
"""

import re

import yaml

from tests.servers import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A path in text or code, from the root of the repository or from tests/.
PATH = re.compile(
    r"(?<![\w/.~-])((?:docs|deploy|tests|jobsite|vacancies|applications|forms_structure)/[\w./-]+)"
)
# CONTRIBUTING.md names files that a new feature would get.
WITH_PATHS = [path for path in DOCUMENTS if path.name != "CONTRIBUTING.md"]
WITH_PATHS += [
    *(path for path in (ROOT / "deploy").iterdir() if path.is_file()),
    ROOT / ".env.example",
]
ALERTS = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"]
RULES = [rule for group in ALERTS for rule in group["rules"]]


def without_code(text):
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """Return the anchors of a document's headings, as GitHub generates them."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", without_code(path.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = found.count(anchor)
        found.append(f"{anchor}-{count}" if count else anchor)
    return found


def found_in(paths, search):
    """Return what `search` finds in each path, without the paths where it finds nothing."""
    found = {str(path.relative_to(ROOT)): search(path) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_relative_links_and_anchors_resolve():
    def broken(path):
        found = []
        for link in LINK.findall(without_code(path.read_text())):
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            if re.match(r"[a-z]+:", link) or (
                target.exists() and (not anchor or anchor in anchors(target))
            ):
                continue
            found.append(link)
        return found

    assert found_in(DOCUMENTS, broken) == {}


def test_paths_in_text_exist():
    def missing(path):
        mentioned = {found.rstrip("./") for found in PATH.findall(without_code(path.read_text()))}
        tops = (ROOT, ROOT / "tests")
        return {file for file in mentioned if not any((top / file).exists() for top in tops)}

    assert found_in(WITH_PATHS, missing) == {}


def test_lines_are_shorter_than_120_characters():
    assert (
        found_in(
            DOCUMENTS, lambda path: [n for n in path.read_text().splitlines() if len(n) >= 120]
        )
        == {}
    )


# --- Repeated rows and list items ---

ROW, ITEM = re.compile(r"^\|(.*)\|$"), re.compile(r"^ *(?:[-*]|\d+\.) (.*)$")


def subjects(row):
    """Return what only one row of a table may have:
    its first cell without brackets, a link in its last.
    """
    cells = [cell.strip() for cell in row.split("|")]
    first = re.sub(r" *\(.*?\)", "", cells[0]).lower() or row
    return {first, *re.findall(r"^(\[[^]]*\]\([^)]*\))$", cells[-1])}


def repeated(path, text):
    """Return the rows and list items of `text` that repeat an earlier one of
    their table or list.
    """
    found, seen = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        row, item = ROW.match(line), ITEM.match(line)
        if not row and not item:
            # A list goes on after the second line of an item.
            seen = seen if line.startswith("  ") and line.strip() else {}
            continue
        for subject in subjects(row[1]) if row else {item[1].lower()}:
            if subject in seen:
                found.append(f"{path}:{number} repeats line {seen[subject]}: {line}")
            seen.setdefault(subject, number)
    return found


def test_rows_and_items_are_not_repeated():
    found = [
        each for path in DOCUMENTS for each in repeated(path.relative_to(ROOT), path.read_text())
    ]
    assert found == [], "\n".join(found)


def test_repeated_rows_are_found():
    table = "| term | page |\n|---|---|\n| role (of a field) | [a](a.md) |\n"

    assert repeated("x.md", table + "| other | [b](b.md) |") == []
    assert repeated("x.md", table + "| Role | [b](b.md) |") == [
        "x.md:4 repeats line 3: | Role | [b](b.md) |"
    ]
    assert repeated("x.md", table + "| two | [a](a.md) |") == [
        "x.md:4 repeats line 3: | two | [a](a.md) |"
    ]
    assert repeated("x.md", "- one\n  more\n- one") == ["x.md:3 repeats line 1: - one"]
    assert repeated("x.md", "- one\n\n- one") == []


# --- docs/decisions.md ---

INDEX, SECTIONS = (ROOT / "docs/decisions.md").read_text().split("\n\n## ", 1)
DECISIONS = re.findall(r"^### #(\d+) .*$", SECTIONS, re.MULTILINE)
CITED = re.compile(r"decisions\.md\s+#(\d+)(?:(?:,|\s+(?:to|and))\s+#(\d+))*")


def test_index_of_decisions_lists_each_once():
    listed = dict(re.findall(r"\[([^]]+)\]\(#[^)]*\): ([\d, ]+)", re.sub(r"\n  ", " ", INDEX)))
    sections = {}
    for section in SECTIONS.split("\n## "):
        if numbers := re.findall(r"^### #(\d+) ", section, re.MULTILINE):
            sections[section.partition("\n")[0]] = numbers
    assert {title: numbers.split(", ") for title, numbers in listed.items()} == sections
    assert len(set(DECISIONS)) == len(DECISIONS) <= 100


def test_headings_of_decisions_are_questions():
    headings = re.findall(r"^### .*$", SECTIONS, re.MULTILINE)
    assert [heading for heading in headings if not re.fullmatch(r"### #\d+ .*\?", heading)] == []


def test_cited_decisions_exist():
    folders = (
        "applications",
        "deploy",
        "forms_structure",
        "jobsite",
        "templates",
        "tests",
        "vacancies",
    )
    found = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    paths = [path for path in found if "node_modules" not in path.parts]  # other people's
    endings = (".py", ".js", ".html", ".sql", ".service", ".timer", ".conf", ".yaml", ".yml")

    def unknown(path):
        cited = [found[0] for found in CITED.finditer(path.read_text())]
        return {number for text in cited for number in re.findall(r"#(\d+)", text)} - {*DECISIONS}

    assert found_in([path for path in paths if path.suffix in endings], unknown) == {}


def test_alerts_link_to_sections_of_the_incidents_page():
    file = "docs/operations/incidents.md"
    links = {f"{file}#{anchor}" for anchor in anchors(ROOT / file)}

    assert {rule["annotations"]["runbook"] for rule in RULES} - links == set()


# --- Messages that the operations pages quote ---

MESSAGES = [
    "The replica fails (",
    "The replica answers again",
    "The cache server is unavailable: ",
    "The database could not answer ",
    "The file storage could not answer",
    "Not started: the configuration is unsafe",
    "A table was in use at every attempt",
    "A file could not be stored: ",
    "The file storage is full",
    "No account on this site matches your sign-in",
    "The identity provider's answer is refused: ",
    "The identity provider's answer cannot be used: ",
    "The identity provider does not answer",
    "applicants erased again",
]
PAGES = " ".join(" ".join(path.read_text().split()) for path in ROOT.glob("docs/operations/*.md"))


def test_quoted_messages_are_in_the_code_and_in_the_pages():
    apps = ("applications", "forms_structure", "jobsite", "templates", "vacancies")
    files = [path for app in apps for path in (ROOT / app).rglob("*")]
    code = "\n".join(path.read_text() for path in files if path.suffix in (".py", ".html", ".txt"))

    assert [message for message in MESSAGES if message not in code or message not in PAGES] == []
