"""sparkconfig with bounds that a run of this size reaches.

Old values are masked for 1,000 generations alone, not for 24 hours besides; and 1,000 texts are kept new, not 10,000:
the time that a new text takes grows with their number.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import sparkconfig

DATA = "data/redaction.json"
IN_USE = "resolution/in_use.py"
GENERATIONS, TEXTS = 1000, 1000
SHIPPED = "MOST_IN_USE = 10_000\n"


def forgetful(folder: Path, size: float) -> dict[str, str]:
    """Make it for the JVM and for the side process, and return the confs that choose it."""
    package = Path(sparkconfig.__file__).parent
    rules = json.loads((package / DATA).read_text(encoding="utf-8"))
    rules["canonical"]["forget"] = {"generations": max(2, round(GENERATIONS * size)), "seconds": 0}
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
    code = (package / IN_USE).read_text(encoding="utf-8")
    if code.count(SHIPPED) != 1:
        raise ValueError(f"{IN_USE} has another bound")
    fewer = code.replace(SHIPPED, f"MOST_IN_USE = {max(20, round(TEXTS * size))}\n")
    (own / "sparkconfig" / IN_USE).write_text(fewer, encoding="utf-8")
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return {"spark.config.agent.python": str(environment / "bin" / "python")}
