# Everything a newcomer runs. Each target sets up what it needs.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
OUT ?= out
# A test cluster is alone on loopback; a real one has a token (README, "On a cluster").
export RAY_AUTH_MODE ?= disabled

HOSTILE := $(addprefix tests/actors/test_,back_off.py floods_inprocess.py sitemap_trees.py traps_inprocess.py) \
	$(addprefix tests/crawler/fetch/test_,floods.py guard_proxies.py guard_table.py hostile.py inflight.py tls.py) \
	$(addprefix tests/crawler/,page/test_apart.py page/test_pdf.py robots/test_bounds.py)
FUZZED := $(addprefix tests/crawler/,url robots fetch page test_spelling.py test_credentials.py)

SIDE_BY_SIDE := $(BIN)/python -m pytest -q -n 2 --dist loadfile

.PHONY: demo test conformance hostile fuzz crawl bench format clean

demo: .venv/ready  ## crawl a small simulated web to its end and query the result
	$(BIN)/python -m benchmarks.demo

test: .venv/ready  ## every check and every test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(SIDE_BY_SIDE) -m "not ray and not slow" --cov --cov-report=term:skip-covered tests
	$(SIDE_BY_SIDE) -m "slow and not ray" tests
	$(SIDE_BY_SIDE) -m ray tests

conformance: .venv/ready  ## what others' test suites say: cases, passed, explained, suite by suite
	$(BIN)/python -m pytest -q -m conformance --tally tests

hostile: .venv/ready  ## bombs, floods, attacks on addresses, TLS, back-off, traps: outcomes and figures, as tables
	$(BIN)/python -m pytest -q -m "not ray" --tally $(HOSTILE)

fuzz: .venv/ready  ## the property tests of all that reads what the web sends, with 2,000 examples each
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=fuzz --timeout=900 $(FUZZED)

crawl: .venv/ready  ## make crawl SEED=https://example.com/ [OUT=out]
	$(BIN)/raycrawl crawl $(SEED) --out $(OUT)

bench: .venv/ready  ## pages per CPU second, with Scrapy beside it
	$(BIN)/python -m benchmarks.end_to_end

format: .venv/ready
	$(BIN)/ruff check --fix -q .
	$(BIN)/ruff format -q .

.venv/ready: pyproject.toml .ci/constraints.txt
	@test -n "$(PYTHON)" || { echo "raycrawl needs Python 3.11, 3.12 or 3.13"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c .ci/constraints.txt -e '.[dev,bench]'
	touch $@

clean:
	rm -rf .venv demo-out
