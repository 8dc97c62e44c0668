"""For people who write a provider or a policy, or test code that uses a provider.

* :class:`RecordingProvider`: a provider whose answers, changes and failures the test decides, and which
  records every call.
* :class:`ProviderContract` and :class:`ContractCase`: a pytest suite; subclass it, say what your store holds,
  and it checks everything that sparkconfig relies on. Needs pytest.
* :class:`PolicyContract` and :class:`PolicyCase`: the same for an override policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkconfig.testing.recording import ProviderCall, RecordingProvider

if TYPE_CHECKING:
    from sparkconfig.testing.contract import ContractCase, ProviderContract
    from sparkconfig.testing.policy_contract import PolicyCase, PolicyContract

__all__ = [
    "ContractCase",
    "PolicyCase",
    "PolicyContract",
    "ProviderCall",
    "ProviderContract",
    "RecordingProvider",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol
    if name in {"ContractCase", "ProviderContract"}:
        from sparkconfig.testing import contract

        return getattr(contract, name)
    if name in {"PolicyCase", "PolicyContract"}:
        from sparkconfig.testing import policy_contract

        return getattr(policy_contract, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
