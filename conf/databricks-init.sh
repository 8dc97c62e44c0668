#!/usr/bin/env bash
# Databricks init script (cluster-scoped): installs sparkconfig's wheel and jar on each node of a cluster, and turns it
# on. docs/databricks.md says which compute and runtimes it is for, and what was never run on Databricks.
#
# Put into one folder of a Unity Catalog volume:
#   databricks-init.sh        this file
#   sparkconfig-*.whl         one version, and beside it the wheels it needs and the runtime lacks:
#                               pip download -d FOLDER --only-binary=:all: --python-version 3.12 './WHEEL[vault]'
#   sparkconfig.conf          optional: the operator's file; goes to /etc/spark, with policies/ if there is such a folder
#   spark.conf                optional: Spark confs of the cluster, "key value"
# and name the script in the cluster's configuration under Advanced > Init scripts, the folder in its environment:
#   SPARKCONFIG_SOURCE=/Volumes/CATALOG/SCHEMA/VOLUME/FOLDER
#
# More variables, all optional:
#   SPARKCONFIG_EXTRAS=vault,databricks   stores whose clients are installed, too
#   SPARKCONFIG_ONLINE=true               let pip ask its index for what is not in the folder
#   SPARKCONFIG_SCALA=2.12                if it cannot be told from the runtime's jars
#   SPARKCONFIG_ROOT=/some/root           work below this root: for images and tests
#
# It may run again at any time: what is there already stays. It logs to standard output, which Databricks delivers with
# the init script logs, and to /var/log/sparkconfig-init.log. A failure ends it with code 1, so that the cluster does not
# start without what protects it.
set -Eeuo pipefail

SOURCE="${SPARKCONFIG_SOURCE:-}"
ROOT="${SPARKCONFIG_ROOT:-}"
ROOT="${ROOT%/}"
PYTHON="$ROOT/databricks/python/bin/python"
JARS="$ROOT/databricks/jars"
FRAGMENTS="$ROOT/databricks/driver/conf"
FRAGMENT="$FRAGMENTS/00-sparkconfig.conf"   # Databricks reads the fragments so that 00 has the last word
ETC="$ROOT/etc/spark"
LOG="$ROOT/var/log/sparkconfig-init.log"

mkdir -p "${LOG%/*}"
log() { printf '%s sparkconfig-init: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" | tee -a "$LOG"; }
fail() { log "FAILED: $*" >&2; exit 1; }
trap 'code=$?; trap - ERR; fail "line $LINENO: \"${BASH_COMMAND%%$'"'\\n'"'*}\" ended with code $code"' ERR

# Prints the major version of the Databricks Runtime, such as 17, or nothing.
runtime() {
  local version="${DATABRICKS_RUNTIME_VERSION:-}"
  if [[ -z $version && -r $ROOT/databricks/DBR_VERSION ]]; then version="$(< "$ROOT/databricks/DBR_VERSION")"; fi
  if [[ $version =~ ^([0-9]+)\. ]]; then echo "${BASH_REMATCH[1]}"; fi
}

# Before Java: no JNAME helps a runtime whose Spark is too old.
check_spark() {
  local dbr version="" advice="use Databricks Runtime 14.3 LTS or newer"
  dbr="$(runtime)"
  if [[ -r $ROOT/databricks/spark/VERSION ]]; then version="$(< "$ROOT/databricks/spark/VERSION")"; fi
  if [[ -n $dbr ]] && ((dbr < 14)); then
    fail "Databricks Runtime $dbr has Spark 3.4 or older and sparkconfig needs 3.5; $advice"
  fi
  if [[ $version =~ ^([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] < 305)); then
    fail "this runtime has Spark ${BASH_REMATCH[0]} and sparkconfig needs 3.5; $advice"
  fi
}

check_java() {
  local major="" advice="use Databricks Runtime 16 or newer, or set JNAME=zulu17-ca-amd64 (ARM: zulu17-ca-arm64) in the cluster's environment"
  local dbr; dbr="$(runtime)"
  if [[ ${JNAME:-} =~ ^[a-z]+([0-9]+) ]]; then
    major="${BASH_REMATCH[1]}"
  elif [[ -n $dbr ]]; then
    if ((dbr >= 16)); then major=17; else major=8; fi   # the runtimes' defaults, by their release notes
  elif [[ $("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 || true) =~ version\ \"(1\.)?([0-9]+) ]]; then
    major="${BASH_REMATCH[2]}"
  fi
  [[ -n $major ]] || fail "cannot tell this runtime's Java; $advice"
  ((major >= 17)) || fail "this runtime's Java is $major and sparkconfig needs 17; $advice"
  log "Databricks Runtime ${dbr:-unknown}, Java $major"
}

# Prints 2.12 or 2.13, by the jars of the runtime.
scala() {
  local version pattern found=()
  if [[ -n ${SPARKCONFIG_SCALA:-} ]]; then echo "$SPARKCONFIG_SCALA"; return; fi
  for pattern in '*scala-library*VERSION*.jar' '*_VERSION_deploy.jar' 'spark-core_VERSION-*.jar'; do
    found=()
    for version in 2.12 2.13; do
      if compgen -G "$JARS/${pattern/VERSION/$version}" > /dev/null; then found+=("$version"); fi
    done
    if ((${#found[@]} == 1)); then echo "${found[0]}"; return; fi
  done
}

find_wheel() {
  local wheels=()
  if [[ -z $SOURCE ]]; then SOURCE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"; fi
  [[ -d $SOURCE ]] || fail "SPARKCONFIG_SOURCE=$SOURCE is not a folder; a volume is visible only to init scripts that lie in a volume"
  mapfile -t wheels < <(compgen -G "$SOURCE/sparkconfig-*.whl" || true)
  ((${#wheels[@]} > 0)) || fail "there is no sparkconfig-*.whl in $SOURCE; set SPARKCONFIG_SOURCE to the folder that holds it"
  ((${#wheels[@]} == 1)) || fail "there are ${#wheels[@]} versions in $SOURCE: ${wheels[*]##*/}; leave one"
  WHEEL="${wheels[0]}"
  VERSION="${WHEEL##*/sparkconfig-}"
  VERSION="${VERSION%%-*}"
}

install_wheel() {
  local stamp="$ROOT/databricks/sparkconfig/wheel.sha256" digest extras="${SPARKCONFIG_EXTRAS:-}"
  local wanted="sparkconfig${extras:+[$extras]}==$VERSION" pip=("$PYTHON" -I -m pip --disable-pip-version-check install -q)
  local where=(--find-links "$SOURCE")
  [[ ${SPARKCONFIG_ONLINE:-} == true ]] || where+=(--no-index)
  digest="$(sha256sum "$WHEEL" | cut -d' ' -f1) $wanted"
  if [[ -r $stamp && "$(< "$stamp")" == "$digest" ]] && "$PYTHON" -I -c "import sparkconfig" 2> /dev/null; then
    log "$wanted is installed already"
    return
  fi
  # Without the dependencies at first: a wheel that was built again under the same version has to replace the old one.
  "${pip[@]}" --no-deps --no-index --force-reinstall "$WHEEL" 2>&1 | tee -a "$LOG" || fail "pip could not install $WHEEL"
  "${pip[@]}" "${where[@]}" "$wanted" 2>&1 | tee -a "$LOG" ||
    fail "pip did not find what $wanted needs; put the wheels into $SOURCE (pip download), or set SPARKCONFIG_ONLINE=true"
  mkdir -p "${stamp%/*}"
  printf '%s\n' "$digest" > "$stamp"
  log "installed $wanted into ${PYTHON%/bin/python}"
}

# put FROM TO: copies in one step, unless the same is there.
put() {
  if cmp -s "$1" "$2"; then log "$2 is there already"; return; fi
  cp "$1" "$2.partial"
  chmod 0644 "$2.partial"
  mv -f "$2.partial" "$2"
  log "wrote $2"
}

install_jar() {
  local version jar other dbr
  version="$(scala)"
  [[ -n $version ]] || fail "cannot tell Scala's version from $JARS; set SPARKCONFIG_SCALA=2.12 or 2.13"
  dbr="$(runtime)"
  if [[ $version == 2.13 && -n $dbr ]] && ((dbr < 17)); then
    fail "Databricks Runtime $dbr with Scala 2.13 is Spark 3.5, for which there is no jar; use its image with Scala 2.12"
  fi
  jar="$("$PYTHON" -I -m sparkconfig jar --scala "$version")" || fail "this wheel has no jar for Scala $version"
  put "$jar" "$JARS/${jar##*/}"
  for other in "$JARS"/sparkconfig_2.1*.jar; do   # of two versions on a class path, the first one wins
    if [[ $other != "$JARS/${jar##*/}" ]]; then rm -f "$other"; log "removed $other"; fi
  done
}

install_operator_file() {
  local file
  [[ -f $SOURCE/sparkconfig.conf ]] || return 0
  mkdir -p "$ETC"
  chmod go-w "$ETC"
  for file in "$SOURCE"/policies/*; do
    [[ -f $file ]] || continue
    mkdir -p "$ETC/policies"
    put "$file" "$ETC/policies/${file##*/}"
  done
  cp "$SOURCE/sparkconfig.conf" "$ETC/.sparkconfig.conf.new"
  if ! grep -qE '^[[:space:]]*spark\.config\.agent\.python[[:space:]=:]' "$SOURCE/sparkconfig.conf"; then
    printf '\n# Added by databricks-init.sh\nspark.config.agent.python = %s\n' "$PYTHON" >> "$ETC/.sparkconfig.conf.new"
  fi
  put "$ETC/.sparkconfig.conf.new" "$ETC/sparkconfig.conf"
  rm -f "$ETC/.sparkconfig.conf.new"
  # From now on a missing file is an error, and not freedom.
  if [[ ! -e $ETC/sparkconfig.required ]]; then touch "$ETC/sparkconfig.required"; fi
}

# Turns it on. spark.extraListeners and spark.eventLog.* are not written: the plugin appends to what Databricks sets.
write_fragment() {
  local confs=()
  if [[ ${DB_IS_DRIVER:-TRUE} != TRUE ]]; then log "a worker: no confs to write"; return; fi
  [[ -d $FRAGMENTS ]] || fail "$FRAGMENTS is missing: is this a Databricks driver?"
  if [[ -f $SOURCE/spark.conf ]]; then confs=(--confs "$SOURCE/spark.conf"); fi
  if [[ ! -f $ETC/sparkconfig.conf ]]; then confs+=(--agent-python "$PYTHON"); fi
  "$PYTHON" -I -m sparkconfig.databricks --fragments "$FRAGMENTS" --own "${FRAGMENT##*/}" "${confs[@]}" > "$FRAGMENT.new" ||
    { rm -f "$FRAGMENT.new"; fail "the confs were not written; Spark would start without sparkconfig"; }
  put "$FRAGMENT.new" "$FRAGMENT"
  rm -f "$FRAGMENT.new"
  check_start
}

# The doctor sees what the driver will: missing extras, settings, policies, references. Java was checked above: JNAME
# counts only later.
check_start() {
  local doctor=("$PYTHON" -I -m sparkconfig doctor --quiet --skip java --spark-home "$ROOT/databricks/spark")
  if [[ -f $ETC/sparkconfig.conf ]]; then doctor+=(--operator-file "$ETC/sparkconfig.conf"); fi
  "${doctor[@]}" 2>&1 | tee -a "$LOG" ||
    { rm -f "$FRAGMENT"; fail "the driver would not start: repair what 'doctor' reports above"; }
}

[[ -x $PYTHON ]] || fail "$PYTHON is missing: is this a Databricks cluster?"
[[ -d $JARS ]] || fail "$JARS is missing: is this a Databricks cluster?"
check_spark
check_java
find_wheel
log "sparkconfig $VERSION from $SOURCE"
install_wheel
install_jar
install_operator_file
write_fragment
log "done"
