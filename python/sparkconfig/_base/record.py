"""Classes of named fields, for what the side process imports: it starts with every driver.

They are written as dataclasses are. Those took a third of the time of all imports: each generates six methods when its
module is loaded. Here only ``__init__`` is generated, when the first object is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        """Say nothing: type checkers alone read it."""
        return lambda cls: cls


__all__ = ["Field", "Record", "field"]

_MISSING: Any = object()


class Field(NamedTuple):
    """How a field is filled when it is not given, and whether objects are compared by it."""

    name: str
    default: object = _MISSING
    factory: Callable[[], object] | None = None
    compare: bool = True
    metadata: Any = None


def field(
    *,
    default: Any = _MISSING,  # noqa: ANN401 - a field of any type
    default_factory: Callable[[], object] | None = None,
    compare: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401
    """Declare a field, as :func:`dataclasses.field` does."""
    return Field("", default, default_factory, compare, metadata)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """Objects with these fields, which are equal if their fields are; ``frozen=False``: their fields may be set.

    ``repr`` shows no field, since some hold secrets.
    """

    __record__: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls, *, frozen: bool = True) -> None:
        found = dict(cls.__record__)
        for name, kind in cls.__annotations__.items():
            if str(kind).startswith("ClassVar"):
                continue
            given = vars(cls).get(name, _MISSING)
            if isinstance(given, Field):
                delattr(cls, name)
                found[name] = given._replace(name=name)
            else:
                found[name] = Field(name, given)
        cls.__record__ = found
        changed: Any = cls
        if not frozen:
            changed.__setattr__ = object.__setattr__
            changed.__hash__ = None

        def first(self: object, *args: object, **kwargs: object) -> None:
            changed.__init__ = _initializer(cls)
            changed.__init__(self, *args, **kwargs)

        if "__init__" not in vars(cls):
            changed.__init__ = first

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))

    def _replace(self, **changes: object) -> Self:
        """Return the same with other values of some fields."""
        return type(self)(**{name: getattr(self, name) for name in self.__record__} | changes)


def _compared(record: Any) -> tuple[object, ...]:  # noqa: ANN401
    values = record.__dict__
    return tuple([values[name] for name, each in record.__record__.items() if each.compare])


def _initializer(cls: type[Record]) -> Callable[..., None]:
    scope: dict[str, Any] = {"_missing": _MISSING}
    parameters, lines = ["self"], ["    _own = self.__dict__"]
    for name, each in cls.__record__.items():
        value = name
        scope[f"_default_{name}"] = each.default
        if each.factory is not None:
            scope[f"_make_{name}"] = each.factory
            value = f"_make_{name}() if {name} is _missing else {name}"
        optional = each.factory is not None or each.default is not _MISSING
        parameters.append(f"{name}=_default_{name}" if optional else name)
        lines.append(f"    _own['{name}'] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines), scope)  # noqa: S102 - names of our fields
    made: Callable[..., None] = scope["__init__"]
    return made
