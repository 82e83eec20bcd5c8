# `make demo` runs the site. `make test` runs the fast tests, `make test-all` all of them, `make check` what CI requires.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

# Without bytecode files, each of pytest's workers compiles all tests anew: 6 seconds of CPU.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-postgresql test-all node faults cluster check lint fix messages golden pdfjs requirements audit sbom

demo: $(VENV)/.run
	$(VENV)/bin/python manage.py demo $(if $(PORT),--port $(PORT))

test: $(VENV)/.dev  ## the fast tests, in 2 minutes; PYTEST adds options, for example PYTEST='-k form'
	$(VENV)/bin/python -m pytest -n auto --dist worksteal --warn-above 120 $(PYTEST)

test-postgresql: $(VENV)/.dev  ## the fast tests that use a database, on a PostgreSQL of their own
	$(VENV)/bin/python -m tests.servers.on_postgresql \
	  $(VENV)/bin/python -m pytest -n 3 --dist worksteal -m "database and not slow" $(PYTEST)

MARKS ?= not faults
test-all: $(VENV)/.dev  ## the fast and the slow tests; MARKS selects among them
	$(VENV)/bin/python -m pytest -n auto --dist worksteal -m "$(MARKS)" $(PYTEST)

node: tests/node/node_modules/.made  ## install the Node packages of some tests from npm
tests/node/node_modules/.made: tests/node/package.json
	npm install --prefix tests/node --no-audit --no-fund --no-package-lock --ignore-scripts
	@touch $@

faults: $(VENV)/.dev  ## inject every fault of docs/operations/failover.md into a site on one machine under traffic
	timeout 1800 $(VENV)/bin/python -m tests.chaos single

cluster: $(VENV)/.dev  ## inject every fault of docs/operations/cluster.md into a cluster; as root, also network cuts
	timeout 3600 $(VENV)/bin/python -m tests.chaos

check: lint test-all  ## what CI requires

lint: $(VENV)/.dev  ## style, layers, types, migrations, the OpenAPI document
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/djade --check --target-version 5.2 $$(git ls-files '*.html')
	$(VENV)/bin/lint-imports
	$(VENV)/bin/mypy .
	$(VENV)/bin/python manage.py check
	$(VENV)/bin/python manage.py makemigrations --check --dry-run
	$(VENV)/bin/python manage.py spectacular --validate --fail-on-warn --file /dev/null

fix: $(VENV)/.dev  ## format the code
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/djade --target-version 5.2 $$(git ls-files '*.html') || true

messages: $(VENV)/.run  ## update the translations from the code; needs GNU gettext
	$(VENV)/bin/python jobsite/locale/collect.py
	$(VENV)/bin/python manage.py compilemessages

golden: $(VENV)/.dev  ## write the golden files of the API; review their diff
	UPDATE_GOLDEN=1 $(VENV)/bin/python -m pytest -q -m "" tests/contract/test_golden.py \
	  tests/contract/test_item_format.py

# pdf.js shows PDFs in the admin (decisions.md #245). Its scripts end in .js, because web servers may not know .mjs.
# Left out: the engine for scripts of PDFs, and replacements for WebAssembly.
PDFJS := 6.5.438
PDFJS_TO := applications/static/applications/vendor/pdfjs
pdfjs:  ## replace pdf.js by another release from npm: PDFJS=7.0.0, then its date in applications/checks.py
	set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	npm pack --silent --pack-destination "$$folder" pdfjs-dist@$(PDFJS); tar -xzf "$$folder"/*.tgz -C "$$folder"; \
	rm -rf $(PDFJS_TO); mkdir -p $(PDFJS_TO); cd $(PDFJS_TO); from="$$folder/package"; \
	cp -R "$$from/LICENSE" "$$from/cmaps" "$$from/iccs" "$$from/standard_fonts" "$$from/wasm" .; \
	rm -f wasm/*quickjs* wasm/*QUICKJS wasm/*_nowasm_fallback.js; \
	for name in pdf pdf.worker; do cp "$$from/legacy/build/$$name.min.mjs" $$name.min.js; done; \
	chmod -R u=rwX,go=rX .; \
	echo "pdfjs-dist $(PDFJS) from npm, Apache-2.0 (LICENSE); fonts, colour profile and decoders have their own \
	licences beside them. Do not edit these files: run make pdfjs." > README

# Pins with hashes, without the URL of an index. Django stays on its long-term release. requirements-next.txt is for
# the newest Django and Python, on which the tests must also pass.
COMPILE := $(VENV)/bin/uv pip compile --quiet --generate-hashes --no-annotate --no-header pyproject.toml
requirements: $(VENV)/.dev
	$(PIP) uv
	echo 'Django<5.3' | $(COMPILE) --universal -c - -o requirements.txt
	$(COMPILE) --universal -c requirements.txt --extra sso -o requirements-sso.txt
	$(COMPILE) --universal -c requirements.txt --extra s3 -o requirements-s3.txt
	$(COMPILE) --universal -c requirements.txt --group dev -o requirements-dev.txt
	echo 'Django>=6.1' | $(COMPILE) --python-version 3.13 -c - --group dev -o requirements-next.txt

# A separate environment, because the site does not need the dependencies of these tools.
TOOLS := $(VENV)-tools
audit: $(TOOLS)/.made  ## check the pins for known vulnerabilities; needs the network
	@for file in requirements*.txt; do \
	  echo "$$file:"; $(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r $$file || failed=1; \
	done; test -z "$$failed" || { echo "Failed: a vulnerability, or advisories that could not be downloaded, see above."; exit 1; }

sbom: $(TOOLS)/.made  ## write the software bill of materials as CycloneDX: sbom.cdx.json
	$(VENV)/bin/python -m venv --clear --without-pip $(TOOLS)/site
	$(PIP:install=--python $(TOOLS)/site install) --require-hashes -r requirements.txt
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --spec-version 1.6 --validate -o sbom.cdx.json $(TOOLS)/site/bin/python

$(TOOLS)/.made: | $(VENV)/bin/python
	$(VENV)/bin/python -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit cyclonedx-bom
	@touch $@

# Print why the environment cannot be created. This code must run on any Python, also one that is too old.
define CHECK
import os, sys
if sys.version_info < (3, 11):
    sys.exit("%s is Python %d.%d; 3.11 or newer is needed. Set PYTHON=/path/to/python3."
             % ((sys.argv[1],) + tuple(sys.version_info[:2])))
try:
    import ensurepip, venv
except ImportError as error:
    sys.exit("%s cannot make a virtual environment (%s). On Debian and Ubuntu: apt install python3-venv."
             % (sys.argv[1], error))
folder = os.path.abspath(sys.argv[2])
while not os.path.exists(folder):
    folder = os.path.dirname(folder)
if not os.access(folder, os.W_OK | os.X_OK):
    sys.exit("%s cannot be written to, and the environment %s belongs there. Set VENV=/another/folder."
             % (folder, sys.argv[2]))
endef
export CHECK

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found. Set PYTHON=/path/to/python3." >&2; exit 1; }
	@command -v "$(PYTHON)" >/dev/null || { echo "PYTHON is $(PYTHON), which is no program." >&2; exit 1; }
	@"$(PYTHON)" -c "$$CHECK" "$(PYTHON)" "$(VENV)"
	@echo "Making the environment $(VENV) with $$("$(PYTHON)" --version) ..."
	@"$(PYTHON)" -m venv $(VENV) || { rm -f $(VENV)/bin/python*; exit 1; }

$(VENV)/.run: requirements.txt | $(VENV)/bin/python
	@$(VENV)/bin/python deploy/install.py $<
	@touch $@

# Python compiles a module when it is first imported. To compile all of them takes pip a minute.
$(VENV)/.dev: $(or $(REQUIREMENTS),requirements-dev.txt) | $(VENV)/bin/python
	@$(VENV)/bin/python deploy/install.py $< --no-compile
	@touch $@
