"""Files of keys and values (Kafka: ``FileConfigProvider``): ``${file:/path/to/db.properties:password}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from sparkconfig._base.gone import GONE
from sparkconfig._base.text import shorten
from sparkconfig.errors import AccessDeniedError, ConfigurationError, SecretNotFoundError
from sparkconfig.formats import FORMATS, FormatError, format_of, load
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.fields import STRUCTURED, pick
from sparkconfig.providers._kit.params import Param, read_params
from sparkconfig.providers._kit.paths import ALLOWED_PATHS_DOC, AllowedPaths, read_file
from sparkconfig.providers._kit.watch import FilePushes
from sparkconfig.providers.base import ConfigData

__all__ = ["FileConfigProvider"]


class FileConfigProvider(Described, FilePushes):
    """Reads one file for each path, at each use, so that a changed file counts at once."""

    alias = "file"
    java = ("FileConfigProvider",)
    store = "properties, JSON and YAML files"
    table = (
        Param("allowed.paths", ALLOWED_PATHS_DOC),
        Param(
            "format",
            "what the files hold; `auto`: by suffix (`.json`, `.yaml`, `.yml`, anything else is Java properties)."
            " Nested keys are joined by dots: `db.password`, `hosts.0`",
            default="auto",
            choices=("auto", *FORMATS),
        ),
        STRUCTURED,
    )
    paths = "path: a file; key: a key in it"
    auth = "file permissions"

    def __init__(self) -> None:
        super().__init__()
        self._allowed: AllowedPaths | None = None
        self._format = "auto"
        self._structured = False

    @property
    def local(self) -> bool:
        """A read costs microseconds."""
        return True

    def configure(self, params: Mapping[str, str]) -> None:
        """Take the params of ``table``.

        Raises:
            ConfigurationError: a param is unknown or wrong.
        """
        values = read_params(self.alias, self.table, params)
        self._format = values.text("format")
        self._structured = values.text(STRUCTURED.name) == "true"
        self._allowed = AllowedPaths(values.optional("allowed.paths"))

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Read the file at ``path``, once.

        Raises:
            SecretNotFoundError: there is no such file.
            AccessDeniedError: ``allowed.paths`` or the system forbids it.
            ProviderUnavailableError: it cannot be read, or is not in its format.
            ConfigurationError: the provider is not configured, or the format's library is missing.
        """
        data = self._load(path)
        if self._structured:
            data = pick(data, keys, f"file '{shorten(path)}'")
        return ConfigData.of(data, keys)

    def _files(self, path: str, keys: Set[str]) -> Sequence[str]:  # noqa: ARG002 - all keys lie in one file
        usable = self._allowed.usable(path) if self._allowed is not None and path else None
        return [] if usable is None else [usable]

    def _load(self, path: str) -> dict[str, str]:
        if self._allowed is None:
            raise ConfigurationError("provider file: get before configure")
        if not path:
            raise SecretNotFoundError(
                "a reference needs a path and a key, as in ${NAME:/path/to/file.properties:key}"
            )
        usable = self._allowed.usable(path)
        if usable is None:
            raise AccessDeniedError(f"file '{shorten(path)}' is not in allowed.paths")
        content = read_file(usable, self._allowed)
        kind = format_of(path) if self._format == "auto" else self._format
        if advice := GONE.get(f"file.format={kind}"):
            raise ConfigurationError(f"file '{shorten(path)}' is {kind}, which is gone: {advice}")
        try:
            return load(kind, content)
        except FormatError as error:
            problem = f"file '{shorten(path)}' cannot be read as {kind}: {error}"
        raise FormatError(problem)
