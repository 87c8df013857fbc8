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
BUDGET ?= 8m
OUT ?= gpu
FROM ?=
TO ?= gpu-pack
TARGET_PYTHON ?= 3.12
TARGET_HAS ?=
TARGET_LACKS ?=
INPUTS ?= 2000
KILLS ?= 500

comma := ,
# Flower holds back what the others have newer.
CONSTRAINTS ?= $(if $(filter fed,$(subst $(comma), ,$(EXTRAS))),constraints-fed.txt,constraints.txt)
READY := $(VENV)/.ready-$(subst $(comma),-,$(EXTRAS))
REPRO := $(VENV)/bin/repro
# OpenMP reads this once, when torch is imported: without it two busy processes slow each other.
export OMP_WAIT_POLICY := passive

.PHONY: help setup reproduce reproduce-table reproduce-figure figures report test lint bench \
	bench-compare golden attack gpu gpu-pack clean

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

reproduce: $(READY)  ## Run every task at smoke scale, check it, and write the report to site/
	@$(REPRO) run --profile smoke --jobs $(JOBS)
	@$(REPRO) check --profile smoke --brief
	@$(REPRO) report --site-only
	@$(REPRO) summary
	@echo "next: open site/index.html; repro check $(PAPER); make reproduce-figure PROFILE=cpu"

reproduce-table: $(READY)  ## One table: PAPER=supar TABLE=1 PROFILE=cpu
	$(REPRO) run $(PAPER)/tab$$(printf %02d $$((10#$(TABLE)))) --profile $(PROFILE) --jobs $(JOBS)
	$(REPRO) table $(PAPER)/tab$$(printf %02d $$((10#$(TABLE)))) --profile $(PROFILE)
	$(REPRO) check $(PAPER)/tab$$(printf %02d $$((10#$(TABLE)))) --profile $(PROFILE)

reproduce-figure: $(READY)  ## One figure: PAPER=supar FIGURE=6 PROFILE=cpu
	$(REPRO) run $(PAPER)/fig$$(printf %02d $$((10#$(FIGURE)))) --profile $(PROFILE) --jobs $(JOBS)
	$(REPRO) check $(PAPER)/fig$$(printf %02d $$((10#$(FIGURE)))) --profile $(PROFILE)

figures: $(READY)  ## Draw every figure again from the committed tables
	$(REPRO) figures

report: $(READY)  ## Write RESULTS.md and the static report in site/
	$(REPRO) report

test: $(READY)  ## Run the tests on all cores, the timed ones alone (PYTEST_ARGS: options)
	$(VENV)/bin/python -m tests.run $(PYTEST_ARGS)

attack: $(READY)  ## Attack every command with malformed inputs and kills (INPUTS=, KILLS=, SEED=)
	$(VENV)/bin/python -m tests.attack --inputs $(INPUTS) --kills $(KILLS) $(if $(SEED),--seed $(SEED))

lint: $(READY)  ## Check style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

bench: $(READY)  ## Measure speed and memory, into results/benchmarks/
	$(REPRO) bench

bench-compare: $(READY)  ## Measure again and compare with the last saved run
	$(REPRO) bench --compare

golden: $(READY)  ## Rewrite tests/golden/ from golden trials; say why in the commit
	$(VENV)/bin/python -m tests.update_golden

# Not $(READY): where there is a GPU, its torch stays.
gpu:  ## Run what has no result at `gpu` and export it (BUDGET=8m OUT=folder FROM=packed folder)
	$(PYTHON) -m tools.gpu_run --budget $(BUDGET) --out $(OUT) $(if $(FROM),--from $(FROM))

gpu-pack: $(READY)  ## Pack wheels and data for a GPU without network (TO= TARGET_PYTHON= TARGET_HAS=)
	$(VENV)/bin/python -m tools.gpu_pack --out $(TO) --python $(TARGET_PYTHON) --has $(TARGET_HAS) \
		--lacks $(TARGET_LACKS)

clean:  ## Remove the working copy of records and the report (committed results stay)
	rm -rf runs site
