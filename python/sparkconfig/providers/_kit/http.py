"""What HTTP says, as errors of ours; for all clients that speak HTTP."""

from __future__ import annotations

import ssl
import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.params import Param

__all__ = [
    "CA_FILE",
    "OAUTH_REFUSALS",
    "PROXY",
    "ahead_of",
    "clock_note",
    "status_failure",
    "transport_failure",
]

CA_FILE = Param("ca.file", "PEM file with the authorities to trust, instead of the system's")
PROXY = Param("proxy", "URL of an HTTP proxy; unset: the usual environment variables apply")

# OAuth's codes for a login that was refused (RFC 6749); no other answer of a login server is a refusal.
OAUTH_REFUSALS = {
    "access_denied",
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
}
#: Seconds by which a clock may be off before an error mentions it.
_SKEW = 60
_BUSY = {408, 425, 429, 472, 473}


def status_failure(where: str, status: int | None) -> ProviderError:
    """Return the error for an HTTP status; ``where`` names provider and path."""
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED}:
        return AccessDeniedError(f"{where}: not allowed (HTTP {status}); check credentials and permissions")
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return SecretNotFoundError(f"{where}: not found (HTTP {status})")
    if status is None or status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ProviderUnavailableError(f"{where}: the store is not available (HTTP {status})")
    return ProviderError(f"{where}: the store refused the request (HTTP {status}); check path and params")


def ahead_of(date: str | None) -> float:
    """Return by how many seconds this machine's clock is ahead of a server's; 0 if its answer had no date.

    Args:
        date: the answer's header `Date`.
    """
    try:
        return time.time() - parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError):
        return 0.0


def clock_note(date: str | None) -> str:
    """Return what a refusal says of this machine's clock, or "": what is signed with a wrong time is refused."""
    ahead = ahead_of(date)
    if abs(ahead) < _SKEW:
        return ""
    return (
        f"; this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the server's"
    )


def transport_failure(where: str, error: BaseException) -> ProviderUnavailableError:
    """Return the error for a failure below HTTP: names, TLS, connections, time.

    Clients wrap one another's exceptions, so the chain is looked at; only class names reach the message.
    """
    kinds = [type(each).__name__ for each in _chain(error)]
    kind = kinds[0]
    if any("SSL" in each or "Certificate" in each for each in kinds):
        return ProviderUnavailableError(
            f"{where}: TLS failed ({kind}); check that the file in the param ca.file holds the authority"
        )
    if any("NameResolution" in each or each == "gaierror" for each in kinds):
        return ProviderUnavailableError(f"{where}: the host name cannot be resolved ({kind})")
    if any("Timeout" in each or "timeout" in each for each in kinds):
        return ProviderTimeoutError(f"{where}: no answer in time ({kind})")
    return ProviderUnavailableError(f"{where}: the store cannot be reached ({kind})")


def _chain(error: BaseException) -> list[BaseException]:
    """Return the exception, its causes and contexts, and exceptions among its arguments (urllib3's way)."""
    found: list[BaseException] = []
    pending: list[object] = [error]
    while pending and len(found) < 20:
        each = pending.pop(0)
        if isinstance(each, BaseException) and each not in found:
            found.append(each)
            reason = None if isinstance(each, ssl.SSLError) else getattr(each, "reason", None)
            inner = getattr(each, "inner_exception", None)  # azure-core's way
            pending += [each.__cause__, each.__context__, reason, inner, *each.args]
    return found
