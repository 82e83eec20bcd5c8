"""Reads the whole sitemap, and the feed for Indeed, of a filled database:

    export DATABASE_URL=postgres://... CAREER_SITE=on
    python -m tests.benchmarks.content fill 1000000
    python -m tests.benchmarks.sitemap [--save FOLDER] [--feed] [--check]

Prints the addresses, the seconds of CPU of application and database, and the most memory of this
process. For `xmllint --noout --schema sitemap.xsd FOLDER/*`, `--save` writes the files. `--check`
reads each page, in a database that was filled with TEXT_LANGUAGES: its links to other languages are
those of the sitemap, and lead back.
"""

import argparse
import re
import resource
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.process import cpu  # sets Django up

# isort: split

from django.test import Client

from tests.jobsite.site.alternates import Links, faults, links_of_sitemap

FILE = re.compile(rb"<loc>https?://[^/<]+/([^<]*)</loc>")


def report(title: str, count: int, start: tuple[float, float]) -> None:
    own, database = (end - begin for begin, end in zip(start, cpu(), strict=True))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{title}: {count}, {own:.1f} + {database:.1f} s of CPU, at most {memory:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", type=Path)
    parser.add_argument("--feed", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    client: Any = Client(SERVER_NAME="localhost")
    client.get("/robots.txt")  # imports what all requests need
    report("Before", 0, start := cpu())
    names = [name.decode() for name in FILE.findall(client.get("/sitemap.xml").getvalue())]
    report("Files", len(names), start)
    start, count, largest = cpu(), 0, 0
    pages: dict[str, Links] = {}
    for name in names:
        content = client.get(f"/{name}").getvalue()
        count, largest = count + content.count(b"<loc>"), max(largest, len(content))
        if options.check:
            pages |= links_of_sitemap(content)
        if options.save:
            (options.save / name).write_bytes(content)
    report(f"Addresses (the largest file has {largest} bytes)", count, start)
    if options.check:
        start, found = cpu(), list(faults(pages, lambda url: client.get(urlsplit(url).path)))
        report(f"Faults of {len(pages)} pages", len(found), start)
        print("\n".join(found[:20]))
    if options.feed:
        start = cpu()
        report("Jobs", client.get("/feeds/indeed.xml").getvalue().count(b"<job>"), start)


if __name__ == "__main__":
    main()
