"""What a new user runs with each command of ``sparkconfig``, and with Spark."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from artefacts.user import VALUE, User, WrongError, expect
from support.printed_way import walk

ROOT = Path(__file__).resolve().parents[3]
EXPECTED = hashlib.sha256(VALUE.encode()).hexdigest()
WHERE = ("--file", "shop.sealed", "--key-file", "shop.key")
REFERENCE = "${sealed:shop:password}"
APP = """
import hashlib, os, subprocess, sys
from pyspark.sql import SparkSession

builder = SparkSession.builder
if "configure" in sys.argv:
    from sparkconfig.session import configure
    sealed = {"class": "sealed", "file": os.path.abspath("shop.sealed"), "key.file": os.path.abspath("shop.key")}
    builder = configure(builder.master("local[1]"), providers={"sealed": sealed})
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
import sparkconfig

value = sparkconfig.current("${sealed:shop:password}").reveal()
assert spark.range(10).count() == 10
print("DIGEST " + hashlib.sha256(value.encode()).hexdigest(), "SPARK " + spark.version)
own = spark.sparkContext.applicationId
for words in (["--list"], ["--status", "--json", own], ["--wait", "--json", own]):
    if "refresh" in sys.argv:
        print(subprocess.run(["sparkconfig", "refresh", *words], check=True, capture_output=True, text=True).stdout)
spark.stop()
"""
#: Its references are resolved by 'run', before Spark: it has no plugin.
STOCK_APP = """
import hashlib
from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
print("DIGEST " + hashlib.sha256(spark.conf.get("spark.shop.password").encode()).hexdigest(), "SPARK " + spark.version)
spark.stop()
"""


def help_of_every_command(user: User) -> str:
    """The names come from the help itself: a new command without a step below is an error."""
    shown = user.command("--help")
    block = shown.split("  COMMAND\n")[1].split("\nexamples:")[0]
    names = re.findall(r"^    ([a-z]+)", block, re.MULTILINE)
    for name in names:
        expect(user.command(name, "--help"), f"usage: sparkconfig {name}", "--help")
    if untried := sorted(set(names) - COMMANDS.keys()):
        raise WrongError(f"no step tries {untried}")
    expect(user.command("--version"), f"sparkconfig {user.wheel.name.split('-')[1]}")
    expect(user.command("doctr", code=2), "did you mean 'doctor'?")
    start = f"one starts in {user.start('sparkconfig', '--version')}, Python in {user.start(user.python, '-c', 'pass')}"
    where = user.run(user.python, "-c", "import sparkconfig; print(sparkconfig.__file__)").strip()
    if not Path(where).is_relative_to(user.venv):
        raise WrongError("another sparkconfig than the wheel's answered")
    return f"{len(names)} commands; {start}"


def seal(user: User) -> None:
    user.command("seal", "new-key", "--key-file", "other.key")
    user.command("seal", "create", "--new-key", *WHERE)
    user.command("seal", "set", *WHERE, "shop:password", text=VALUE)
    user.command("seal", "set", *WHERE, "shop:old", "--json", text="artefacts-old")
    user.command("seal", "remove", *WHERE, "shop:old")
    user.command("seal", "rotate-key", *WHERE)
    expect(user.command("seal", "list", *WHERE, "--json"), '"password"')


def init(user: User) -> None:
    user.command("init", "--json")
    for form in ("submit", "builder"):
        expect(user.command("init", "--for", form), "sparkconfig")
    files = ("--sealed-file", user.job / "shop.sealed", "--key-file", user.job / "shop.key")
    lines = user.command("init", "--for", "defaults", *files)
    own = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.log.level": "WARN",
           "spark.shop.password": REFERENCE}  # fmt: skip
    defaults = lines + "".join(f"{key} {value}\n" for key, value in own.items())
    (user.job / "job.conf").write_text(defaults)
    (user.home / "conf" / "spark-defaults.conf").write_text(defaults)
    # Without the jar, for --packages and for 'run'.
    plain = [
        line
        for line in defaults.splitlines()
        if "ClassPath" not in line and not line.startswith("spark.plugins ")
    ]
    (user.job / "plain.conf").write_text("\n".join(plain) + "\n")


def resolve(user: User) -> None:
    expect(user.command("resolve", "--dry-run", "job.conf"), REFERENCE, "ok")
    user.command("resolve", "--dry-run", "--explain", "--json", "job.conf")
    wrong = "spark.shop.token=${sealed:shop:tokem}"
    expect(user.command("resolve", "--dry-run", "job.conf", "--conf", wrong, code=1), "no value")


def validate(user: User) -> None:
    user.command("validate", "--properties-file", "job.conf", "--json")
    (user.job / "policy.json").write_text((ROOT / "conf" / "policies" / "shared-server.json").read_text())
    asked = ("validate", "--policy", "policy.json", "--job-type", "connect", "--scope", "session")
    user.command(*asked, "--conf", "spark.sql.shuffle.partitions=10")
    user.command(*asked, "--conf", "spark.sql.shuffle.partitions=5000", "--explain", code=8)
    statement = "SELECT * FROM text.`/etc/passwd`"
    user.command("validate", "--policy", "policy.json", "--job-type", "sql", "--statement", statement, code=8)


def policy(user: User) -> None:
    cases = (ROOT / "docs" / "policy-cases" / "shared-server.json").read_text()
    (user.job / "cases.json").write_text(
        cases.replace("../../conf/policies/shared-server.json", "policy.json")
    )
    user.command("policy", "test", "cases.json")
    user.command("policy", "test", "cases.json", "--json")


def migrate(user: User) -> None:
    old = user.job / "old.conf"
    before = (
        f"spark.shop.password {VALUE}\nspark.shop.url jdbc:postgresql://db/shop?user=a&password={VALUE}\n"
    )
    old.write_text(before)
    target = ("--sealed-file", "migrated.sealed", "--key-file", "migrated.key")
    expect(user.command("migrate", "old.conf"), "spark.shop.password")
    expect(
        user.command("migrate", "--check", "old.conf", "--sarif", "old.sarif", code=1), "spark.shop.password"
    )
    user.command("migrate", "old.conf", "--apply", "--new-key", *target, "--json")
    if VALUE in old.read_text() or "${" not in old.read_text():
        raise WrongError("migrate --apply left the value")
    user.command("migrate", "--check", "old.conf")
    user.command("resolve", "--dry-run", "old.conf")
    user.command("migrate", "--undo", *target)
    if old.read_text() != before:
        raise WrongError("migrate --undo did not restore the file")


def printed_way(user: User) -> None:
    """``migrate``, the command that it prints, the lines that this one prints, and a job with jars of its own."""
    try:
        walk(lambda words: user.run(*words), user.spark / "bin" / "spark-submit", user.job, VALUE)
    except AssertionError as error:
        raise WrongError(str(error)) from None


def leaked(user: User) -> Path:
    """A log with the value in clear."""
    event = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.shop.password": VALUE}}
    folder = user.job / "events"
    folder.mkdir(exist_ok=True)
    (folder / "app-1").write_text(json.dumps(event) + "\n")
    return folder / "app-1"


def cleaned(log: Path) -> None:
    if VALUE in log.read_text():
        raise WrongError("scrub clean left the value")
    json.loads(log.read_text())


def scrub(user: User) -> None:
    log = leaked(user)
    sealed = ("--sealed-file", "shop.sealed", "--key-file", "shop.key")
    expect(user.command("scrub", "find", "events", *sealed, "--json"), str(log.name))
    user.command("scrub", "clean", "events", *sealed, "--dry-run")
    user.command("scrub", "clean", "events", "--conf-file", "job.conf", "--since", "1d")
    cleaned(log)


def run(user: User) -> None:
    code = "import os, hashlib as h; x = os.environ['X']; print(h.sha256(x.encode()).hexdigest())"
    shown = user.command(
        "run",
        "--properties-file",
        "plain.conf",
        "--env",
        f"X={REFERENCE}",
        "--",
        str(user.python),
        "-c",
        code,
    )
    expect(shown, EXPECTED)
    user.command(
        "run",
        "--properties-file",
        "plain.conf",
        "--env",
        f"X={REFERENCE}",
        "--",
        "sh",
        "-c",
        "exit 9",
        code=9,
    )


def providers(user: User) -> None:
    user.command("providers", "--json")
    expect(user.command("providers", "--params"), "sealed")
    asked = ("--file", "job.conf", "--path", "shop", "--key", "password")
    user.command("providers", "test", "sealed", *asked, "--json")


def refresh(user: User) -> None:
    """Without an application; :func:`spark_submit` asks one that runs."""
    user.command("refresh", "--list", "--json")
    user.command("refresh", "app-20300101000000-0001", "--json", code=4)


def doctor(user: User) -> None:
    expect(user.command("doctor", "--file", "job.conf"), f"Spark {user.version}", "0 errors")
    user.command("doctor", "--file", "job.conf", "--quiet", "--json")


def jar(user: User) -> None:
    small = [f"--{name}" for name in ("aws", "azure", "cassandra", "gcs", "iceberg", "kafka")]
    options = [[], *([each] for each in small), ["--scala", user.scala]]
    names = [user.command("jar", *option).strip() for option in options]
    for name in names:
        if f"_{user.scala}-" not in name or not Path(name).is_file():
            raise WrongError(f"{name} is not the jar of this Spark")
    user.command("jar", "--json")


def install(user: User) -> None:
    """The second way of the README: the wheel, ``install``, and the lines of ``init`` in spark-defaults.conf."""
    submit = user.home / "bin" / "spark-submit"
    user.command("install", "--spark-home", user.home, "--json")
    environ = [("SPARK_HOME", str(user.home))]
    (user.job / "app.py").write_text(APP)
    expect(user.run(submit, "app.py", environ=environ), f"DIGEST {EXPECTED} SPARK {user.version}")
    user.command("install", "--spark-home", user.home, "--uninstall")
    if list((user.home / "jars").glob("sparkconfig*")):
        raise WrongError("install --uninstall left a jar")


def spark_submit(user: User) -> None:
    """``--jars "$(sparkconfig jar)"``, and a running application that ``refresh`` finds."""
    (user.job / "app.py").write_text(APP)
    jars = user.command("jar").strip()
    shown = user.submit("--jars", jars, "--properties-file", "job.conf", "app.py", "refresh")
    expect(shown, f"DIGEST {EXPECTED} SPARK {user.version}", '"ok": true', '"missing": []')


def builder(user: User) -> None:
    """``python app.py`` with ``sparkconfig.session.configure``."""
    (user.job / "app.py").write_text(APP)
    expect(user.run(user.python, "app.py", "configure"), f"DIGEST {EXPECTED} SPARK {user.version}")


def run_submit(user: User) -> None:
    """``run`` in front of an application that has no plugin."""
    (user.job / "stock.py").write_text(STOCK_APP)
    words = ("run", "--properties-file", "plain.conf", "--", str(user.spark / "bin" / "spark-submit"))
    shown = user.command(*words, "--properties-file", "{properties}", "stock.py")
    expect(shown, f"DIGEST {EXPECTED} SPARK {user.version}")


def packages(user: User) -> None:
    """The first way of the README, in an environment with Spark alone."""
    (user.job / "app.py").write_text(APP)
    version = user.wheel.name.split("-")[1]
    shown = user.submit(
        "--packages", f"io.sparkconfig:sparkconfig_{user.scala}:{version}",
        "--repositories", f"file:{user.dist / 'maven'}", "--conf", "spark.plugins=io.sparkconfig.ConfigPlugin",
        "--conf", f"spark.jars.ivy={user.job / 'ivy'}", "--properties-file", "plain.conf", "app.py", bare=True,
    )  # fmt: skip
    expect(shown, f"DIGEST {EXPECTED} SPARK {user.version}")


def examples(user: User) -> str:
    """docs/examples with the installed wheel: copies, since a checkout's package would answer beside them."""
    copy = user.folder / "examples"
    shutil.copytree(ROOT / "docs" / "examples" / "shop", copy / "docs" / "examples" / "shop")
    shutil.copytree(ROOT / "conf" / "policies", copy / "conf" / "policies")
    # What Spark's own documentation asks Connect's clients to install.
    user.pip(
        user.py4j,
        "pandas<3",
        "pyarrow",
        "grpcio",
        "grpcio-status",
        "googleapis-common-protos",
        "zstandard",
        "setuptools",
    )
    shown = user.run(user.python, copy / "docs" / "examples" / "shop" / "run.py", seconds=1800)
    expect(shown, "No output, event log or other file of the examples holds a password.")
    return shown.strip()


#: By the names of the commands; in this order, since later ones use what earlier ones made.
COMMANDS: dict[str, Callable[[User], str | None]] = {
    "seal": seal,
    "init": init,
    "resolve": resolve,
    "validate": validate,
    "policy": policy,
    "migrate": migrate,
    "scrub": scrub,
    "run": run,
    "providers": providers,
    "refresh": refresh,
    "doctor": doctor,
    "jar": jar,
    "install": install,
}
STEPS: dict[str, Callable[[User], str | None]] = {
    "--help of every command": help_of_every_command,
    **COMMANDS,
    "migrate, init, a job with --jars, as printed": printed_way,
    "spark-submit --jars, refresh of the running application": spark_submit,
    "python app.py with configure()": builder,
    "run -- spark-submit": run_submit,
    "spark-submit --packages, no wheel": packages,
    "examples": examples,
}
