"""The scopes of policies: where a property is set. Each is declared here and nowhere else."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["CONF_SCOPES", "DOOR_SCOPES", "OPTION_SCOPES", "SCOPES", "Scope"]

ConfScope = Literal["application", "session", "catalog", "hadoop"]
OptionScope = Literal["source", "sink"]
Scope = Literal[ConfScope, OptionScope, "worker"]
"""What a rule may name. ``worker``: a Python worker asks for a value, and nothing is set."""

CONF_SCOPES: tuple[str, ...] = get_args(ConfScope)
OPTION_SCOPES: tuple[str, ...] = get_args(OptionScope)
DOOR_SCOPES = (*OPTION_SCOPES, *CONF_SCOPES)
"""Those in which doors see references before something uses them."""
SCOPES: tuple[str, ...] = (*get_args(Scope), "connector")
"""All that a request may name. ``connector``: Kafka Connect's own meaning (KIP-458), in which names are compared
exactly; no door of Spark uses it."""
