# Every target says what it does in its '##' comment; 'make help' lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Else each process of pytest rewrites the assertions of all tests anew: most of the time that collecting them takes.
unexport PYTHONDONTWRITEBYTECODE

# Java 17+ of this machine, or else one from PyPI; Spark and the build read JAVA_HOME.
FIND_JAVA = JAVA_HOME="$$($(BIN)/python tools/jars/java.py)" && export JAVA_HOME
# The same with an archive of Spark's classes and bytecode of its Python: an application of the tests then starts in half
# the time.
FAST_SPARK = $(FIND_JAVA) && $(1)/python tests/support/bytecode.py && JAVA_HOME="$$($(1)/python tests/support/class_archive.py)"
BUILD_JAR = $(FIND_JAVA) && $(BIN)/python tools/jars/build.py --java "$$JAVA_HOME/bin/java" --pyspark "$$($(BIN)/python -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')"

.DEFAULT_GOAL := help
.PHONY: help venv run examples jar jar-35 dist artefacts-check lint check docs unit bench scala test test-beside test-newest newest browser release-check site spark-suites third-parties tools real real-newest real-older yarn rotation-faults smoke versions-matrix options-matrix test-35 policy-matrix audit fuzz hashes mutation machines model history growth attack clean

# Everything else is the laboratory: what runs for minutes to hours.
DAILY = run test check lint docs venv jar unit scala examples clean
RELEASES = dist release-check artefacts-check smoke versions-matrix options-matrix policy-matrix hashes site

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | \
	  awk -F'\t' -v daily="$(DAILY)" -v release="$(RELEASES)" '\
	    { text[$$1] = $$2; order[++count] = $$1 } \
	    function show(name) { if (name in text) printf "  %-15s %s\n", name, text[name]; delete text[name] } \
	    END { \
	      n = split(daily, names, " "); print "Every day"; for (i = 1; i <= n; i++) show(names[i]); \
	      n = split(release, names, " "); print "For a release"; for (i = 1; i <= n; i++) show(names[i]); \
	      print "Laboratory"; for (i = 1; i <= count; i++) if (order[i] != "help") show(order[i]) }'

# PyPI has Spark as an sdist. pip makes a wheel of it, and compressing Spark's jars once more took 17 s of processor time.
QUICKLY = --config-settings=--build-option=--compression=stored
# What `make run` needs; `make venv` adds the tools of development and the clients of all stores.
$(VENV)/.ready-run: pyproject.toml python/constraints.txt
	@echo "Making $(VENV): pyspark is a download of 450 MB"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install $(QUICKLY) -c python/constraints.txt --group demo pyspark -e .
	@touch $@

$(VENV)/.ready: $(VENV)/.ready-run
	$(BIN)/python -m pip install -q -c python/constraints.txt --group dev --group stores --group audit
	@touch $@

venv: $(VENV)/.ready ## make the virtual environment with pinned dependencies

run: $(VENV)/.ready-run ## watch a Spark cluster use a password that no page, log or command line shows (5 minutes at first)
	@$(BUILD_JAR) && $(BIN)/python docs/examples/demo/run.py

examples: jar ## run the five examples of docs/examples.md and check what they print (two minutes; EXAMPLES=orders.sql for one)
	@$(FIND_JAVA) && $(BIN)/python docs/examples/shop/run.py $(EXAMPLES)

jar: venv ## build the one jar that fits the environment's Spark
	@$(BUILD_JAR)

# The tools of a release, and what the SBOM describes: not the environment of development, and no Spark.
RELEASE = .venvs/release/bin
.venvs/release/.ready: python/constraints.txt python/requirements-all.txt
	@echo "Making .venvs/release: the tools of a release, and the stores' clients, which the SBOM describes (150 MB)"
	$(PYTHON) -m venv .venvs/release
	$(RELEASE)/python -m pip install -q --upgrade pip
	$(RELEASE)/python -m pip install -q --no-deps --require-hashes -r python/requirements-all.txt
	$(RELEASE)/python -m pip install -q -c python/constraints.txt --group release
	@touch $@

dist: ## build the wheel, the sdist, a Maven repository, their SBOM and checksums into dist/ (at first it fetches Spark 3.5 and 4.0)
	@echo "Two Sparks, whose compilers build the jars, are fetched into .cache unless they are there: 400 MB each"
	@$(MAKE) --no-print-directory .venvs/release/.ready
	rm -rf dist
	PIP_CONSTRAINT="$(CURDIR)/python/constraints.txt" $(RELEASE)/python -m build --outdir dist .
	$(RELEASE)/python tools/jars/release.py dist

# actionlint is a program of Go; without Go or the program, GitHub's own schema is what checks the workflow.
ACTIONLINT = $(shell command -v actionlint || { command -v go > /dev/null && echo go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; })
release-check: dist jar ## the dry run of a release: make dist, and every check that needs no account
	$(RELEASE)/python -m twine check --strict dist/*.whl dist/*.tar.gz
	cd dist && sha256sum --check --quiet SHA256SUMS
	$(RELEASE)/python -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RELEASE)/python -m check_jsonschema --builtin-schema vendor.github-actions .github/actions/*/action.yml
	$(RELEASE)/python -m check_jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(RELEASE)/zizmor --offline --quiet .github
	@$(FIND_JAVA) && $(BIN)/python -m pytest -q tests/assurance/artefacts && $(MAKE) --no-print-directory spark-suites SUITES=quick WRITE=
	@test "$$(id -u)" = 0 && $(MAKE) --no-print-directory history MINUTES=3 WRITE= || { test "$$(id -u)" != 0 && echo "make history needs root: skipped"; }
	$(if $(ACTIONLINT),$(ACTIONLINT) -shellcheck= .github/workflows/*.yml,@echo "actionlint was not found: skipped")

# The oldest Spark of each jar; 4.3 is in the environment of development.
ARTEFACTS_SPARKS ?= 4.0.5 3.5.9
ARTEFACTS ?=
artefacts-check: $(VENV)/.ready-run $(ARTEFACTS_SPARKS:%=.venvs/pyspark-%/.ready) ## each command and example as a new user tries it, from dist/, on 4.3, 4.0 and 3.5 (ARTEFACTS="--step doctor")
	@test -f dist/SHA256SUMS || $(MAKE) --no-print-directory dist
	@$(FIND_JAVA) && PYTHONPATH=tests:tests/assurance $(BIN)/python -m artefacts.check $(ARTEFACTS) dist \
	  $$(ls -d $(VENV)/lib/python*/site-packages/pyspark $(ARTEFACTS_SPARKS:%=.venvs/pyspark-%/lib/python*/site-packages/pyspark))

lint: venv ## ruff, mypy --strict, the layers of the packages, scalafmt and scalafix
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports --no-cache
	@$(FIND_JAVA) && $(BIN)/python tools/jars/format.py --check

check: lint unit ## what to run before each commit: lint, unit and conformance tests, no Spark (about three minutes)

docs: venv ## write the generated parts of the pages in docs
	$(BIN)/python tools/docs/generate.py

.venvs/site/.ready: python/constraints.txt
	$(PYTHON) -m venv .venvs/site
	.venvs/site/bin/python -m pip install -q --upgrade pip
	.venvs/site/bin/python -m pip install -q -c python/constraints.txt --group site
	@touch $@

site: .venvs/site/.ready ## the documentation as a site in build/site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 .venvs/site/bin/python -m mkdocs build --strict --quiet

# File by file, since the tests of one share what it starts; the long ones come first, those of tests/unit fill the end.
# Those of some folders stay together too: tests/support/scheduling.py. They wait as much as they compute: four processes
# keep two cores busy.
AT_ONCE = -n 4 --dist loadfile --no-loadscope-reorder
# An application that hangs fails all tests that share it, each after its own time: the run ends before, and says which.
NOT_FOR_EVER = --session-timeout 3000

unit: venv ## the fast tests, no Spark
	$(BIN)/python -m pytest tests/unit tests/conformance -q $(AT_ONCE)

bench: jar ## all benches in less than 20 minutes, beside their peers, as one table in docs/performance.md; on a quiet machine
	-@$(BIN)/python -m pip install -q -c python/constraints.txt --group bench
	@$(FIND_JAVA) && $(BIN)/python bench/run.py --publish

scala: jar ## the tests that are written in Scala, no Spark
	@$(FIND_JAVA) && $(BIN)/python tools/jars/test.py --pyspark "$$($(BIN)/python -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')"

# Those on 3.5 and with the newest pandas run beside the others, and what they print comes at the end, in one piece.
test: jar ## all tests, those of data sources on Spark 3.5 too
	@$(MAKE) --no-print-directory -j3 -Otarget lint scala jar-35
	@mkdir -p build; $(MAKE) --no-print-directory test-beside > build/test-beside.log 2>&1 & beside=$$!; \
	  trap 'kill $$beside' INT TERM; failed=; \
	  $(MAKE) --no-print-directory test-newest || failed=4.3; wait $$beside || failed="$$failed 3.5 or newest"; \
	  cat build/test-beside.log; test -z "$$failed" || { echo "failed on: $$failed"; exit 1; }

test-beside:
	@$(MAKE) --no-print-directory test-35 AT_ONCE=; older=$$?; \
	  $(MAKE) --no-print-directory newest STARTS=1 && test $$older = 0

# What pip brings today, without constraints: a notebook once hung at its first cell with a pandas that no pin named.
.venvs/newest/.ready: pyproject.toml
	@echo "Making .venvs/newest: pandas, numpy and pyarrow as pip brings them today"
	$(PYTHON) -m venv .venvs/newest
	.venvs/newest/bin/python -m pip install -q --upgrade pip
	.venvs/newest/bin/python -m pip install -q pandas numpy pyarrow ipykernel pyspark==4.3.0 cryptography py4j
	@echo "$(CURDIR)/python" > "$$(.venvs/newest/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sparkconfig-dev.pth"
	@touch $@

STARTS ?= 5
newest: jar .venvs/newest/.ready ## a notebook's first cells with the newest pandas, STARTS times (5)
	@$(FIND_JAVA) && .venvs/newest/bin/python tests/assurance/newest/first_cells.py $(STARTS)

test-newest: venv
	@$(call FAST_SPARK,$(BIN)) && $(BIN)/python -m pytest --durations=40 $(NOT_FOR_EVER) $(AT_ONCE)

ASSURANCE = @$(BIN)/python -m pip install -q -c python/constraints.txt --group assurance
LOCK = $(BIN)/uv pip compile pyproject.toml -c python/constraints.txt --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-python-downloads --quiet --custom-compile-command "make hashes"
hashes: venv ## write python/requirements*.txt, and those of the action: what constraints.txt pins, with hashes, for Python 3.11 and later
	$(ASSURANCE)
	$(LOCK) -o python/requirements.txt > /dev/null
	$(LOCK) --extra all -o python/requirements-all.txt > /dev/null
	$(LOCK) --extra yaml -o .github/actions/literals/requirements.txt > /dev/null
	$(LOCK) --extra all --extra spark $(LOCKED_GROUPS:%=--group %) -o python/requirements-dev.txt > /dev/null
LOCKED_GROUPS = dev demo stores real audit bench fuzz assurance release site

MUTATION ?=
mutation: venv ## mutation tests of policy, redaction and resolution: hours; a part: MUTATION="--tenths 3"
	$(ASSURANCE)
	$(BIN)/python tests/assurance/mutation/run.py $(MUTATION)

MACHINE_EXAMPLES ?= 1000
machines: venv ## languages, sealed files, properties, policies and redaction against slow models, MACHINE_EXAMPLES each (1000)
	SPARKCONFIG_MACHINE_EXAMPLES=$(MACHINE_EXAMPLES) $(BIN)/python -m pytest -q --timeout 0 \
	  tests/unit/sealed/test_machine.py tests/unit/formats/test_machine.py tests/unit/policy/rules/test_machine.py \
	  tests/unit/redaction/test_machine.py tests/unit/language/test_references.py tests/unit/substitution/test_scanner.py

model: ## how changes are delivered, as a model: every state of it, then mutants that break it; fetches spin by apt (ten minutes)
	@PYTHONPATH=python:tests/assurance $(PYTHON) tests/assurance/model/run.py

MINUTES ?= 60
history: jar ## a cluster with 34 kinds of fault while values rotate, and a check of what each process read, as root (MINUTES=60; BROKEN=1: the product broken on purpose)
	@$(FIND_JAVA) && PYTHONPATH=python:tests:tests/assurance $(BIN)/python -m history.run --minutes $(MINUTES) $(if $(BROKEN),--broken) $(WRITE); said=$$?; \
	  $(BIN)/python tools/docs/generate.py; exit $$said

GROWTH ?= 1
SCENARIOS ?=
growth: jar ## what grows in applications that do the same again and again, beside stock Spark (20 minutes; GROWTH=0.01 SCENARIOS=starts to try it)
	@$(FIND_JAVA) && PYTHONPATH=tests:tests/assurance $(BIN)/python -m growth.run --size $(GROWTH) $(if $(filter 1,$(GROWTH)),--write) $(SCENARIOS)

# A Connect server of 3.5 does not start with sparkconfig.
ATTACK ?= --seconds 900 --write
ATTACKED ?= connect thrift connect-4.0.5 thrift-4.0.5 thrift-3.5.9
attack: jar jar-35 .venvs/pyspark-4.0.5/.ready-options ## a bait in each field, statement, function and login of shared servers, into docs/shared-servers.md (ATTACKED=thrift ATTACK="--only avro")
	@$(FIND_JAVA); failed=; for each in $(ATTACKED); do \
	  python=$(BIN)/python; case $$each in *-*) python=.venvs/pyspark-$${each#*-}/bin/python; \
	    $$python -m pip install -q -c python/constraints.txt $(POLICY_PACKAGES) pyhive thrift thrift_sasl pure-sasl;; esac; \
	  echo "== $$each"; PYTHONPATH=tests:tests/assurance $$python -m surface.run $${each%-*} $(ATTACK) || failed="$$failed $$each"; \
	done; test -z "$$failed" || { echo "hits or failures on:$$failed"; exit 1; }

SUITES ?=
WRITE ?= --write
SUITES_SPARK ?= 4.2.0
spark-suites: jar .venvs/pyspark-3.5.9/.ready .venvs/pyspark-4.2.1/.ready ## Spark's own tests with sparkconfig and without it, into docs/compatibility.md (SUITES="quick jdbc" SUITES_SPARK=3.5.9)
	@$(FIND_JAVA) && PYTHONPATH=tests:tests/assurance $(BIN)/python tests/assurance/suites/run.py $(WRITE) --spark $(SUITES_SPARK) $(SUITES)

# The Sparks for which all of them have a release.
THIRD_PARTIES_SPARKS ?= 3.5.9 4.1.4
THIRD_PARTIES ?= check
third-parties: $(THIRD_PARTIES_SPARKS:%=.venvs/pyspark-%/.ready-options) venv ## Delta, Iceberg, OpenLineage and a user's own plugin beside sparkconfig (THIRD_PARTIES=write records stock Spark anew)
	@$(FIND_JAVA); set -e; for spark in $(THIRD_PARTIES_SPARKS); do \
	  .venvs/pyspark-$$spark/bin/python -m pip install -q -c python/constraints.txt $(POLICY_PACKAGES); \
	  echo "== pyspark $$spark"; THIRD_PARTIES=$(THIRD_PARTIES) .venvs/pyspark-$$spark/bin/python -m pytest -q tests/assurance/third_parties; \
	done

# Airflow starts spark-submit and needs no Spark of its own. dbt-core 1.12 fetches a parser from elsewhere as it is built.
.venvs/airflow/.ready:
	@echo "Making .venvs/airflow: the newest Airflow and its provider for Spark"
	$(PYTHON) -m venv .venvs/airflow
	$(ASSURANCE)
	echo 'pyspark; sys_platform == "none"' > .venvs/airflow/overrides.txt
	$(BIN)/uv pip install -q --python .venvs/airflow/bin/python --overrides .venvs/airflow/overrides.txt \
	  apache-airflow apache-airflow-providers-apache-spark
	@touch $@

.venvs/dbt/.ready:
	@echo "Making .venvs/dbt: dbt-spark with a Spark of its own"
	$(PYTHON) -m venv .venvs/dbt
	.venvs/dbt/bin/python -m pip install -q $(QUICKLY) 'dbt-spark[session]' 'dbt-core<1.12' pyspark==4.3.0 cryptography py4j
	@echo "$(CURDIR)/python" > "$$(.venvs/dbt/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sparkconfig-dev.pth"
	@touch $@

tools: jar .venvs/airflow/.ready .venvs/dbt/.ready ## programs that read or start Spark, as people use them: Airflow, dbt, Prometheus (Debian's package prometheus)
	@command -v prometheus > /dev/null || { echo "make tools needs Debian's package prometheus"; exit 1; }
	@$(FIND_JAVA) && $(BIN)/python -m pytest -q tests/assurance/tools

# What is not here is left out, and the page says so: Debian's mariadb-server and redis-server; Go, which compiles FerretDB.
# The older Sparks run beside 4.3, and what they print comes at the end, in one piece.
REAL_SPARKS ?= 4.0.5 3.5.9
# Here only what names this Spark runs: products of others that have a release for it.
REAL_NAMED_SPARKS ?= 4.1.4
REAL ?=
real: jar $(REAL_SPARKS:%=.venvs/pyspark-%/.ready-options) $(REAL_NAMED_SPARKS:%=.venvs/pyspark-%/.ready-options) ## write, read, rotate and search for leaks at real servers, into docs/real.md (REAL="mariadb kafka" for some)
	@$(BIN)/python -m pip install -q -c python/constraints.txt --group real
	@mkdir -p build; $(MAKE) --no-print-directory real-older > build/real-older.log 2>&1 & older=$$!; \
	  trap 'kill $$older; exit 130' INT TERM; failed=; \
	  $(MAKE) --no-print-directory real-newest || failed=" 4.3"; wait $$older || failed="$$failed older ones"; \
	  cat build/real-older.log; $(BIN)/python tools/docs/generate.py; test -z "$$failed" || { echo "failed on:$$failed"; exit 1; }

real-newest:
	@$(FIND_JAVA) && PYTHONPATH=tests:tests/assurance $(BIN)/python tests/assurance/real/run.py --write $(REAL)

real-older:
	@$(FIND_JAVA); set -e; failed=; for spark in $(REAL_SPARKS) $(REAL_NAMED_SPARKS); do \
	  .venvs/pyspark-$$spark/bin/python -m pip install -q -c .venvs/pyspark-$$spark/constraints.txt --group real; \
	  case " $(REAL_NAMED_SPARKS) " in *" $$spark "*) named=--named;; *) named=;; esac; \
	  PYTHONPATH=tests:tests/assurance .venvs/pyspark-$$spark/bin/python tests/assurance/real/run.py --write $$named $(REAL) || failed="$$failed $$spark"; \
	done; test -z "$$failed" || { echo "failed on:$$failed"; exit 1; }

yarn: ## the part of make real on YARN with HDFS, in client and cluster mode
	@$(MAKE) --no-print-directory real REAL=yarn

browser: venv ## look at the page Config in a real Chromium (SCREENSHOT=FILE keeps the picture)
	@$(BIN)/python -m pip install -q -c python/constraints.txt --group audit
	@$(BIN)/python tests/support/browser.py
	@$(BUILD_JAR) && $(BIN)/python -m pytest tests/browser

rotation-faults: jar ## the faults of rotation in full length: a change every 50 ms for a minute, a host cut off (as root)
	@$(FIND_JAVA) && REAL=hosts SPARKCONFIG_ROTATION_SECONDS=60 $(BIN)/python -m pytest -v tests/unit/resolution/test_keeper.py tests/unit/resolution/test_cache.py \
	  tests/unit/providers/_kit/test_watch.py tests/unit/agent/test_control.py tests/unit/agent/test_records.py \
	  tests/unit/test_streaming.py tests/spark/test_rotation_*.py tests/assurance/real/test_hosts.py::test_a_host_that_is_cut_off_during_rotations

# The oldest Sparks that the two jars serve, each in an environment of its own.
SMOKE_SPARKS ?= 3.5.9 4.0.5
SMOKE_TESTS ?= tests/spark/test_rotation_faults.py tests/spark/test_plugin_start.py tests/spark/test_rotation_cluster.py \
  tests/spark/test_files_cluster.py tests/spark/test_history.py tests/integration/test_packages.py

.venvs/pyspark-%/.ready: pyproject.toml python/constraints.txt
	@echo "Making .venvs/pyspark-$*"
	$(PYTHON) -m venv .venvs/pyspark-$*
	.venvs/pyspark-$*/bin/python -m pip install -q --upgrade pip
	grep -v '^pyspark==' python/constraints.txt > .venvs/pyspark-$*/constraints.txt
	.venvs/pyspark-$*/bin/python -m pip install -q -c .venvs/pyspark-$*/constraints.txt pyspark==$* cryptography py4j pytest pytest-timeout pytest-xdist pyspark-test --group demo
	@echo "$(CURDIR)/python" > "$$(.venvs/pyspark-$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sparkconfig-dev.pth"
	@touch $@

VERSIONS ?=
versions-matrix: venv ## a small application on each Spark, Java and Python of this machine, into docs/compatibility.md (VERSIONS="--java 25")
	$(BIN)/python tests/assurance/versions/run.py --write $(VERSIONS); failed=$$?; $(BIN)/python tools/docs/generate.py; exit $$failed

smoke: $(SMOKE_SPARKS:%=.venvs/pyspark-%/.ready) venv ## the slice and rotation on the oldest supported Sparks (SMOKE_SPARKS)
	@failed=; for spark in $(SMOKE_SPARKS); do \
	  echo "== pyspark $$spark"; ($(call FAST_SPARK,.venvs/pyspark-$$spark/bin) && \
	    .venvs/pyspark-$$spark/bin/python -m pytest -q $(SMOKE_TESTS) $(AT_ONCE)) || failed="$$failed $$spark"; \
	done; test -z "$$failed" || { echo "failed on:$$failed"; exit 1; }

# 4.3 is in the environment of development.
AUDIT_SPARK ?= 3.5.9
audit: jar .venvs/pyspark-$(AUDIT_SPARK)/.ready ## search every surface of Spark for secrets, on 4.3 and 3.5, into docs/leak-audit.md (needs Chromium)
	.venvs/pyspark-$(AUDIT_SPARK)/bin/python -m pip install -q -c .venvs/pyspark-$(AUDIT_SPARK)/constraints.txt --group audit
	@($(call FAST_SPARK,$(BIN)) && $(BIN)/python tests/leaks/audit/run.py --write); first=$$?; \
	  $(call FAST_SPARK,.venvs/pyspark-$(AUDIT_SPARK)/bin) && \
	  .venvs/pyspark-$(AUDIT_SPARK)/bin/python tests/leaks/audit/run.py --write && exit $$first

# What Connect's client needs, 4.2 and later zstandard too; rules need more than the slice does.
CONNECT_PACKAGES = grpcio grpcio-status googleapis-common-protos pyarrow zstandard
POLICY_PACKAGES = pydantic regex $(CONNECT_PACKAGES)
POLICY_TESTS = tests/spark/test_policy_start.py tests/spark/policy_doors tests/spark/test_policy_warn.py \
  tests/spark/test_policy_servers.py tests/spark/test_statement_doors.py

policy-matrix: $(SMOKE_SPARKS:%=.venvs/pyspark-%/.ready) venv ## the doors of policies on the oldest supported Sparks (SMOKE_SPARKS)
	@set -e; for spark in $(SMOKE_SPARKS); do \
	  .venvs/pyspark-$$spark/bin/python -m pip install -q -c .venvs/pyspark-$$spark/constraints.txt $(POLICY_PACKAGES); \
	done
	@$(MAKE) smoke SMOKE_TESTS="$(POLICY_TESTS)"

# Every door of data sources on each Spark, with the two jars as they are shipped: compiled on 3.5 and on 4.0.
OPTIONS_SPARKS ?= 3.5.9 4.0.5 4.1.4 4.2.1
OPTIONS_TESTS ?= tests/spark/options tests/spark/test_s3a.py \
  tests/spark/test_sql_servers.py tests/spark/test_options_applications.py \
  tests/integration/test_jar_static_methods.py tests/integration/test_jar_packages.py

# Else make removes it, as a file on the way to another.
.PRECIOUS: .venvs/pyspark-%/.ready
.venvs/pyspark-%/.ready-options: .venvs/pyspark-%/.ready
	.venvs/pyspark-$*/bin/python -m pip install -q -c .venvs/pyspark-$*/constraints.txt \
	  $(CONNECT_PACKAGES) boto3 moto flask flask-cors
	@touch $@

options-matrix: .venvs/pyspark-3.5.9/.ready .venvs/pyspark-4.0.5/.ready $(OPTIONS_SPARKS:%=.venvs/pyspark-%/.ready-options) venv ## references in data sources on 3.5 and each 4.x (OPTIONS_SPARKS)
	@$(FIND_JAVA); set -e; failed=; for spark in $(OPTIONS_SPARKS); do \
	  case $$spark in 3.*) base=3.5.9;; *) base=4.0.5;; esac; \
	  jar="$$($(BIN)/python tools/jars/build.py --java "$$JAVA_HOME/bin/java" --out build/options-matrix \
	    --pyspark .venvs/pyspark-$$base/lib/python*/site-packages/pyspark)"; \
	  echo "== pyspark $$spark with $$jar"; \
	  ($(call FAST_SPARK,.venvs/pyspark-$$spark/bin) && SPARKCONFIG_TEST_JAR="$(CURDIR)/$$jar" \
	    .venvs/pyspark-$$spark/bin/python -m pytest -q $(OPTIONS_TESTS) $(AT_ONCE)) || failed="$$failed $$spark"; \
	done; test -z "$$failed" || { echo "failed on:$$failed"; exit 1; }

# Before tests start, some of which look at all jars that are there.
jar-35: .venvs/pyspark-3.5.9/.ready-options
	@$(FIND_JAVA) && $(BIN)/python tools/jars/build.py --java "$$JAVA_HOME/bin/java" --pyspark .venvs/pyspark-3.5.9/lib/python*/site-packages/pyspark

# Kafka, clusters, servers and whole applications on this Spark: make options-matrix, before a release.
test-35: .venvs/pyspark-3.5.9/.ready-options venv ## references in data sources on Spark 3.5, a part of make test
	@echo "== pyspark 3.5.9"; $(call FAST_SPARK,.venvs/pyspark-3.5.9/bin) && .venvs/pyspark-3.5.9/bin/python -m pytest -q $(filter-out %.py,$(OPTIONS_TESTS)) \
	  --ignore tests/spark/options/test_options_kafka.py --ignore tests/spark/options/test_options_outage.py \
	  $(filter tests/integration/%,$(OPTIONS_TESTS)) $(NOT_FOR_EVER) $(AT_ONCE) && \
	  .venvs/pyspark-3.5.9/bin/python -m pytest -q tests/spark/test_options_hudi.py $(AT_ONCE)

FUZZ_SECONDS ?= 60
FUZZERS = properties redaction
fuzz: $(FUZZERS:%=fuzz-%) ## fuzz properties files and redaction against the JVM, FUZZ_SECONDS each (60); or one: make fuzz-redaction

fuzz-%: jar
	@$(BIN)/python -m pip install -q -c python/constraints.txt --group fuzz
	@$(FIND_JAVA) && PYTHONPATH=tests:tests/assurance $(BIN)/python -m fuzz.run $* $(FUZZ_SECONDS)

clean: ## remove what was built
	rm -rf build dist .venv .venvs .mypy_cache .ruff_cache .pytest_cache python/sparkconfig/jars/*.jar
