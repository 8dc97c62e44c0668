"""How the job is submitted with sparkconfig: everything a person would type, with references only."""

import subprocess
import sys
from pathlib import Path

from demo.job import Stage, Submission
from demo.progress import say
from support.processes import HarnessError

TEMPLATE = Path(__file__).resolve().parents[3] / "conf" / "spark-defaults.conf.template"


class SealedSecrets:
    """A sealed file, made and changed with the project's own command."""

    def __init__(self, stage: Stage) -> None:
        self._run = stage.run
        folder = stage.run.private_dir("secrets")
        self.file = folder / "shop.sealed"
        self.key_file = folder / "shop.key"
        self.command("seal", "create", "--new-key", *self._where())

    def put(self, name: str, value: str) -> None:
        """Seal a value; it goes through standard input, never through the command line."""
        self.command("seal", "set", *self._where(), name, text=value)

    def confs(self) -> dict[str, str]:
        """What differs from the template: where this run keeps its files."""
        param = "spark.config.providers.sealed.param"
        return {f"{param}.file": str(self.file), f"{param}.key.file": str(self.key_file)}

    def command(self, *arguments: str, text: str = "") -> str:
        """Run ``sparkconfig ARGUMENTS`` and return what it prints."""
        say(f"    sparkconfig {' '.join(arguments)}")
        done = subprocess.run(
            [sys.executable, "-m", "sparkconfig", *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env=self._run.environment(),
        )
        if done.returncode != 0:
            raise HarnessError(f"sparkconfig {arguments[0]} failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def _where(self) -> list[str]:
        return ["--file", str(self.file), "--key-file", str(self.key_file)]


def submission(stage: Stage) -> Submission:
    """Seal what the job needs, and submit it with the template of `conf/`."""
    secrets = SealedSecrets(stage)
    # The template refers to the secret that protects Spark's own connections, too.
    secrets.put("spark:rpc", stage.cluster.auth_secret)
    return Submission(
        "sparkconfig",
        publish=lambda password: secrets.put("shop:password", password),
        conf=lambda _: secrets.confs(),
        jars=[Path(secrets.command("jar"))],
        properties=TEMPLATE,
    )
