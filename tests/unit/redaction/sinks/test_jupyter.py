"""A real Jupyter kernel: what it sends to the notebook, which saves it to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sparkconfig.redaction import MASK

manager = pytest.importorskip("jupyter_client.manager", reason="Python 3.10's environment has no ipykernel")

SECRET = "Canary-notebook-5&7<9>"
FIRST = """
from sparkconfig import redaction
from sparkconfig.secret import Secret
redaction.install()
value = Secret("Canary-" + "notebook-5&7<9>").reveal()
held = "Canary-in-the-JVM-" + "31"
redaction.REGISTRY.declare([held])
"""


@pytest.fixture(scope="module")
def execute(tmp_path_factory) -> Iterator[object]:
    folder = tmp_path_factory.mktemp("kernel")
    kernel, client = manager.start_new_kernel(
        startup_timeout=60, cwd=str(folder),
        env={"HOME": str(folder), "IPYTHONDIR": str(folder), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip

    def execute(code: str) -> list[dict[str, object]]:
        """Every message that the cell brings, the reply last."""
        told: list[dict[str, object]] = []
        reply = client.execute_interactive(code, timeout=60, output_hook=told.append)
        return [{"type": each["msg_type"], **each["content"]} for each in [*told, reply]]

    first = execute(FIRST)[-1]
    assert first["status"] == "ok", first
    yield execute
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    ("cell", "kinds"),
    [
        ("print(value)", {"stream"}),
        ("import sys; sys.stderr.write(value)", {"stream", "execute_result"}),
        ("print(value[:9], end='', flush=True); print(value[9:], flush=True)", {"stream"}),
        (
            "import sys; sys.stderr.write(value[:9]); sys.stderr.flush(); sys.stderr.write(value[9:])",
            {"stream"},
        ),
        ("value", {"execute_result"}),
        ("[value, {value: 1}]", {"execute_result"}),
        ("from IPython.display import HTML, display; display(HTML(value))", {"display_data"}),
        ("raise ValueError(value)", {"error"}),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError(value)", {"error"}),
        ("exec(value + ' is not Python')", {"error"}),
        ("import logging; logging.warning(value)", {"stream"}),
        ("print(held)", {"stream"}),
        ("held", {"execute_result"}),
        ("raise ValueError(held)", {"error"}),
    ],
)
def test_a_cell_shows_no_value(execute, cell, kinds):
    told = execute(cell)
    text = json.dumps(told)
    assert "Canary-" not in text
    assert kinds <= {each["type"] for each in told}
    shown = [each for each in told if each["type"] in kinds | {"execute_reply"}]
    assert MASK in json.dumps(shown)
    if "error" in kinds:
        assert MASK in json.dumps(told[-1])


def test_what_could_begin_a_value_comes_before_the_cell_ends(execute):
    told = execute("print('one Canary-', end='', flush=True)")
    assert "".join(each["text"] for each in told if each["type"] == "stream") == "one Canary-"
    assert (told[-2]["type"], told[-2].get("execution_state")) == ("status", "idle")


def test_what_holds_no_value_is_shown_as_ever(execute):
    (_, result, _) = [each for each in execute("{'a': [1, 'two']}") if each["type"] != "status"]
    assert result["data"] == {"text/plain": "{'a': [1, 'two']}"}
    error = execute("1 / 0")[-1]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
