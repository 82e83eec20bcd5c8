"""How many languages are recognised, and how fast: `python -m tests.benchmarks.languages`.

The texts are drawn from sentences that were written for this benchmark (`texts.json`) and for that
of the search: a title and one to twelve sentences, English titles before other texts, and
loanwords. 641 real vacancies in English (`../shared/data`, not in the repository) are read, too, if
they are there.
"""

import json
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

import tests.benchmarks.process  # noqa: F401 # sets up Django
from jobsite.text.language import recognised_language
from tests.benchmarks.search import data

TEXTS = json.loads((Path(__file__).parent / "texts.json").read_text(encoding="utf-8"))
SUPPORTED = ("en", "nl", "fr", "de")
COUNT, OTHERS = 500, 12  # texts of each supported language, and of each of the others
ENGLISH_TITLES = ["Senior Software Engineer", "Sales Manager", "Customer Service Representative"]


def samples() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the group, the language and the texts of each vacancy."""
    random = Random(40)
    corpus = json.loads((data.HERE / "corpus.json").read_text(encoding="utf-8"))
    for row in corpus["vacancies"]:
        own = TEXTS[row["language"]]
        own["titles"].append(row["title"])
        numbers = [n for name in data.TEXTS for n in row.get(name, ())]
        own["sentences"] += [corpus["sentences"][n] for n in numbers]

    def vacancy(language: str, titles: list[str], most: int) -> list[str]:
        sentences = sorted(set(TEXTS[language]["sentences"]))
        count = min(random.choice([1, 2, 3, 5, 8, 12]), most, len(sentences))
        text = " ".join(random.sample(sentences, count))
        return [random.choice(titles), f"<p>{text.format(brand='Kade', place='Leuven')}</p>"]

    for language, own in TEXTS.items():
        if language in SUPPORTED:
            for _ in range(COUNT):
                yield language, language, vacancy(language, own["titles"], 12)
            for _ in range(COUNT if language != "en" else 0):
                yield f"{language}, English title", language, vacancy(language, ENGLISH_TITLES, 12)
        else:
            for _ in range(OTHERS):
                yield "others", "", vacancy(language, own["titles"], 5)
    if data.REAL.exists():
        for row in json.loads(data.REAL.read_text())["data"]:
            yield "real, en", "en", [row["title"], row["description"] or "", row["profile"] or ""]


def main() -> None:
    rows = [*samples()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    recognised_language(["The first text loads the model."])
    first, more = (
        process_time() - start,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
    )
    print(f"first text: {first * 1000:.0f} ms of CPU, {more // 1024} MB more at the peak\n")
    print("| texts | number | right | not recognised | wrong | ms of CPU per text |")
    print("|---|--:|--:|--:|--:|--:|")
    for group in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == group]
        start = process_time()
        found = [recognised_language(texts) for _, _, texts in own]
        each = (process_time() - start) / len(own) * 1000
        results = Counter(
            "right" if language == wanted else "wrong" if language else "not recognised"
            for language, (_, wanted, _) in zip(found, own, strict=True)
        )
        counts = (results[name] for name in ("right", "not recognised", "wrong"))
        print(f"| {group} | {len(own)} | {' | '.join(map(str, counts))} | {each:.2f} |")


if __name__ == "__main__":
    main()
