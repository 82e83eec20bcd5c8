"""The feed: every change of a public list, exact, for clients that keep a copy.

Triggers write an entry for each vacancy that changes and a touch for each row that many vacancies
show (migration 0010, `triggers`). A client has a `cursor`; `reading` finds what changed after it.
"""
