"""What a provider that ships with sparkconfig says of itself."""

from __future__ import annotations

from typing import ClassVar

from sparkconfig.providers._kit.params import Param
from sparkconfig.providers.base import ConfigProvider

__all__ = ["Described"]


class Described(ConfigProvider):
    """A provider that declares itself in class attributes.

    The registry, the entry points, the extras, ``sparkconfig providers`` and the docs follow from them.

    Attributes:
        alias: the name in ``spark.config.providers.NAME.class``.
        store: what it reads, for the docs.
        extra: the extra that brings the client, or None when none is needed.
        requires: what the extra installs, as requirements.
        client: the client's module.
        table: its params.
        paths: what path and key mean, as Markdown.
        ttl_rule: where the ttl comes from.
        auth: how it proves who it is, without secrets in confs.
        java: simple names of its counterparts among Java's config providers, which users may write by mistake.
    """

    alias: ClassVar[str]
    store: ClassVar[str]
    extra: ClassVar[str | None] = None
    requires: ClassVar[tuple[str, ...]] = ()
    client: ClassVar[str | None] = None
    table: ClassVar[tuple[Param, ...]] = ()
    paths: ClassVar[str]
    ttl_rule: ClassVar[str] = "none: [until they change](rotation.md#how-soon-a-change-is-used)"
    auth: ClassVar[str]
    java: ClassVar[tuple[str, ...]] = ()
