"""Applications out: other systems read them through /v1/manage/ (docs/integrations.md).

`triggers` and a migration keep the table of what changed, `cursor` says what a client has read,
`items` shows an application, `views` are the operations.
"""
