"""Applications out: other systems read them through /v1/manage/ (docs/integrations.md).

`triggers` and migrations keep the table of what changed, `reading` says what follows a cursor, `items`
shows an application, `views` are the operations, and `events` is what webhooks are told.
"""
