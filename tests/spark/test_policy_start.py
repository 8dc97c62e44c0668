"""Policies at the start of an application: whatever way a conf takes, one message lists all violations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JJavaError

from support.scala_objects import scala_object
from support.shim import shim_jar
from support.spark_home import java, spark_environment, spark_home
from support.starts import BASE, PLUGIN, started
from support.untrusted import (
    NOBODY,
    give,
    give_behind_a_link,
    give_code,
    give_link,
    name_a_folder,
    put_home,
    put_library,
    put_link,
    put_links,
    put_marker,
)

pytestmark = pytest.mark.spark

SECRET = "Canary-9c41de-value"
RULES = {
    "rules": [
        {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": "50"},
        {"key": "spark.shop.zone", "type": "allowlist", "values": ["a", "b"]},
        {"key": "spark.shop.city", "type": "allowlist", "values": ["york"]},
    ],
    "references": [{"type": "forbid", "provider": "files", "key": "admin"}],
}


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> dict[str, dict[str, object]]:
    folder = tmp_path_factory.mktemp("policy")
    (folder / "shop.properties").write_text(f"admin={SECRET}\nzone=a\n")
    operator = folder / "operator"
    operator.mkdir(mode=0o755)
    (operator / "rules.json").write_text(json.dumps(RULES))
    (operator / "sparkconfig.conf").write_text(
        "spark.config.override.policy=Rules\nspark.config.override.policy.param.file=rules.json\n"
        "spark.config.providers=files,variables\nspark.config.providers.variables.class=envvar\n"
        "spark.config.agent.variables=LANGUAGE, SHOP_C*\nspark.config.providers.files.class=file\n"
        f"spark.config.providers.files.param.allowed.paths={folder}\n"
        f"spark.config.agent.python={sys.executable}\n"
        "spark.shop.owner=operator\nspark.hadoop.fs.s3a.endpoint=s3.shop\nspark.shop.buyer=operator\n"
    )
    (folder / "job.conf").write_text("spark.shop.from.file b\nspark.shop.buyer thief\n")
    file = folder / "shop.properties"
    cases = {
        "allowed": {
            "spark.shop.zone": f"${{files:{file}:zone}}",
            "spark.shop.owner": "operator",
            "spark.shop.city": "${variables:SHOP_CITY}",
        },
        "a variable that is not kept": {"spark.shop.city": "${variables:SHOP_TOWN}"},
        "many": {
            "spark.sql.shuffle.partitions": "51",
            "spark.shop.zone": "c",
            "spark.config.providers": "mine",
            "spark.extraListeners": "com.acme.Listener",
            "spark.hadoop.fs.s3a.endpoint": "elsewhere",
        },
        "by reference": {"spark.shop.zone": f"${{files:{file}:admin}}"},
    }
    known = {"SPARK_CONF_DIR": str(operator), "SHOP_CITY": "york", "SHOP_TOWN": "york"}
    found, _ = started(cases, folder, secret=SECRET, env=known)
    # Confs of the JVM itself, in each way in which they come there.
    ways = ["--conf", "spark.shop.owner=thief", "--properties-file", str(folder / "job.conf")]
    known["SPARK_SUBMIT_OPTS"] = "-Dspark.hadoop.fs.s3a.endpoint=elsewhere"
    return found | started({"ways": {}}, folder, secret=SECRET, submit=ways, env=known)[0]


def test_what_is_allowed_starts_with_the_operators_values(ends):
    assert ends["allowed"]["started"], ends["allowed"]["message"]


def test_the_side_process_keeps_the_variables_that_the_operator_names(ends):
    assert not ends["a variable that is not kept"]["started"]
    assert "SHOP_TOWN" in str(ends["a variable that is not kept"]["message"])


def test_one_message_lists_all_violations(ends):
    end = ends["many"]
    assert not end["started"]
    words = [
        "5 problems",
        "spark.sql.shuffle.partitions",
        "spark.shop.zone",
        "spark.config.providers",
        "spark.extraListeners",
        "spark.hadoop.fs.s3a.endpoint",
    ]
    assert [word for word in words if word not in str(end["message"])] == [], end["message"]


def test_a_forbidden_reference_is_named_and_its_value_is_not(ends):
    end = ends["by reference"]
    assert not end["started"]
    assert "admin" in str(end["message"])
    assert SECRET not in json.dumps(end)


@pytest.mark.parametrize(
    ("way", "key"),
    [
        ("--conf", "spark.shop.owner"),
        ("--properties-file", "spark.shop.buyer"),
        ("a system property", "spark.hadoop.fs.s3a.endpoint"),
    ],
)
def test_ways_to_set_a_conf(ends, way, key):
    assert not ends["ways"]["started"]
    assert key in str(ends["ways"]["message"])


def _another_users_folder() -> Iterator[Path]:
    program = spark_home() / "bin" / "spark-sql"
    reached = subprocess.run(["test", "-r", program], user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    if reached.returncode != 0:
        pytest.skip(f"other users cannot reach {program}")
    # Not below pytest's own folder, which only root may enter.
    folder = Path(tempfile.mkdtemp(prefix="sparkconfig-another-user-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="class")
def folder() -> Iterator[Path]:
    yield from _another_users_folder()


@pytest.fixture(scope="class")
def interpreter(folder: Path) -> Iterator[Callable[[Path], str]]:
    """The driver's own look at an operator's file, in a JVM of another user: the interpreter, or the refusal."""
    jars = f"{shim_jar()}:{spark_home()}/jars/*"
    child = subprocess.Popen(
        [java(), "-Xmx128m", "-cp", jars, "py4j.GatewayServer", "--die-on-broken-pipe", "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(child.stdout.readline())))
    operator_file = scala_object(gateway.jvm, "io.sparkconfig.agent.OperatorFile")

    def ask(file: Path) -> str:
        try:
            return str(operator_file.launch(gateway.jvm.java.io.File(str(file)).toPath()).python())
        except Py4JJavaError as error:
            return str(error.java_exception.getMessage())

    yield ask
    gateway.shutdown()
    child.stdin.close()
    child.stdout.close()
    child.wait(20)


def _site(folder: Path, case: str) -> tuple[Path, Path]:
    """An operator's file and the interpreter that it names, both root's, in folders of root."""
    conf, tools = folder / case, folder / f"{case}-tools"
    for made in (conf, tools):
        made.mkdir(mode=0o755)
    python = tools / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    file = conf / "sparkconfig.conf"
    file.write_text(f"spark.config.agent.python={python}\n")
    file.chmod(0o644)
    return file, python


OWNED = "belongs to the user that runs the job"
UNTRUSTED: dict[str, tuple[Callable[[Path, Path, Path], object], str]] = {
    "a file of the job's": (lambda file, _python, _folder: give(file), OWNED),
    "in a folder of the job's": (lambda file, _python, _folder: give(file.parent), OWNED),
    "a file for everybody": (lambda file, _python, _folder: file.chmod(0o666), "can write"),
    "no interpreter": (lambda file, _python, _folder: file.write_text(""), "names no interpreter"),
    "an interpreter of the path": (
        lambda file, _python, _folder: file.write_text("spark.config.agent.python=python3\n"),
        "must be an absolute path",
    ),
    "an interpreter of the job's": (lambda _file, python, _folder: give(python), OWNED),
    "an interpreter in a folder of the job's": (lambda _file, python, _folder: give(python.parent), OWNED),
    "an interpreter for everybody": (lambda _file, python, _folder: python.chmod(0o777), "can write"),
    "a link in a folder of the job's": (lambda _file, python, folder: put_link(python, folder), OWNED),
    "a folder between links": (lambda _file, python, folder: put_links(python, folder), OWNED),
    "a link of the job's": (
        lambda _file, python, folder: (
            put_links(python, folder),
            os.chown(python.parent / "links" / "second", 0, 0),
            os.chown(python.parent / "links" / "second" / "link", NOBODY, NOBODY, follow_symlinks=False),
        ),
        OWNED,
    ),
    "an environment's file of the job's": (
        lambda _file, python, _folder: give(put_marker(python, "/usr/bin")),
        OWNED,
    ),
    "a home of the job's": (lambda _file, python, folder: put_home(python, folder), OWNED),
    "a library of the job's": (lambda _file, python, folder: put_library(python, folder), OWNED),
    "a home without a folder": (lambda _file, python, _folder: put_marker(python, "bin"), "cannot be read"),
    "an interpreter that is not there": (lambda _file, python, _folder: python.unlink(), "cannot be read"),
}


PACKAGES: dict[str, Callable[[Path], object]] = {
    "the folder of packages": give,
    "a folder for everybody": lambda site: site.chmod(0o777),
    "a package": lambda site: give(site / "cryptography"),
    "a file deep in a package": lambda site: give(
        site / "cryptography" / "hazmat" / "primitives" / "keys.py"
    ),
    "a folder deep in a package": lambda site: (site / "cryptography" / "hazmat" / "primitives").chmod(0o777),
    "a file behind a link": lambda site: give_behind_a_link(site / "vendored"),
    "a link among packages": lambda site: give_link(site / "linked"),
    "sparkconfig": lambda site: give(site / "sparkconfig" / "agent" / "__init__.py"),
    "the environment": lambda site: give(site.parents[2]),
    "a file that runs code": give_code,
    "a folder that a .pth file names": lambda site: name_a_folder(site, code="import planted"),
    "a folder that code of a .pth file adds": name_a_folder,
}


def _environment(folder: Path) -> Path:
    """Make an environment whose sparkconfig says that it has run; return its folder of packages."""
    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print('python%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    site = folder / "lib" / version / "site-packages"
    for package in ("sparkconfig/agent", "cryptography/hazmat/primitives"):
        (site / package).mkdir(parents=True)
    for file in ("sparkconfig/__init__.py", "sparkconfig/agent/__init__.py", "cryptography/__init__.py"):
        (site / file).write_text("")
    (site / "cryptography" / "hazmat" / "primitives" / "keys.py").write_text("")
    (site / "sparkconfig" / "agent" / "main.py").write_text("def main(): print('has run')\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    return site


def _start_of_side_process(environment: Path) -> subprocess.CompletedProcess[str]:
    with zipfile.ZipFile(shim_jar()) as jar:
        text = jar.read("io/sparkconfig/agent/trusted_start.py").decode()
    return subprocess.run(
        [environment / "bin" / "python", "-I", "-S", "-c", text],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env={},
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start jobs of other users")
class TestAnotherUser:
    """The file of an operator names the interpreter that evaluates it: who could write one of them chooses neither."""

    def test_roots_file_and_interpreter_are_trusted(self, folder, interpreter):
        file, python = _site(folder, "root")
        assert interpreter(file) == str(python)

    @pytest.mark.parametrize("case", UNTRUSTED)
    def test_what_the_job_could_write_does_not_even_choose_the_interpreter(self, folder, interpreter, case):
        file, python = _site(folder, case.replace(" ", "-").replace("'", ""))
        change, words = UNTRUSTED[case]
        change(file, python, folder)
        assert words in interpreter(file)

    @pytest.mark.skipif(
        not Path("/usr/bin/python3").exists(), reason="needs a Python that other users can run"
    )
    def test_packages_that_the_job_could_write_are_not_imported(self, folder):
        _environment(folder / "trusted")
        done = _start_of_side_process(folder / "trusted")
        assert (done.stdout, done.returncode) == ("has run\n", 0), done.stderr
        for number, (case, change) in enumerate(PACKAGES.items()):
            environment = folder / f"untrusted-{number}"
            change(_environment(environment))
            done = _start_of_side_process(environment)
            assert (done.stdout, done.returncode) == ("", 1), case
            assert "could change it" in done.stderr, case
            assert "let root own the environment" in done.stderr, case

    def test_a_start_ends_with_the_reason(self, folder):
        """And on a PATH with a python3 that the job has put there, nothing of it runs."""
        home, conf = folder / "job-home", folder / "conf"
        for made in (home, conf):
            made.mkdir(mode=0o755)
        give(home)
        python = home / "python3"
        python.write_text(f"#!/bin/sh\ntouch '{home}/ran'\n")
        python.chmod(0o755)
        (conf / "sparkconfig.conf").write_text("spark.config.override.policy=All\n")
        confs = {**BASE, "spark.jars": str(shim_jar()), "spark.plugins": PLUGIN}
        options = [part for key, text in confs.items() for part in ("--conf", f"{key}={text}")]
        environment = {**os.environ, **spark_environment(conf, home), "HOME": str(home)}
        done = subprocess.run(
            [spark_home() / "bin" / "spark-sql", *options, "-e", "SELECT 1"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            cwd=home,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            env={**environment, "PATH": f"{home}:{environment['PATH']}"},
        )
        assert done.returncode != 0
        assert "names no interpreter" in done.stdout + done.stderr
        assert not (home / "ran").exists()
