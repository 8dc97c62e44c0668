"""A stand-in of ours for the nodes of a cluster: it starts Spark's pods of `RecordingKubernetes` as local processes.

There are no containers: an image is a folder with a Spark, a volume is a folder, and a pod's address is one of
loopback's. A file of hosts, which each pod's JVM reads, resolves the names of Services.
"""

from __future__ import annotations

import base64
import secrets
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from support.fakes.kubernetes_pods import Body, RecordingKubernetes
from support.processes import Child, Run, wait_until
from support.spark_home import java, spark_home

_FAST = "-XX:TieredStopAtLevel=1"


def image(folder: Path, jars: Sequence[Path]) -> Path:
    """Make an image: a SPARK_HOME of links to this environment's Spark, with these jars beside Spark's own."""
    (folder / "jars").mkdir(parents=True)
    for path in spark_home().iterdir():
        if path.name != "jars":
            (folder / path.name).symlink_to(path)
    for path in [*(spark_home() / "jars").iterdir(), *jars]:
        (folder / "jars" / path.name).symlink_to(path)
    return folder


class Kubelet:
    """Starts each new pod, says how it is, and ends it when its object is gone.

    Attributes:
        home: the mounts of pods are below it.
        pods: what runs or ran, by the pod's name.
    """

    def __init__(self, api: RecordingKubernetes, run: Run, *, home: Path, image: Path) -> None:
        """Wait for pods; all of them have this image."""
        self.home, self.pods = home, dict[str, Child]()
        self._api, self._run, self._image = api, run, image
        self._hosts = home / "hosts"
        self._hosts.write_text("127.0.0.1 localhost\n")
        self._mounted: dict[Path, str] = {}
        self._lock = threading.Lock()  # pods of one machine share the folders of their Secrets
        api.created = self._later(self._start)
        api.deleted = self._later(self._end)

    def secret(self, name: str, values: Mapping[str, str]) -> None:
        """Make a Secret, or replace it, also where it is mounted."""
        self._api.secret(name, values)
        with self._lock:
            for folder, mounted in self._mounted.items():
                if mounted == name:
                    self._lay_out(folder, self._data("secrets", name))

    def mount(self, name: str, folder: Path) -> None:
        """Lay out a Secret in a folder, now and whenever it changes."""
        with self._lock:
            if self._mounted.setdefault(folder, name) == name and not folder.exists():
                self._lay_out(folder, self._data("secrets", name))

    @staticmethod
    def _later(what: Callable[[Body], None]) -> Callable[[Body], None]:
        return lambda pod: threading.Thread(target=what, args=(pod,), daemon=True).start()

    def _start(self, pod: Body) -> None:
        name, (container, *_) = pod["metadata"]["name"], pod["spec"]["containers"]
        address = f"127.{secrets.randbelow(254) + 1}.{secrets.randbelow(256)}.{secrets.randbelow(254) + 1}"
        places = self._mount(pod, container)
        pod["status"]["podIP"] = address
        env = {each["name"]: self._here(self._value(each, pod), places) for each in container.get("env", [])}
        self._resolve(pod, address)
        env |= {
            "SPARK_HOME": str(self._image),
            "SPARK_LOCAL_IP": address,
            "PYSPARK_PYTHON": sys.executable,
            "JDK_JAVA_OPTIONS": f"{_FAST} -Djdk.net.hosts.file={self._hosts} {env.get('JDK_JAVA_OPTIONS', '')}",
        }
        arguments = [self._here(text, places) for text in container["args"]]
        folder = self.home / name
        folder.mkdir(exist_ok=True)
        child = self._run.start(f"pod-{name}", self._command(arguments, env), env=env, cwd=folder)
        self.pods[name] = child
        state = {"name": container["name"], "ready": True, "restartCount": 0}
        running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        self._api.pod_status(
            name, {"phase": "Running", "podIP": address, "containerStatuses": [{**state, "state": running}]}
        )
        code = child.process.wait()
        ended = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}}
        phase = "Failed" if code else "Succeeded"
        self._api.pod_status(name, {"phase": phase, "containerStatuses": [{**state, "state": ended}]})

    def _end(self, pod: Body) -> None:
        if child := self.pods.get(pod["metadata"]["name"]):
            child.stop()

    def _command(self, arguments: Sequence[str], env: Mapping[str, str]) -> list[str]:
        """What the entry point of Spark's image makes of the arguments of a container."""
        what, *rest = arguments
        if what == "driver":
            return [
                str(self._image / "bin" / "spark-submit"), "--deploy-mode", "client",
                "--conf", f"spark.driver.bindAddress={env['SPARK_DRIVER_BIND_ADDRESS']}", *rest,
            ]  # fmt: skip
        start = "SPARK_JAVA_OPT_"
        numbered = sorted(
            (int(name[len(start) :]), text) for name, text in env.items() if name.startswith(start)
        )
        path = [env.get("SPARK_EXTRA_CLASSPATH"), env["SPARK_CONF_DIR"], f"{self._image}/jars/*"]
        names = {
            "driver-url": "DRIVER_URL", "executor-id": "EXECUTOR_ID", "cores": "EXECUTOR_CORES",
            "app-id": "APPLICATION_ID", "hostname": "EXECUTOR_POD_IP", "podName": "EXECUTOR_POD_NAME",
            "resourceProfileId": "RESOURCE_PROFILE_ID",
        }  # fmt: skip
        options = [part for name, each in names.items() for part in (f"--{name}", env[f"SPARK_{each}"])]
        return [
            java(), *(text for _, text in numbered), f"-Xmx{env['SPARK_EXECUTOR_MEMORY']}",
            "-cp", ":".join(filter(None, path)),
            "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend", *options,
        ]  # fmt: skip

    def _mount(self, pod: Body, container: Body) -> dict[str, str]:
        """Lay out the volumes of a container; where they are, if not at the paths of their mounts."""
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
        places = {}
        for mount in container.get("volumeMounts", []):
            volume, folder = volumes[mount["name"]], Path(mount["mountPath"])
            if "secret" not in volume:
                folder = self.home / f"{pod['metadata']['name']}-{mount['name']}"
                folder.mkdir()
                places[mount["mountPath"]] = str(folder)
            if "configMap" in volume:
                self._lay_out(folder, self._data("configmaps", volume["configMap"]["name"]))
            if "secret" in volume:
                self.mount(volume["secret"]["secretName"], folder)
        return places

    def _data(self, plural: str, name: str) -> dict[str, str]:
        """What is in an object, which a client may make only after the pod that mounts it."""
        body = wait_until(f"{name} among {plural}", lambda: self._api.get(plural, name), timeout=60)
        data: dict[str, str] = body.get("data") or {}
        if plural == "configmaps":
            return data
        return {key: base64.b64decode(text).decode() for key, text in data.items()}

    @staticmethod
    def _lay_out(folder: Path, data: Mapping[str, str]) -> None:
        """As a kubelet does: keys are links through ``..data`` to a folder that is replaced as a whole."""
        dated = folder / f"..{secrets.token_hex(4)}"
        dated.mkdir(parents=True)
        for key, text in data.items():
            (dated / key).write_text(text)
            if not (folder / key).is_symlink():
                (folder / key).symlink_to(f"..data/{key}")
        (folder / "..next").symlink_to(dated.name)
        (folder / "..next").replace(folder / "..data")

    def _resolve(self, pod: Body, address: str) -> None:
        """Name the Services that select a pod, which Spark makes after it."""
        labels = pod["metadata"]["labels"]
        if labels["spark-role"] != "driver":
            return

        def selecting() -> list[Body]:
            known = self._api.objects("services")
            return [each for each in known if each["spec"]["selector"].items() <= labels.items()]

        for service in wait_until("the driver's Service", selecting, timeout=60):
            with self._hosts.open("a") as file:
                file.write(f"{address} {service['metadata']['name']}.{self._api.NAMESPACE}.svc\n")

    @staticmethod
    def _here(text: str, places: Mapping[str, str]) -> str:
        for there, here in places.items():
            text = text.replace(there, here)
        return text

    def _value(self, variable: Body, pod: Body) -> str:
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            found = pod
            for part in source["fieldRef"]["fieldPath"].split("."):
                found = found[part]
            return str(found)
        if "secretKeyRef" in source:
            return self._data("secrets", source["secretKeyRef"]["name"])[source["secretKeyRef"]["key"]]
        return variable.get("value", "")
