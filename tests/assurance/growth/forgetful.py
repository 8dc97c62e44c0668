"""sparkconfig that remembers old values for a number of generations alone: the 24 hours are zero seconds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import sparkconfig

DATA = "data/redaction.json"


def forgetful(folder: Path, generations: int) -> dict[str, str]:
    """Make it for the JVM and for the side process, and return the confs that choose it."""
    package = Path(sparkconfig.__file__).parent
    rules = json.loads((package / DATA).read_text(encoding="utf-8"))
    rules["canonical"]["forget"] = {"generations": generations, "seconds": 0}
    text = json.dumps(rules)
    # The first on the class path counts.
    for_jvm = folder / "classes" / "io" / "sparkconfig" / "redaction" / "redaction.json"
    for_jvm.parent.mkdir(parents=True)
    for_jvm.write_text(text, encoding="utf-8")
    environment = folder / "forgetful"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    own = next((environment / "lib").glob("python*/site-packages"))
    shutil.copytree(package, own / "sparkconfig", ignore=shutil.ignore_patterns("__pycache__"))
    (own / "sparkconfig" / DATA).write_text(text, encoding="utf-8")
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return {"spark.config.agent.python": str(environment / "bin" / "python")}
