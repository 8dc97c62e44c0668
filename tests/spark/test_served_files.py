"""What a job adds while it runs: the driver serves it to whoever asks, so keys are refused before they are served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.rpc import protected_rpc
from support.shim import shim_jar
from support.starts import run_job

pytestmark = pytest.mark.spark

PEM = "-----BEGIN RSA PRIVATE KEY-----"
FILES = {
    "client.p12": (0o644, "x"),
    "login.properties": (0o600, "x"),
    "client.pem": (0o644, PEM),
    "client.der": (0o644, "0\x81-\x02\x01\0000"),
    "truststore-keystore.jks": (0o644, "x"),
    "rows.csv": (0o644, "x"),
    "code.py": (0o600, "x = 1"),
    "client.truststore.jks": (0o644, "x"),
}
REFUSED = {
    "client.p12": "a keystore",
    "login.properties": "for its owner alone",
    "client.pem": "a private key",
    "client.der": "a private key",
    "truststore-keystore.jks": "a keystore",
}
JOB = '''
import json, socket, struct, sys
from pathlib import Path
from pyspark import SparkFiles
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
folder = Path(sys.argv[1])
ways = {
    "addFile": lambda path: sc.addFile(str(path)),
    "addFile by its address": lambda path: sc.addFile(path.as_uri()),
    "addArchive": lambda path: sc.addArchive(str(path)),
    "addPyFile": lambda path: sc.addPyFile(str(path)),
    "addJar": lambda path: sc._jsc.addJar(str(path)),
    "ADD FILE": lambda path: spark.sql(f"ADD FILE '{path}'"),
    "by a link": lambda path: (folder / ("link-" + path.name)).symlink_to(path)
    or sc.addFile(str(folder / ("link-" + path.name))),
}


def served(kind, name):
    """Ask as a stranger does, who has no secret."""
    asked = f"/{kind}/{name}".encode()
    body = struct.pack(">bi", 6, len(asked)) + asked
    address = sc.getConf().get("spark.driver.host"), int(sc.getConf().get("spark.driver.port"))
    with socket.create_connection(address, 20) as stream:
        stream.sendall(struct.pack(">q", 8 + len(body)) + body)
        return stream.recv(9)[8:] == b"\\x07"  # StreamResponse


seen = {}
for way, add in ways.items():
    for name in sys.argv[2:]:
        try:
            add(folder / name)
            why = ""
        except Exception as error:
            why = str(error)
        seen[f"{way} {name}"] = why, served("files", name) or served("jars", name)
print("read", sc.parallelize([1]).map(lambda _: open(SparkFiles.get("rows.csv")).read()).collect())
spark.stop()
print(json.dumps(seen))
'''


def test_a_key_is_refused_before_it_is_served(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    for name, (mode, content) in FILES.items():
        (tmp_path / name).write_text(content, encoding="latin-1")
        (tmp_path / name).chmod(mode)
    confs = {
        **protected_rpc(),
        "spark.master": "local-cluster[1,1,700]",
        "spark.executor.memory": "600m",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.executor.extraClassPath": str(shim_jar()),
    }
    done = run_job(tmp_path, confs, tmp_path, *FILES)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "read ['x']" in done.stdout
    for what, (why, served) in json.loads(done.stdout.splitlines()[-1]).items():
        name = what.split()[-1]
        if name in REFUSED:
            assert REFUSED[name] in why or what.startswith("addJar"), what  # Spark logs what addJar meets
            assert not served, what
        else:
            assert (why, served) == ("", True), what
