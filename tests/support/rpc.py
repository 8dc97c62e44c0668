"""The confs without which Spark's RPC is not protected, and no application with the plugin starts on a cluster."""

from __future__ import annotations

import secrets as random


def protected_rpc(secret: str | None = None) -> dict[str, str]:
    """Authentication by ``secret`` (None: a new one) and encryption. A file that holds it must be private."""
    return {
        **protected_rpc_without_secret(),
        "spark.authenticate.secret": random.token_hex(24) if secret is None else secret,
    }


def protected_rpc_without_secret() -> dict[str, str]:
    """The same where something else brings the secret: YARN, or an option of the driver's JVM."""
    return {
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.saslFallback": "false",
    }
