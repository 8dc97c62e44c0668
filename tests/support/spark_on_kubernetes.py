"""Spark's Kubernetes backend against the recording API server, with the confs that docs/deploy-kubernetes.md shows."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from support.fakes.kubernetes_pods import Body, RecordingKubernetes
from support.kubelet import Kubelet, image
from support.processes import Child, Run
from support.shim import shim_jar
from support.spark_home import spark_environment
from support.templates import document

_TEMPLATE = "kubernetes.conf.template"
_POLICIES = "kubernetes-network-policy.yaml.template"


class Site:
    """An API server, an image, and a machine that submits.

    Attributes:
        home: everything that pods write, the confs that are mounted into them, and below ``etc`` the Secrets.
        conf_dir: SPARK_CONF_DIR of the machine that submits.
        api: the API server.
    """

    def __init__(self, run: Run, name: str) -> None:
        """Start the API server; `close` ends it."""
        self._run, self._name = run, name
        self.home, self.conf_dir = run.private_dir(name), run.private_dir(f"{name}-conf")
        self._image = image(run.private_dir(f"{name}-image") / "spark", [shim_jar()])
        self.api = RecordingKubernetes()
        self.api.__enter__()

    def close(self) -> None:
        """End the API server."""
        self.api.__exit__()

    def kubelet(self) -> Kubelet:
        """From now on pods start."""
        return Kubelet(self.api, self._run, home=self.home, image=self._image)

    def confs(self, *, mounted: bool = False) -> dict[str, str]:
        """The template's, with the paths and the API server of this machine.

        Args:
            mounted: whether its commented lines about a mounted authentication secret are in force.
        """
        text = document(_TEMPLATE).read_text()
        if mounted:
            text, count = re.subn(r"(?m)^# (?=spark\.)", "", text)
            assert count == 4, "the template's lines about the mounted secret"
        lines = [line.split(None, 1) for line in text.splitlines() if line.startswith("spark.")]
        return {
            **{key: value.replace("/etc/", f"{self.home}/etc/") for key, value in lines},
            "spark.master": f"k8s://{self.api.url}",
            "spark.kubernetes.driver.master": self.api.url,
            "spark.config.agent.python": sys.executable,
        }

    def submit(
        self,
        application: Sequence[str | Path],
        confs: Mapping[str, str],
        *,
        env: Mapping[str, str] | None = None,
    ) -> Child:
        """Start the image's ``spark-submit`` with the confs in a file."""
        file = self._run.private_file(
            f"{self._name}.properties", "".join(f"{key} {text}\n" for key, text in confs.items())
        )
        command = [self._image / "bin" / "spark-submit", "--properties-file", file, *application]
        variables = {
            **spark_environment(self.conf_dir, self.home),
            "SPARK_HOME": str(self._image),
            "PYSPARK_PYTHON": sys.executable,
            **(env or {}),
        }
        del variables["SPARK_LOCAL_DIRS"]  # Spark would hand it to pods
        return self._run.start(f"{self._name}-submit", command, env=variables)

    def written(self) -> Iterator[tuple[str, bytes]]:
        """Every file of pods but the Secrets' mounts, by its name below `home`."""
        for path in self.home.rglob("*"):
            name = path.relative_to(self.home).as_posix()
            if path.is_file() and not path.is_symlink() and not name.startswith("etc/"):
                yield name, path.read_bytes()


def policies() -> list[Body]:
    """The template's NetworkPolicies: the driver's, and the executors'."""
    return list(yaml.safe_load_all(document(_POLICIES).read_text()))


def selects(selector: Body, pod: Body) -> bool:
    """Whether a selector of pods selects one."""
    wanted: dict[str, str] = selector["podSelector"]["matchLabels"]
    return wanted.items() <= labels(pod).items()


def environment(pod: Body) -> dict[str, str]:
    """The variables in the specification of a pod, those with their values in it."""
    return {each["name"]: each.get("value", "") for each in pod["spec"]["containers"][0]["env"]}


def labels(thing: Body) -> dict[str, str]:
    """An object's labels."""
    return dict(thing["metadata"]["labels"])
