"""What the policy tests share."""

import json

from sparkconfig.policy.engine import PolicyEngine
from sparkconfig.policy.request import OverrideRequest
from sparkconfig.settings.operator_file import OperatorFile

CANARY = "s3cret-canary-4711"
VAULT = {"providers": "vault", "providers__vault__class": "file"}


def engine(tmp_path, document=None, *, defaults=None, resolve=None, **settings):
    """An engine with an operator's file; ``document`` is a policy for Rules."""
    confs = {f"spark.config.{name.replace('__', '.')}": text for name, text in settings.items()}
    if document is not None:
        file = tmp_path / "policy.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        for root in ("spark.config.override.policy", "spark.config.create.table.policy"):
            confs[root] = "Rules"
            confs[f"{root}.param.file"] = str(file)
    operator = OperatorFile(tmp_path / "sparkconfig.conf", confs, defaults or {})
    return PolicyEngine.from_operator({}, operator, resolve=resolve)


def request(props=None, **fields):
    return OverrideRequest(**{"job_name": "job", "job_type": "batch", "props": props or {}, **fields})


def rules(*elements, **more):
    return {"rules": list(elements), **more}


def denied(decision):
    return [value.name for value in decision.values if value.errors]
