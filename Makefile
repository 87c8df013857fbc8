# A thin face of the `repro` command: every target sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV ?= .venv
PROFILE ?= smoke
PAPER ?= supar
TABLE ?= 1
FIGURE ?= 6
JOBS ?= 0
EXTRAS ?= dev,lm
PYTEST_ARGS ?=
INPUTS ?= 2000
KILLS ?= 500
ONE_IN ?= 1
BUDGET ?= 9m
FROM ?=
TO ?= runs/carry
OUT ?= runs/found
ONLY ?=
REHEARSE ?=
PYTHON_VERSION ?= 3.12
# What the harness needs and a machine with torch lacks; it comes with all that it needs in turn.
BRING ?= pydantic
SAVE ?=
TRY ?=
FAIL ?=
REF ?= HEAD~1

comma := ,
# Flower holds back what the others have newer.
CONSTRAINTS ?= $(if $(filter cluster docs fed,$(subst $(comma), ,$(EXTRAS))),constraints-fed.txt,constraints.txt)
# Some packages of the docs need 3.11.5.
LOCK := uv pip compile pyproject.toml --universal --python-version 3.11.5 --generate-hashes --no-emit-index-url --no-header -q
READY := $(VENV)/.ready-$(subst $(comma),-,$(EXTRAS))
REPRO := $(VENV)/bin/repro
TABLE_ID = $(PAPER)/tab$$(printf %02d $(patsubst 0%,%,$(TABLE)))
FIGURE_ID = $(PAPER)/fig$$(printf %02d $(patsubst 0%,%,$(FIGURE)))
# OpenMP reads this once, when torch is imported: without it two busy processes slow each other.
export OMP_WAIT_POLICY := passive

.PHONY: help setup reproduce reproduce-table reproduce-figure figures report docs test lint bench \
	bench-compare golden attack mutate gpu gpu-ready gpu-pack lock licences clean

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(READY)  ## Make the virtual environment

$(READY): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	# torch first and pinned: as somebody's dependency it would be whatever is newest.
	$(VENV)/bin/pip install --quiet -c $(CONSTRAINTS) torch
	$(VENV)/bin/pip install --quiet -c $(CONSTRAINTS) -e '.[$(EXTRAS)]'
	# Tests compare them with ours; what they declare to need (torchvision, bitsandbytes) is not used there.
	$(VENV)/bin/pip install --quiet --no-deps mup==1.0.0 galore-torch==1.0
	touch $@

lock:  ## Write locks/: exact versions and hashes of every extra, by uv, which must be installed
	$(LOCK) -c constraints.txt --extra dev --extra kernels --extra lm -o locks/main.txt
	$(LOCK) -c constraints-fed.txt --extra cluster --extra docs --extra fed -o locks/fed.txt

reproduce: $(READY)  ## Run every task at smoke scale, check it, and write the report to site/
	@$(REPRO) run --profile smoke --jobs $(JOBS)
	@$(REPRO) table supar/tab02_proxy --profile smoke | head -9
	@$(REPRO) report --site-only
	@echo "A figure just drawn: runs/output/smoke/figures/supar/fig06.smoke.svg"
	@echo "Next: open site/index.html, or try make reproduce-figure PAPER=supar FIGURE=6"

reproduce-table: $(READY)  ## One table: PAPER=supar TABLE=1 PROFILE=cpu
	$(REPRO) run $(TABLE_ID) --profile $(PROFILE) --jobs $(JOBS)
	$(REPRO) check $(TABLE_ID) --profile $(PROFILE) --brief
	$(REPRO) table $(TABLE_ID) --profile $(PROFILE) --larger

reproduce-figure: $(READY)  ## One figure: PAPER=supar FIGURE=6 PROFILE=cpu
	$(REPRO) run $(FIGURE_ID) --profile $(PROFILE) --jobs $(JOBS)
	$(REPRO) check $(FIGURE_ID) --profile $(PROFILE) --brief
	$(REPRO) figures $(FIGURE_ID)

figures: $(READY)  ## Draw every figure again from the committed tables
	$(REPRO) figures

report: $(READY)  ## Write RESULTS.md and the static report in site/
	$(REPRO) report

docs: $(READY)  ## Write the guide to site/docs, its notebooks run anew (EXTRAS=dev,docs)
	$(VENV)/bin/mkdocs build --strict --quiet

test: $(READY)  ## Run the tests on all cores, the timed ones alone (PYTEST_ARGS: options)
	$(VENV)/bin/python -m tests.run $(PYTEST_ARGS)

attack: $(READY)  ## Attack every command with malformed inputs and kills (INPUTS=, KILLS=, SEED=)
	$(VENV)/bin/python -m tests.attack --inputs $(INPUTS) --kills $(KILLS) $(if $(SEED),--seed $(SEED))

mutate: $(READY)  ## Try deliberate faults, each caught by a unit test? PAPER=supar (empty: all) ONE_IN=5
	$(VENV)/bin/python -m tests.mutate $(PAPER) --one-in $(ONE_IN)

lint: $(READY)  ## Check style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

# chardet and pygal are under the LGPL, which binds only who changes them.
licences: $(READY)  ## Check that no installed package has a licence that binds its users' code
	$(VENV)/bin/pip-licenses --partial-match --ignore-packages chardet pygal \
		--fail-on "General Public;GNU Affero;GPL" >/dev/null

# By names or patterns; all for none.
BENCHMARKS = $(sort $(foreach name,$(or $(ONLY),*),$(or \
	$(wildcard tests/benchmarks/bench_$(name).py),$(error no benchmark matches $(name): use some of \
	$(patsubst tests/benchmarks/bench_%.py,%,$(sort $(wildcard tests/benchmarks/bench_*.py)))))))
bench: $(READY)  ## Measure speed and memory: ONLY=benchmarks SAVE=1 (on free cores) TRY=1 (each once)
	$(VENV)/bin/python -m pytest $(BENCHMARKS) --benchmark-quiet $(if $(TRY),--benchmark-disable -n 2,\
		--benchmark-autosave --benchmark-save-data --benchmark-storage=runs/benchmarks \
		$(if $(SAVE),--save-goals))

bench-compare: $(READY)  ## Slower than another commit? ONLY=benchmarks REF=HEAD~1 FAIL=1 (exit 1 if so)
	$(VENV)/bin/python -m tools.bench_compare $(ONLY) --ref $(REF) $(if $(FAIL),--fail)

golden: $(READY)  ## Rewrite tests/golden/ from golden trials; say why in the commit
	$(VENV)/bin/python -m tests.update_golden

# Tasks or blocks; a file of its own cuts another paper's time.
BLOCKS ?= reproductions/gpu.toml
ifdef FROM
# Beside the Python that has torch: a virtual environment made from another one would not see it.
SITE := .venv-gpu/site-packages
GPU_REPRO = REPRO_DATA="$(abspath $(FROM)/data)" \
	PYTHONPATH="$(CURDIR)/$(SITE):$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" $(PYTHON) -m harness.cli
gpu-ready:
	rm -rf $(SITE)
	$(PYTHON) -m pip --isolated install --quiet --no-index --no-deps --target $(SITE) \
		"$(FROM)"/wheels/*.whl
else
GPU_REPRO = $(REPRO)
gpu-ready: $(READY)
endif

gpu: gpu-ready  ## A card's blocks: BUDGET=9m OUT=runs/found ONLY=blocks FROM=carried folder REHEARSE=1
	$(GPU_REPRO) gpu $(ONLY) --blocks $(BLOCKS) --time-budget $(BUDGET) --out "$(OUT)" \
		$(if $(REHEARSE),--rehearse)

gpu-pack: $(READY)  ## What to carry to a card: TO= ONLY=blocks PYTHON_VERSION=3.12 BRING=packages
	mkdir -p "$(TO)/data"
	$(REPRO) data pack $(ONLY) --profile gpu --blocks $(BLOCKS) --out "$(TO)/data"
	git archive --output="$(TO)/code.tar.gz" HEAD -- Makefile pyproject.toml README.md 'constraints*.txt' \
		harness reproductions tools
	$(VENV)/bin/pip download --quiet -c constraints.txt --dest "$(TO)/wheels" --only-binary=:all: \
		--python-version $(PYTHON_VERSION) --platform manylinux2014_x86_64 -- $(BRING)
	du -sh "$(TO)"

clean:  ## Remove the working copy of records and the report (committed results stay)
	rm -rf runs site
