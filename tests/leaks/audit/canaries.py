"""Values that one column of the audit uses and nobody else: what is found is that column's leak."""

from __future__ import annotations

import base64
import json
import secrets

from leaks.values import CANARIES

#: Given in clear under a key that names a secret, in every column.
LITERAL = "literal"
#: Put into the conf itself by sparkconfig.
IN_PLACE = "twelve"
#: Stands inside a longer text, which is not a secret itself.
COMPOSED = "composed"


def around(name: str, text: str) -> str:
    """The whole conf in which a secret, or its reference, stands."""
    return f"jdbc:postgresql://shop.example/orders?user=app&password={text}" if name == COMPOSED else text


def fresh() -> dict[str, str]:
    """Every awkward value of `leaks.values`, a private key, and a literal, each with a random part."""
    values = {name: _salted(value) for name, value in CANARIES.items()}
    # Its beginning is searched for by itself, and so must be this column's own.
    values["long"] = secrets.token_hex(4) + CANARIES["long"][8:]
    values["twelve"] = f"zK3${secrets.token_hex(2)}!p5t"
    values["pem"] = _private_key()
    values[COMPOSED] = f"canaryComposed{secrets.token_hex(6)}"
    values["trimmed"] = f"  canaryTrimmed{secrets.token_hex(6)} \n"
    values["document"] = json.dumps({"username": "shop", "password": f"canaryField{secrets.token_hex(6)}"})
    values[LITERAL] = f"literal<&{secrets.token_hex(8)}>\"7'"
    return values


def texts(values: dict[str, str]) -> list[str]:
    """What the search looks for: the values, lines and fields of those that have several, and how the longest begins.

    Errors cut long texts, Python's after 200 characters.
    """
    lines = [
        line.strip()
        for value in values.values()
        if "\n" in value
        for line in value.splitlines()
        if len(line.strip()) >= 16 and not line.startswith("-----")
    ]
    parts = [values["trimmed"].strip(), json.loads(values["document"])["password"]]
    return [*values.values(), *lines, *parts, values["long"][:128]]


def _salted(value: str) -> str:
    return "\n".join(
        line[: len(line) // 2] + secrets.token_hex(4) + line[len(line) // 2 :] for line in value.split("\n")
    )


def _private_key() -> str:
    """What a key in PEM looks like; it opens nothing."""
    body = base64.b64encode(secrets.token_bytes(600)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
