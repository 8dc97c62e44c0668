"""The driver's Python learns values when a call into the JVM returns; nothing that shows a text goes there."""

from __future__ import annotations

import ast
import json
import logging
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from py4j import java_gateway

from sparkconfig import redaction
from sparkconfig._base import py4j_log
from sparkconfig.redaction import MASK, Registry, jvm

PACKAGE = Path(jvm.__file__).parent
VALUE, LATER = "Canary-of-the-JVM-71", "Canary-of-a-rotation-72"


class Gateway:
    """Ours: a JVM with the plugin, which masks values and counts them in a file."""

    def __init__(self, counter: Path) -> None:
        self.values: list[str] = []
        self.forgotten: list[str] = []
        self.count = 0
        self.masked: list[str] = []
        self.asked: list[str] = []
        self._counter = counter
        self.api = SimpleNamespace(_target_id="o1", mask=self.masked.extend)
        self.client = java_gateway.GatewayClient.__new__(java_gateway.GatewayClient)
        self.client.gateway_parameters = SimpleNamespace(auth_token="0f" * 32)
        self.mask()

    def mask(self, *values: str) -> None:
        self.values += values
        self._tell(len(values))

    def forget(self, value: str) -> None:
        self.forgotten.append(value)
        self._tell(1)

    def _tell(self, more: int) -> None:
        self.count += more
        old = self._counter.read_bytes() if self._counter.exists() else b""
        with self._counter.open("r+b" if old else "w+b") as file:
            file.write(struct.pack("=q", self.count))

    def send(self, _client: object, command: str) -> str:
        self.asked.append(command)
        if "\nvalueCounter\n" in command:
            return f"ys{self._counter}"
        if "\nmaskedValues\n" in command:
            start = int(command.split("\n")[3].removeprefix("L"))
            forgotten, self.forgotten = self.forgotten, []
            news = {"count": self.count, "values": self.values[start:], "forgotten": forgotten}
            return "ys" + json.dumps(news)
        if command == "the call that brings a value":
            self.mask(LATER)
        return "ysanswer"


@pytest.fixture
def gateway(tmp_path, monkeypatch):
    made = Gateway(tmp_path / "counter")
    made.mask(VALUE)
    context = SimpleNamespace(
        _active_spark_context=SimpleNamespace(_jvm=object()),
        _gateway=SimpleNamespace(_gateway_client=made.client),
        _jvm=None,
    )
    made.context = context
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(SparkContext=context))
    registry = Registry()
    for module in (jvm, redaction):
        monkeypatch.setattr(module, "REGISTRY", registry)
    made.registry = registry
    monkeypatch.setattr(jvm, "_hooked", False)
    monkeypatch.setattr(jvm, "_driver", None)
    monkeypatch.setattr(jvm, "_met", (None, None))
    monkeypatch.setattr(jvm, "_revealed", {})
    monkeypatch.setattr(jvm, "driver_api", lambda _: made.api)
    monkeypatch.setattr(py4j_log, "_withheld", [])

    def send(self, command, *_args, **_kwargs):
        return made.send(self, command)

    monkeypatch.setattr(java_gateway.GatewayClient, "send_command", send)
    jvm.install()
    return made


def test_what_the_jvm_masks_is_known_before_an_answer_is_handed_on(gateway):
    assert gateway.registry.redact(VALUE) == MASK
    assert gateway.registry.redact(LATER) == LATER
    gateway.client.send_command("the call that brings a value")
    assert gateway.registry.redact(f"{VALUE} {LATER}") == f"{MASK} {MASK}"


def test_what_the_jvm_forgets_is_forgotten_here_but_for_what_this_process_has_added_itself(gateway):
    gateway.registry.register(["Canary-of-our-own-5"])
    gateway.mask("Canary-of-our-own-5", LATER)
    gateway.client.send_command("a call")
    gateway.mask(*(f"Canary-that-is-forgotten-{number}" for number in range(4)))
    gateway.client.send_command("a call")
    for value in [
        VALUE,
        "Canary-of-our-own-5",
        *(f"Canary-that-is-forgotten-{number}" for number in range(4)),
    ]:
        gateway.forget(value)
    gateway.client.send_command("a call")
    assert gateway.registry.redact(f"{VALUE} {LATER} Canary-of-our-own-5") == f"{VALUE} {MASK} {MASK}"
    before = len(gateway.asked)
    gateway.client.send_command("a call")
    assert len(gateway.asked) == before + 1, "there was no more news"


def test_a_call_that_brings_nothing_costs_no_other_call(gateway):
    before = len(gateway.asked)
    for _ in range(100):
        gateway.client.send_command("a call")
    assert gateway.asked[before:] == ["a call"] * 100


def test_finalizers_of_java_objects_ask_for_nothing(gateway):
    gateway.mask(LATER)
    before = len(gateway.asked)
    gateway.client.send_command("m\nd\no7\ne\n")
    assert gateway.asked[before:] == ["m\nd\no7\ne\n"]


def test_the_token_of_the_gateway_is_a_value(gateway):
    assert gateway.registry.redact("token " + "0f" * 32) == f"token {MASK}"


def test_what_this_process_reveals_is_told_to_each_application_once(gateway):
    redaction.revealed(["Canary-revealed-here-1"])
    redaction.revealed(["Canary-revealed-here-1"])
    assert gateway.masked == ["Canary-revealed-here-1"]
    gateway.context._active_spark_context = None
    redaction.revealed(["Canary-revealed-here-2"])
    assert gateway.masked == ["Canary-revealed-here-1"], "after stop(), no executor would hear of it"
    gateway.context._active_spark_context = SimpleNamespace(_jvm=object())
    gateway.client.send_command("a call")
    assert gateway.masked[1:] == ["Canary-revealed-here-1", "Canary-revealed-here-2"]


def test_a_jvm_without_the_plugin_is_looked_at_once(gateway, monkeypatch):
    looked = []

    class JavaPackage:
        """What Py4J gives for a name that the JVM does not know."""

    monkeypatch.setattr(jvm, "driver_api", lambda _: (looked.append(1), JavaPackage())[1])
    gateway.context._active_spark_context = SimpleNamespace(_jvm=object())
    for _ in range(10):
        gateway.client.send_command("a call")
    assert len(looked) == 1
    assert gateway.registry.redact(VALUE) == MASK


@pytest.mark.parametrize(
    "module",
    ["registry", "search", "tail", "canonical", "windows", "beginnings", "masking", "deep", "finalizers"],
)
def test_what_masks_imports_nothing_when_it_is_called(module):
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    inner = [
        node
        for each in functions
        for node in ast.walk(each)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert not inner


SHOWING = """
import gc, logging, os, sys, threading, types, warnings, weakref
from py4j import java_gateway

folder, value, calls = sys.argv[1], "Canary-of-the-JVM-71", []

def send(self, command, *_, **__):
    calls.append(command)
    return "ys" + (folder + "/counter" if "valueCounter" in command else '{"count": 0, "values": [], "forgotten": []}')

def count(number):
    with open(folder + "/counter", "wb") as file:
        file.write(number.to_bytes(8, sys.byteorder))

count(0)
java_gateway.GatewayClient.send_command = send
client = java_gateway.GatewayClient.__new__(java_gateway.GatewayClient)
client.gateway_parameters = types.SimpleNamespace(auth_token="0f" * 32)
context = types.SimpleNamespace(
    _active_spark_context=types.SimpleNamespace(_jvm=object()), _jvm=None,
    _gateway=types.SimpleNamespace(_gateway_client=client),
)
from sparkconfig import redaction
from sparkconfig.redaction import jvm
from sparkconfig.redaction.sinks import logging as logs, streams, tracebacks
jvm.driver_api = lambda _: types.SimpleNamespace(_target_id="o1", mask=calls.append)
for each in (logs, streams):
    each.install()
sys.modules["pyspark"] = types.SimpleNamespace(SparkContext=context)
jvm.install()
redaction.register([value])
assert calls, "the plugin was not found"
calls.clear()
count(1)

logging.basicConfig(stream=sys.stdout, format="%(message)s")
warnings.simplefilter("always")

class Node:
    def __del__(self):
        logging.warning("__del__ %s", value)
        raise ValueError("unraisable " + value)

def fail():
    print("thread print", value)
    logging.warning("thread log %s", value)
    raise ValueError("thread " + value)

def show():
    print("print", value)
    sys.stdout.write("write " + value + "\\n")
    sys.stdout.flush()
    sys.__stdout__.write("original " + value + "\\n")
    sys.__stdout__.flush()
    sys.stdout.buffer.write(("bytes " + value + "\\n").encode())
    print("half", value, end="")
    print()
    warnings.warn("warning " + value)
    logging.warning("log %s", value)
    try:
        raise KeyError(value)
    except KeyError:
        logging.exception("caught")
    node = Node()
    weakref.finalize(node, print, "finalized", value)
    del node
    gc.collect()

show()
for target in (show, fail):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
child = os.fork()
if not child:
    show()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(len(calls))
_, status = os.waitpid(child, 0)
print("calls", len(calls), status)
raise RuntimeError("at the end " + value)
"""


def test_nothing_that_shows_a_text_calls_the_jvm_though_it_has_news(tmp_path):
    """Prints, writes, bytes, warnings, log records, finalizers and hooks, in threads and a forked child, too."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWING, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "calls 0 0" in done.stdout, done.stderr.replace(VALUE, "")
    shown = done.stdout + done.stderr
    assert VALUE not in shown
    kinds = (
        "print",
        "write",
        "original",
        "bytes",
        "half",
        "warning",
        "log",
        "__del__",
        "unraisable",
        "finalized",
    )
    missing = [kind for kind in kinds if shown.count(f"{kind} {MASK}") < 3]
    assert not missing
    assert shown.count(f"KeyError: '{MASK}'") == 3
    assert f"ValueError: thread {MASK}" in shown
    assert f"RuntimeError: at the end {MASK}" in shown


def test_a_write_under_an_imports_lock_waits_for_no_call(gateway, monkeypatch):
    """One thread holds a module's import lock and writes; another is in a call that waits for that import."""
    calling, written = threading.Event(), threading.Event()
    shown = []

    class Converting:
        def mask(self, values):
            # Py4J's converters import what they convert.
            calling.set()
            assert written.wait(30), "the write waited for this call"

    monkeypatch.setattr(jvm._driver, "_api", Converting())
    revealing = threading.Thread(target=redaction.revealed, args=(["Canary-revealed-here-3"],))
    revealing.start()
    assert calling.wait(30)
    writing = threading.Thread(target=lambda: (shown.append(gateway.registry.redact(VALUE)), written.set()))
    writing.start()
    writing.join(30)
    revealing.join(30)
    assert shown == [MASK]
    assert not revealing.is_alive()


LOG = """
import logging, sys
logging.basicConfig(level="DEBUG", format="%(message)s")
import sparkconfig
from py4j import java_gateway
token = "0a1b" * 16
java_gateway.logger.debug("Command to send: A\\n%s\\ne\\n", token)
java_gateway.logger.debug(f"Answer received: !ys{token}")
java_gateway.logger.debug("Command to send: c\\nt\\ngetOrCreate\\ne\\n")
assert "pyspark" not in sys.modules
"""


def test_py4js_log_shows_no_token_from_the_import_on():
    done = subprocess.run([sys.executable, "-c", LOG], capture_output=True, text=True, check=True)
    assert "0a1b0a1b" not in done.stderr
    assert done.stderr.count(MASK) == 2
    assert "getOrCreate" in done.stderr


def test_an_answer_that_brings_a_value_is_left_out_of_py4js_log(gateway, caplog):
    py4j_log.mask_secrets()
    caplog.set_level(logging.DEBUG, "py4j.java_gateway")
    java_gateway.logger.debug("Answer received: harmless")
    gateway.mask(LATER)
    java_gateway.logger.debug(f"Answer received: {LATER}")
    assert [record.getMessage() for record in caplog.records] == ["Answer received: harmless"]
