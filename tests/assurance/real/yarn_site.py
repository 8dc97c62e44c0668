"""Where `test_yarn_nodes` runs: a YARN of two nodes with users of their own, two stores, and an operator's files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from real.sources.base import CACHE
from spark.options.compile_sources import sources_jar
from support.crawl import crawl
from support.leaks import LeakFinder
from support.node import USERS, Node, NoNodes, give
from support.postgres import new_password
from support.processes import Child, Run, wait_until
from support.real_vault import RealVault
from support.rotation import digest
from support.shim import ROOT, shim_jar
from support.spark_home import spark_home
from support.surfaces import ProcessWatch, places
from support.templates import document, operator_text
from support.yarn import Yarn

__all__ = ["Application", "NoNodes", "YarnSite", "start_site"]

OPERATED = Path("/etc/spark")
_TEMPLATE = "yarn.conf.template"
_KEY, _PASSWORD_FILE = "shop-key", "keystore.password"


@dataclass
class YarnSite:
    """The cluster, its stores, and the machine that submits.

    Attributes:
        nodes: those with a node manager; their containers run as ``spark``.
        client: where ``spark-submit`` starts, as ``shop``.
        ever: every secret that there was.
    """

    run: Run
    yarn: Yarn
    vault: RealVault
    nodes: Sequence[Node]
    client: Node
    params: Mapping[str, str]
    key: str = field(repr=False)
    ever: list[str] = field(repr=False)

    @property
    def machines(self) -> Sequence[Node]:
        return [*self.nodes, self.client]

    @property
    def keystore(self) -> str:
        return f"jceks://hdfs@{self.yarn.files.removeprefix('hdfs://')}/keys/shop.jceks"

    def rotate(self) -> str:
        """Publish a new password; returns what is seen of it and of the keystore's entry."""
        self.ever.append(new_password())
        self.vault.put("shop/prod", {"password": self.ever[-1]})
        return f"{digest(self.ever[-1])} {digest(self.key)}"

    def template(self, *, cluster_mode: bool = False) -> dict[str, str]:
        """The template's confs, with the addresses of this site.

        Args:
            cluster_mode: whether its commented lines about jar and archive are in force.
        """
        lines = document(_TEMPLATE).read_text().splitlines()
        commented = ("# spark.jars ", "# spark.archives ", "# spark.config.agent.python ")
        named = [line[2:] for line in lines if line.startswith(commented)]
        assert len(named) == len(commented), "the template's lines for cluster mode"
        lines = [*(named if cluster_mode else ()), *lines]
        confs = dict(line.split(None, 1) for line in lines if line.startswith("spark."))
        jar = "sparkconfig_2.13-VERSION.jar"  # Spark 3.5 has Scala 2.12
        confs = {key: text.replace(jar, shim_jar().name).strip() for key, text in confs.items()}
        start = "spark.config.providers."
        assert confs[f"{start}secrets.param.jwt.file"] == f"{OPERATED}/vault.jwt"
        return {
            **confs,
            # A second store, and what this Vault has of its own.
            "spark.config.providers": f"{confs['spark.config.providers']},keys",
            f"{start}keys.class": "hadoop",
            f"{start}keys.param.provider.path": self.keystore,
            **{f"{start}secrets.param.{name}": text for name, text in self.params.items()},
            "spark.config.poll.interval": "500ms",
            "spark.shop.key": f"${{keys::{_KEY}}}",
            "spark.hadoop.hadoop.security.credstore.java-keystore-provider.password-file": _PASSWORD_FILE,
            "spark.driver.extraClassPath": f"{OPERATED}/classes",
        }

    def common(self, mode: str) -> dict[str, str]:
        """What every job here sets."""
        return {
            "spark.master": "yarn",
            "spark.submit.deployMode": mode,
            "spark.yarn.jars": f"local:{spark_home()}/jars/*",
            "spark.yarn.preserve.staging.files": "true",
            "spark.yarn.submit.waitAppCompletion": "true",
            "spark.yarn.report.interval": "500ms",
            "spark.hadoop.yarn.timeline-service.enabled": "false",
            "spark.driver.memory": "700m",
            "spark.executor.memory": "600m",
            "spark.executor.instances": "2",
            "spark.executor.cores": "2",
            "spark.task.cpus": "2",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"{self.yarn.files}/events",
        }

    def operate(self, defaults: Mapping[str, str]) -> None:
        """Put the operator's template in force on all machines, with the confs of the other one as its defaults.

        Args:
            defaults: further ones.
        """
        confs = self.template()
        kept = [
            line
            for line in operator_text(OPERATED, ["defaults.file"]).splitlines()
            if not line.startswith("spark.config.providers")
        ]
        assert f"spark.config.agent.python = {sys.executable}" in kept
        own = [f"{key} = {text}" for key, text in confs.items() if key.startswith("spark.config.")]
        others = {key: text for key, text in confs.items() if not key.startswith("spark.config.")}
        for machine in self.machines:
            (machine.settings / "sparkconfig.conf").write_text("\n".join([*kept, *own]) + "\n")
            (machine.settings / "spark-defaults.conf").write_text(_lines({**others, **defaults}))

    def no_operator(self) -> None:
        """Take the operator's files away."""
        for machine in self.machines:
            for name in ("sparkconfig.conf", "spark-defaults.conf"):
                (machine.settings / name).unlink(missing_ok=True)

    def submit(
        self, name: str, application: Sequence[str | Path], confs: Mapping[str, str], *options: str | Path
    ) -> Child:
        """Start ``spark-submit`` as the user ``shop``, with confs on its command line."""
        given = [part for key, text in confs.items() for part in ("--conf", f"{key}={text}")]
        command = [
            *self.client.command("shop"), spark_home() / "bin" / "spark-submit", *given, *options, *application,
        ]  # fmt: skip
        return self.yarn.start(
            name, command, env={"SPARK_CONF_DIR": str(OPERATED), "SPARK_LOCAL_DIRS": "/tmp"}
        )

    def told(self, child: Child) -> str:
        """The ends of what ``spark-submit`` and the containers said, without secrets."""
        logs = [path for path in self.yarn.home.glob("node-*/logs/*/*/std*") if path.stat().st_size]
        text = "\n".join(
            [child.output()[-2000:], *(f"{path}:\n{path.read_text()[-3000:]}" for path in logs[-6:])]
        )
        for value in self.ever:
            text = text.replace(value, "(value)")
        return text

    def leaks(self, more: Iterable[tuple[str, bytes]], values: Sequence[str] = ()) -> list[str]:
        """Where secrets stand: a path, an address or a process; on each surface there is something to search.

        Args:
            more: what was seen while the application ran.
            values: what to look for, if not every secret of this site.
        """
        finder = LeakFinder(values or self.ever)
        logs = ((path.name, path.read_bytes()) for path in self.run.logs.glob("*.log"))
        surfaces = {
            "files": self.yarn.written(),
            "pages": self.pages(),
            "logs of daemons and clients": logs,
            "while it ran": more,
        }
        return places(finder, surfaces)

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """The pages of the name node, both node managers and the resource manager."""
        *_, manager = self.yarn.pages
        return crawl(
            [*self.yarn.pages, *(f"{manager}{name}" for name in ("ws/v1/cluster/apps", "conf", "jmx"))]
        )


class Application:
    """One that runs ``apps/on_nodes.py``."""

    def __init__(self, site: YarnSite, name: str, *, locked: bool) -> None:
        """Make its folder.

        Args:
            locked: whether it reads rows through ``sparkconfig:///``.
        """
        self.site, self.name = site, name
        self.folder = site.run.private_dir(f"seen-{name}")
        self.folder.chmod(0o1777)
        self.rows, self.lock = self.folder / "rows", self.folder / "lock"
        self.rows.mkdir(mode=0o755)
        for number in range(8):
            (self.rows / f"{number}.txt").write_text(f"{number}\n")
        opened = self.folder / "lock.opened"
        opened.touch()
        opened.chmod(0o666)
        place = f"locked://{self.rows}" if locked else "-"
        app = Path(__file__).with_name("apps") / "on_nodes.py"
        self.command: list[str | Path] = [app, self.folder, f"{site.yarn.files}/user/shop/{name}", place]

    def locking(self) -> dict[str, str]:
        """Confs of the file system, whose password comes from sparkconfig's credential provider too."""
        reference = self.site.template()["spark.shop.password"]
        jars = f"{shim_jar()}:{sources_jar()}"
        return {
            "spark.driver.extraClassPath": f"{jars}:{OPERATED}/classes",
            "spark.executor.extraClassPath": jars,
            "spark.hadoop.fs.locked.impl": "sparkconfigtest.LockedFiles",
            "spark.hadoop.fs.locked.impl.disable.cache": "true",
            "spark.hadoop.fs.locked.lock": str(self.lock),
            "spark.hadoop.fs.locked.plain.key": reference,
            "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
            "spark.hadoop.sparkconfig.credential.fs.locked.key": reference,
        }

    def change_lock(self) -> None:
        """The file system opens for the newest password alone."""
        self.lock.write_text(digest(self.site.ever[-1]))

    def seen(self, kind: str) -> dict[str, list[str]]:
        """What each driver or executor has seen so far, by ``CONTAINER-PORT-PID``."""
        files = self.folder.glob(f"{kind}-*")
        return {path.name.removeprefix(f"{kind}-"): path.read_text().splitlines() for path in files}

    def wait_for(
        self, kind: str, count: int, line: str, child: Child, *, without: Sequence[str] = ()
    ) -> list[str]:
        """Wait until so many of a kind have seen a line last; returns their names."""

        def probe() -> list[str] | None:
            assert child.process.poll() is None, f"{child.name} ended: {self.site.told(child)}"
            found = [
                name
                for name, lines in self.seen(kind).items()
                if name not in without and lines[-1:] == [line]
            ]
            return sorted(found) if len(found) >= count else None

        return wait_until(f"{count} of {kind} of {self.name} to see a value", probe, timeout=180)

    def stop(self) -> None:
        (self.folder / "stop").touch()


def process(name: str) -> int:
    """The Java in the container that ``CONTAINER-PORT-PID`` names."""
    container = name.partition("-")[0].encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
        except OSError:  # it has ended
            continue
        if words.split(b"\0")[0].endswith(b"/java") and container in words:
            found.append(int(folder.name))
    (only,) = found
    return only


def start_site(run: Run, vault: RealVault) -> YarnSite:
    """Start YARN, and fill the stores.

    Raises:
        NoNodes: there can be no users and files of their own here.
    """
    first, second, client = (Node(run, name) for name in ("one", "two", "client"))
    yarn = Yarn(run, cache=CACHE, name="yarn-nodes", nodes=[first, second], owner=("spark", USERS["spark"]))
    jwt, token = vault.jwt("jwt")
    password, key = new_password(), new_password()
    params = vault.params(**jwt)
    site = YarnSite(run, yarn, vault, [first, second], client, params, key, [password, key, token])
    for folder, mode in (
        ("/events", "1777"),
        ("/user/shop", "755"),
        ("/keys", "755"),
        ("/apps/sparkconfig", "755"),
    ):
        yarn.hdfs(f"mkdir{folder.replace('/', '-')}", "-mkdir", "-p", folder)
        yarn.hdfs(f"chmod{folder.replace('/', '-')}", "-chmod", mode, folder)
    yarn.hdfs("chown-user", "-chown", "shop", "/user/shop")
    yarn.hadoop(
        "keystore", "security.alias.CredentialShell", "create", _KEY, "-value", key, "-provider", site.keystore,
        env={"HADOOP_CREDSTORE_PASSWORD": password},
    )  # fmt: skip
    yarn.hdfs("chown-keystore", "-chown", "shop", "/keys/shop.jceks")
    for machine, user in ((first, "spark"), (second, "spark"), (client, "shop")):
        (machine.settings / "classes").mkdir(mode=0o755)
        give(machine.settings / "classes" / _PASSWORD_FILE, user, password)
        give(machine.settings / "vault.jwt", user, token)
    return site


def ship_python(site: YarnSite) -> None:
    """Pack a Python with this package, and put it and the jar where the template looks for them."""
    home = site.run.private_dir("python")
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    constraints = ROOT / "python" / "constraints.txt"
    _checked(
        [
            home / "venv" / "bin" / "pip",
            "install",
            "-q",
            "-c",
            constraints,
            f"{ROOT}[vault]",
            "venv-pack",
            "setuptools",
        ]
    )
    _checked([home / "venv" / "bin" / "venv-pack", "-q", "-p", home / "venv", "-o", home / "python.tar.gz"])
    for path in (home / "python.tar.gz", shim_jar()):
        site.yarn.hdfs(f"put-{path.name}", "-put", str(path), f"/apps/sparkconfig/{path.name}")


def _checked(command: Sequence[str | Path]) -> None:
    ready = {"SPARKCONFIG_READY_JARS": str(shim_jar().parent)}
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, **ready}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def while_running(watch: ProcessWatch) -> Iterator[tuple[str, bytes]]:
    """Command lines and environments of all processes."""
    for what, each in (("command line", watch.command_lines), ("environment", watch.environments)):
        for name, text in each.items():
            yield f"{what} of {name}", text


def _lines(confs: Mapping[str, str]) -> str:
    return "".join(f"{key} {text}\n" for key, text in confs.items())
