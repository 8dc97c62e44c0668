"""The adapter between the shared conformance cases and this package: one module for each family of ops.

It drives the public API in Kafka-compatible mode and knows no single case. Where our answer is stricter than
Kafka's on purpose, the case's id stands here with the reason:

* ``FP-40`` (and any case of its kind): a symbolic link inside ``allowed.paths`` that leads out is followed by
  Kafka; here the file is not allowed, as if the path itself lay outside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]  # also when it is loaded by its path

from conformance import ops_kip269, ops_kip297, ops_kip421, ops_policy, ops_rotation  # noqa: E402

Op = Callable[[str, Mapping[str, object], Mapping[str, "str | None"]], dict[str, object]]

OPS: dict[str, Op] = {
    "transform": ops_kip297.run,
    "provider_get": ops_kip297.run,
    "allowed_paths": ops_kip297.run,
    "reverse_transform": ops_kip297.run,
    "resolve": ops_kip421.run,
    "kip269": ops_kip269.run,
    "override_policy": ops_policy.run,
    "worker_overrides": ops_policy.run,
    "worker_transform": ops_rotation.run,
}

UNSUPPORTED = {
    "create_topic_request",  # Spark creates no topics: does not apply
}

ERROR_NAMES = {
    **ops_kip269.ERROR_NAMES,
    **ops_kip421.ERROR_NAMES,
    **ops_kip297.ERROR_NAMES,
    **ops_policy.ERROR_NAMES,
}


def run(op: str, case: Mapping[str, object], process_env: Mapping[str, str | None]) -> dict[str, object]:
    """Answer one case: the result fields without ``ok``, or an exception."""
    return OPS[op](op, case, process_env)
