"""The management interface, /v1/manage/: other systems write vacancies (docs/integrations.md).

`tokens` and `authentication` say who calls, `parsing` reads a body, `publication` decides what of
its dates is written, `saving` writes it, `items` shows the result, `openapi.json` describes it all.
"""
