"""A usability tour: tasks of recruiters in a browser, with the number of clicks and keys and the
time.

    python -m tests.browser.tour --json after.json
    python -m tests.browser.tour --site ../before --json before.json

`--site` is the folder of another checkout with its own environment in .venv, to compare two
versions with the same tasks. `--compare before.json after.json` prints both as a table.

Then it prints what the first screens show (screens.py).

The time is that of the keystroke-level model (Card, Moran and Newell, 1983; hand.py), without the
time of the server, which is measured and reported beside it. A task that needs a missing feature is
"not possible".
"""
