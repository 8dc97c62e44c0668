"""`make examples`: run each example of this folder as its first lines say, and check what it prints.

It makes a database (Derby, which comes with Spark), a sealed file, and one `job.conf` for all, in a folder that is
removed at the end. No file and no output of an example may hold a password; that is checked too. Name examples to run
these only.
"""

import argparse
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyspark

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
SPARK = Path(pyspark.__file__).parent
POLICY = CHECKOUT / "conf" / "policies" / "shared-server.json"
SECONDS = 180


class ExampleError(Exception):
    """An example did not do what its first lines say."""


class Shop:
    """What the examples work on: a database, a sealed file, and the confs that name it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.values = [secrets.token_urlsafe(18) for _ in range(3)]
        self.url = f"jdbc:derby:{folder}/shop"
        self.output: list[str] = []
        java = os.environ.get("JAVA_HOME")
        self.java = str(Path(java, "bin", "java")) if java else "java"
        self._make_database()
        self._seal()

    def command(self, *words: str | Path, text: str = "") -> str:
        """Run a command in the folder and return all that it prints.

        Args:
            words: program and arguments.
            text: its standard input.

        Raises:
            ExampleError: it fails.
        """
        done = subprocess.run(
            [str(word) for word in words], input=text, cwd=self.folder, env=environment(), capture_output=True,
            text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        shown = done.stdout + done.stderr
        self.output.append(shown)
        if done.returncode != 0:
            lines = [line for line in self.masked(shown).splitlines() if not line.startswith("\tat ")]
            raise ExampleError("\n".join([f"it ended with {done.returncode}:", *lines[-20:]]))
        return shown

    def masked(self, text: str) -> str:
        """A failure must not show what a success hides."""
        for value in self.values:
            text = text.replace(value, "(a password)")
        return text

    def leaks(self) -> list[str]:
        """Where a password stands in clear: outputs, event logs, and every file that was written."""
        found = ["an output" for text in self.output if any(value in text for value in self.values)]
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return found + [
            str(path.relative_to(self.folder))
            for path in files
            if any(value.encode() in path.read_bytes() for value in self.values)
        ]

    def _make_database(self) -> None:
        """In a Java of its own that Py4J starts, as it does PySpark's: Spark 3.5 has no command line of Derby's."""
        from py4j.java_gateway import GatewayParameters, JavaGateway, Py4JError, launch_gateway

        (py4j,) = (SPARK / "jars").glob("py4j-*.jar")
        port, token, java = launch_gateway(
            jarpath=str(py4j), classpath=str(SPARK / "jars" / "*"), java_path=self.java,
            javaopts=["-Dderby.database.sqlAuthorization=true"], die_on_exit=True, enable_auth=True,
            cwd=str(self.folder), return_proc=True,
        )  # fmt: skip
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        passwords = iter(self.values)
        made = False
        try:
            manager = gateway.jvm.java.sql.DriverManager
            connection = manager.getConnection(f"{self.url};create=true", "dba", "")
            lines = (HERE / "shop.sql").read_text().splitlines()
            for statement in " ".join(line for line in lines if not line.startswith("--")).split(";")[:-1]:
                call = connection.prepareCall(statement)
                if "?" in statement:
                    call.setString(1, next(passwords))
                call.execute()
            connection.close()
            made = True
            manager.getConnection("jdbc:derby:;shutdown=true")  # says that it is done by an error
        except Py4JError:  # which may repeat what a statement was given
            pass
        finally:
            gateway.shutdown()
            java.stdin.close()
            java.wait(SECONDS)
        if not made:
            raise ExampleError("the database could not be made")

    def _seal(self) -> None:
        sealed, key = self.folder / "shop.sealed", self.folder / "shop.key"
        where = ("--file", sealed, "--key-file", key)
        sparkconfig = (sys.executable, "-m", "sparkconfig")
        self.command(*sparkconfig, "seal", "create", "--new-key", *where)
        _, shop, payroll = self.values
        for name, value in {"shop": shop, "shared/shop": shop, "payroll": payroll}.items():
            self.command(*sparkconfig, "seal", "set", *where, f"{name}:password", text=value)
        confs = self.command(
            *sparkconfig, "init", "--sealed-file", sealed, "--key-file", key, "--for", "defaults"
        )
        own = {
            "spark.master": "local[2]",
            "spark.shop.jdbc": self.url,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.log.level": "WARN",
        }
        (self.folder / "events").mkdir()
        lines = confs + "".join(f"{key} {value}\n" for key, value in own.items())
        (self.folder / "job.conf").write_text(lines)


def environment() -> dict[str, str]:
    """One Python for all, and this checkout's package; Spark of this environment, whatever else is installed."""
    outside = (
        "SPARK_HOME",
        "SPARK_CONF_DIR",
        "PYSPARK_SUBMIT_ARGS",
        "SPARK_REMOTE",
        "SPARK_CONNECT_MODE_ENABLED",
    )
    plain = {key: value for key, value in os.environ.items() if key not in outside}
    return {**plain, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def submit(program: str, *words: str | Path) -> tuple[str | Path, ...]:
    """The command line of one of Spark's programs, with the confs of all examples."""
    return (SPARK / "bin" / program, "--properties-file", "job.conf", *words)


def batch(shop: Shop) -> str:
    shown = shop.command(*submit("spark-submit", HERE / "orders_batch.py"))
    (file,) = (shop.folder / "orders-by-day").glob("*.csv")
    expect(file.read_text(), "2026-11-01,2,92.50", "2026-11-02,3,32.24")
    expect(shown, "2026-11-02")
    return "two days, five orders"


def sql(shop: Shop) -> str:
    expect(shop.command(*submit("spark-sql", "-f", HERE / "orders.sql")), "largest order\t80.00")
    return "the largest order is 80.00"


def scala(shop: Shop) -> str:
    # Spark 4.0's shell does not know -i (SPARK-52587).
    shown = shop.command(*submit("spark-shell"), text=f":paste {HERE / 'Orders.scala'}\n")
    expect(shown, "orders through Spark: 5, through a client: 5")
    return "five orders through Spark, and through a client of its own"


def connect(shop: Shop) -> str:
    if pyspark.__version__.startswith("3."):
        return "not on Spark 3.5, whose Connect server does not start with sparkconfig"
    port = free_port()
    confs = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        # An operator writes these into sparkconfig.conf, where no job can change them: docs/shared-servers.md.
        "spark.config.override.policy.connect": "Rules",
        "spark.config.override.policy.connect.param.file": str(POLICY),
        # So is this: users of the server name the connection, and see no address and no password.
        "spark.config.connections.shared-shop.format": "jdbc",
        "spark.config.connections.shared-shop.option.url": shop.url,
        "spark.config.connections.shared-shop.option.user": "shop",
        "spark.config.connections.shared-shop.option.password": "${sealed:shared/shop:password}",
    }
    options = [word for key, value in confs.items() for word in ("--conf", f"{key}={value}")]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    log = shop.folder / "server.log"
    with log.open("w") as stream:
        server = subprocess.Popen(
            [str(word) for word in submit("spark-submit", *options, "--class", main, "spark-internal")],
            cwd=shop.folder, env=environment(), stdout=stream, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_for(port, server, log, shop)
        shown = shop.command(sys.executable, HERE / "orders_client.py", f"sc://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait(60)
    refused = ("another team's secret", "a file of the server", "code of one's own")
    expect(shown, "orders: 5", *(f"{what}: refused" for what in refused))
    return "five orders, and three attempts refused"


def stream(shop: Shop) -> str:
    shown = shop.command(*submit("spark-submit", HERE / "orders_stream.py", "shop.sealed", "shop.key"))
    expect(shown, "batch 2 is written with the second password")
    return "two batches, and another password between them"


EXAMPLES: dict[str, Callable[[Shop], str]] = {
    "orders_batch.py": batch,
    "orders.sql": sql,
    "Orders.scala": scala,
    "orders_client.py": connect,
    "orders_stream.py": stream,  # the last one: it changes the password
}


def expect(text: str, *wanted: str) -> None:
    """Raises:
    ExampleError: one of them is missing.
    """
    if missing := [each for each in wanted if each not in text]:
        raise ExampleError(f"it does not say: {', '.join(missing)}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path, shop: Shop) -> None:
    """Until the server answers; a server that has ended never will."""
    until = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise ExampleError(f"the server did not start:\n{shop.masked(log.read_text())[-2000:]}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make examples", description=__doc__)
    parser.add_argument("example", nargs="*", choices=[*EXAMPLES, []], help="all, unless some are named")
    chosen = parser.parse_args().example or list(EXAMPLES)
    folder = Path(tempfile.mkdtemp(prefix="sparkconfig-examples-"))
    failed = 0
    try:
        shop = Shop(folder)
        for name in chosen:
            began = time.monotonic()
            try:
                outcome = EXAMPLES[name](shop)
            except ExampleError as error:
                failed, outcome = 1, f"FAILED: {shop.masked(str(error))}"
            print(f"{name:18} {time.monotonic() - began:4.0f} s  {outcome}", flush=True)
        if leaks := shop.leaks():
            failed = 1
            print(f"FAILED: a password stands in {', '.join(leaks)}")
        else:
            print("No output, event log or other file of the examples holds a password.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
