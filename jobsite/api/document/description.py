"""What the OpenAPI document says about the whole API."""

from jobsite.api.parameter_names import IGNORED

DESCRIPTION = """\
Published vacancies of a job site as JSON: lists, hot lists, internal lists, single vacancies, their
application forms, the filters of lists, and a signed-in applicant's own applications. All operations except
applying, signing in and signing out are a `GET`. `HEAD` returns the same response without a body, and
`OPTIONS` the allowed methods. Pages of any origin may read public responses (CORS). Paths have no trailing
slash.

### Paging
A list is `{"data": [...], "links": {...}, "meta": {...}}`. `page[size]` (default 20) and `page[number]`
choose the page. A size above the maximum is reduced to the maximum, which `meta.per_page` shows. Follow
`links.next` until it is null. A page beyond the last one has an empty `data`; it is not an error. Items are
ordered by time of publication, newest first, then by id, so pages never overlap. Brackets may be sent as
they are or encoded (`page%5Bsize%5D=20`). `/v1/filters` is one `{"data": [...]}` without pages.

### Filters, search, sorting, fields
`/v1/filters` lists the filters in use: `keyword` is the name in `filter[...]`, the `value` of an option is
what to send, and its `count` is the number of matching vacancies.
`?filter[regions]=antwerp,ghent&filter[types]=engineering` is OR within a filter and AND across filters.
With the same parameters, `/v1/filters` returns the counts for that choice. `filter[search]` searches for
words, `filter[near]=51.22,4.4,25` for places in a circle of 25 km, `sort` sorts, and `fields=id,title,slug`
returns only those keys, so that a list page has no long texts. A list may also be sent as a repeated
parameter (`filter[regions]=antwerp&filter[regions]=ghent`, `fields[]=id&fields[]=title`); links use commas.
The lists of v0.1 have paging only.

### Times
Times are `YYYY-MM-DD HH:MM:SS` in the time zone in the header `Time-Zone`, such as `Europe/Brussels`.

### Application forms
`/v1/vacancies/{id}/form` is the application form: sections of fields with options and conditional fields;
the last field is the consent. `/v1/vacancies/{id}/form/schema` is a JSON Schema of a valid submission. Both
have the header `Form-Version`, which changes exactly when the structure changes. `POST
/v1/vacancies/{id}/applications` takes a submission, with the version of the form that was filled in.

### My applications
`/v1/user/applications` lists the signed-in user's own applications, with a status in the language of
`Accept-Language` and the steps that the user may see. Send `Authorization: Bearer <token>` or a session
cookie. `POST /v1/auth/token` returns a token for a user name and a password. The response must not be
cached.

### Errors
Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) document, `application/problem+json`.
An invalid value, and a single-valued parameter that is given twice, return 400; `errors` states for each
parameter what was received and what is allowed. So do unknown names that begin with `page`, `filter`, `sort`
or `fields` and, on lists and `/v1/filters`, likely mistakes: names close to a parameter or to a key of an
item, and names that other APIs use (`region`, `limit`, `q`, `updated_since`). The error states the name that
was probably meant. Tracking parameters and cache busters are always ignored: {ignored}. Other unknown names
are ignored too. An unknown id and the id of an unpublished vacancy return the same 404. Too many requests
(usually 600 a minute for each client) return 429 with `Retry-After`.

### Caching
Public responses have an `ETag` and `Cache-Control: public, max-age=...`, which never exceeds the time until
the next vacancy appears or expires. Send the tag in `If-None-Match`: an unchanged response is a 304 without
a body. Tags are compared weakly. Errors must not be cached.

### Internal vacancies
The operator decides whether the internal lists are public, limited to networks, or limited to signed-in
colleagues. Where they are limited, send `Authorization: Bearer <token>` or a session cookie. Without
permission the lists return 401 or 403, and an internal vacancy returns 404. Public lists ignore
credentials.

### Compatibility
The version is in the path. Changes within v1 only add keys and parameters, so ignore keys you do not know.
Before v0.1 is removed, its responses announce it with `Deprecation`, `Sunset` and a `Link` to the
successor.
""".replace("{ignored}", ", ".join(f"`{name}`" for name in IGNORED))
