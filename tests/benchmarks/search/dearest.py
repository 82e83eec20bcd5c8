"""Look for the search that costs most CPU, in the database of DATABASE_URL:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.search.dearest fill 20000   # once: the vacancies of data.py again and again
    python -m tests.benchmarks.search.dearest 300          # tries so many searches

Each of the vacancies has the same sentence. Prints the dearest searches with the milliseconds of
CPU of application and database, in a process that has read nothing of the index, and when it has.
"""

import sys
from random import Random

from tests.benchmarks.process import cpu  # sets Django up

# isort: split

from django.core.management import call_command
from django.test import Client

from tests.benchmarks.search import data
from tests.benchmarks.search.__main__ import fill
from vacancies.api import process_cache
from vacancies.search.merge import merge
from vacancies.search.words import split_words

SENTENCE = "You work in a team with other people, and the night shift is part of the job."
LENGTH_MAX, WORDS_MAX = 200, 20
SHOWN = 10
FILTERS = (
    {},
    {},
    {},
    {"filter[language]": "en"},
    {"filter[near]": "51,4.4,500"},
    {"sort": "title"},
)


def copies(number: int) -> list[data.Document]:
    """Return as many vacancies, which share a sentence."""
    found, documents = [], data.documents()
    for n in range(number):
        document = documents[n % len(documents)]
        texts = {**document.texts, "offer": f"{document.texts.get('offer', '')}<p>{SENTENCE}</p>"}
        found.append(
            document._replace(pk=n + 1, reference=f"{document.reference}-{n}", texts=texts)
        )
    return found


class Searches:
    """Makes searches of all forms, each as long as it may be."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.common = split_words(SENTENCE.lower())
        documents = data.documents()
        self.words = sorted(
            {word for each in documents for word in split_words(each.title.lower())}
        )

    def word(self) -> str:
        word, letter = self.random.choice(self.words), self.random.choice("aeinrst")
        cut = self.random.randrange(len(word))
        forms = (
            word,
            word,
            word[:3],
            word[-4:],
            word[:cut] + letter + word[cut:],
            word + self.random.choice(self.words),
        )
        return self.random.choice((self.random.choice(self.common), *forms, letter, letter * 40))

    def phrase(self) -> str:
        start, size = (
            self.random.randrange(len(self.common)),
            self.random.choice((1, 1, 2, 2, 3, 8)),
        )
        return f'"{" ".join(self.common[start : start + size])}"'

    def text(self) -> str:
        kinds = self.random.choice(((self.word,), (self.phrase,), (self.word, self.phrase)))
        between = self.random.choice((" ", " ", " ", "-", "/"))
        limit, text = self.random.choice((1, 3, WORDS_MAX, WORDS_MAX)), ""
        while True:
            longer = text + between * bool(text) + self.random.choice(kinds)()
            if len(split_words(longer)) > limit or len(longer) > LENGTH_MAX:
                return text or "a"
            text = longer


def measure(client: Client, query: dict[str, str]) -> float:
    process_cache.process.id_lists.clear()
    before = cpu()
    response = client.get("/v1/vacancies", query)
    assert response.status_code in (200, 400), (query, response.content)
    return 1000 * (sum(cpu()) - sum(before))


def main() -> None:
    if sys.argv[1] == "fill":
        call_command("migrate", verbosity=0)
        fill(copies(int(sys.argv[2])))
        merge()
        return
    client, random, found = Client(SERVER_NAME="localhost"), Random(0), []
    searches = Searches(random)
    measure(client, {"filter[search]": "nurse"})  # imports
    for _ in range(int(sys.argv[1])):
        query = {"filter[search]": searches.text(), **random.choice(FILTERS)}
        process_cache.process = process_cache.ProcessCache()
        found.append((measure(client, query), measure(client, query), str(query)))
    for title, column in (("new process", 0), ("the same process", 1)):
        ordered = sorted(found, key=lambda row: -row[column])
        print(f"{title}: median {ordered[len(ordered) // 2][column]:.0f} ms, the dearest:")
        for row in ordered[:SHOWN]:
            print(f"  {row[column]:4.0f} ms  {row[2]}")


if __name__ == "__main__":
    main()
