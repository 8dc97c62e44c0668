"""What executors may ask the driver for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sparkconfig._base.text import shorten
from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.files import matcher, name_of
from sparkconfig.resolution.in_use import Use
from sparkconfig.settings.schema import PREFIX, Settings

__all__ = ["ExecutorAccess"]


class ExecutorAccess:
    """Executors may ask for what the driver has used, and for what ``spark.config.worker.references`` names.

    A process with the cluster's RPC secret could pose as an executor, and must not get the whole store.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._used: set[str] = set()
        self._seen: Mapping[str, Use] = {}
        self._named = matcher(settings.worker_references)

    def on_round(self, uses: Mapping[str, Use]) -> None:
        """Remember what the driver uses; the keeper calls it after each round."""
        if uses is not self._seen:  # most rounds change nothing
            self._used.update(reference for use in uses.values() for reference in use.references)
            self._seen = uses

    def check(self, wanted: Mapping[str, Expression], known: Collection[str]) -> None:
        """Check what an executor asks for.

        Args:
            wanted: expressions by id.
            known: the ids of the expressions in use, which need no check.

        Raises:
            UnresolvedReferenceError: names what it may not ask for.
        """
        # Imported here: an application whose executors ask for nothing new needs no policies.
        from sparkconfig.policy.rules.references import SUBSTITUTION, uses_in

        problems: dict[str, None] = {}
        for id_, expression in wanted.items():
            if id_ in known:
                continue
            beside = kafka_options.of_map(expression.siblings)
            uses = uses_in(
                {"": expression.text, **beside},
                self._settings.foreign_providers,
                substitution=self._settings.substitution_enabled,
            )
            for use in uses:
                name = name_of(use.provider, use.path, use.key)
                shown = "a substitution $[...]" if use.provider == SUBSTITUTION else f"${{{shorten(name)}}}"
                if f"${{{name}}}" not in self._used and self._named.fullmatch(name) is None:
                    problems[
                        f"{shown}: executors may ask for what the driver has used, and for what"
                        f" {PREFIX}worker.references names; use it on the driver first, or name it there"
                    ] = None
        if problems:
            raise UnresolvedReferenceError(tuple(problems))
