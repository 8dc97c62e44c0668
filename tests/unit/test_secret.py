"""A Secret shows its value to reveal() and to nothing else."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import traceback

import pytest

from sparkconfig import Secret
from sparkconfig.errors import SecretExposureError

VALUE = "tr0ub4dor&3-correct-horse"


def test_reveal_gives_the_value() -> None:
    assert Secret(VALUE).reveal() == VALUE


@pytest.mark.parametrize(
    "show",
    [
        pytest.param(str, id="str"),
        pytest.param(lambda secret: f"{secret}", id="f-string"),
        pytest.param(lambda secret: f"{secret!s:>40}", id="f-string with format"),
        pytest.param("{}".format, id="format"),
        pytest.param(lambda secret: "%s" % secret, id="percent"),  # noqa: UP031 - the point
        pytest.param(pickle.dumps, id="pickle"),
        pytest.param(lambda secret: pickle.dumps({"a": [secret]}, protocol=2), id="pickle inside"),
        pytest.param(copy.copy, id="copy"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(json.dumps, id="json"),
        pytest.param(lambda secret: json.dumps({"a": [secret]}, indent=1), id="json inside"),
        pytest.param(Secret.__getstate__, id="getstate"),
    ],
)
def test_every_other_way_raises_and_points_to_reveal(show) -> None:
    with pytest.raises(TypeError, match=r"\.reveal\(\)") as caught:
        show(Secret(VALUE))
    assert VALUE not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("use", [lambda s: s + "x", lambda s: "x" + s, ",".join, bytes, len, list])
def test_it_is_not_text(use) -> None:
    with pytest.raises(TypeError) as caught:
        use(Secret(VALUE))
    assert VALUE not in str(caught.value)


def test_repr_and_containers_show_a_mask() -> None:
    @dataclasses.dataclass
    class Options:
        password: Secret

    shown = repr([{"password": Secret(VALUE)}, Options(Secret(VALUE))])
    assert VALUE not in shown
    assert shown.count("***") == 2


def test_a_log_line_never_holds_the_value(caplog, monkeypatch, capsys) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    logging.getLogger("x").warning("password is %s", Secret(VALUE))
    logging.getLogger("x").warning("password is %r", Secret(VALUE))
    assert VALUE not in caplog.text + "".join(capsys.readouterr())


def test_it_cannot_be_changed() -> None:
    secret = Secret(VALUE)
    for change in (
        lambda: setattr(secret, "_value", "x"),
        lambda: delattr(secret, "_value"),
        lambda: setattr(secret, "y", 1),
    ):
        with pytest.raises(AttributeError):
            change()
    assert secret.reveal() == VALUE


def test_equality_is_by_value_and_never_with_text() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert hash(Secret(VALUE)) == hash(Secret(VALUE))
    assert Secret(VALUE) != Secret("other")
    assert Secret(VALUE) != VALUE
    assert Secret("\ud800") == Secret("\ud800")


@pytest.mark.parametrize("wrong", [None, b"bytes", 5, ["x"]])
def test_only_text_can_be_secret(wrong) -> None:
    with pytest.raises(SecretExposureError, match="holds text"):
        Secret(wrong)
