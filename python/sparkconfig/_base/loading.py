"""Objects by their dotted Python paths."""

from __future__ import annotations

import importlib

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError

__all__ = ["import_object"]


def import_object(target: str) -> object:
    """Import ``package.module:Name`` or ``package.module.Name``.

    Raises:
        ConfigurationError: the module or the name does not exist, or the import fails.
    """
    module, _, attribute = target.partition(":") if ":" in target else target.rpartition(".")
    problem = "is not a dotted path of a module and a class"
    if all(part.isidentifier() for part in [*module.split("."), *attribute.split(".")]):
        try:
            found: object = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except ImportError as error:
            problem = f"cannot be imported: {error}"  # names modules and the extra to install, no values
        except AttributeError:
            problem = f"cannot be imported: module '{module}' has no '{attribute}'"
        except Exception as error:  # noqa: BLE001 - a module may raise anything while it is imported
            problem = f"cannot be imported: {type(error).__name__} in module '{module}'"
        else:
            return found
    raise ConfigurationError(f"'{shorten(target)}' {problem}")
