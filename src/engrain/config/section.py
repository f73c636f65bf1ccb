"""Sections of settings: values with types, bounds and descriptions, converted and checked when a section is made.

Declared like a dataclass, and made without code generation: a process that changes no setting checks none, so settings
take 3 ms of its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

_TRUTH_VALUES = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False),
}


class InvalidSetting(ValueError):
    """A value that a setting does not accept.

    Attributes:
        path: names from the section down to the value.
        value: what was given.
    """

    def __init__(self, message: str, value: object, path: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.value = value
        self.path = path


class Secret:
    """A text that is shown as asterisks; `get_secret_value()` reveals it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        return self._text

    def __str__(self) -> str:
        return "**********" if self._text else ""

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __len__(self) -> int:
        return len(self._text)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash((Secret, self._text))


class Setting:
    """One setting: its default, bounds, least length and description; `parse` checks or replaces a value."""

    __slots__ = ("_default", "description", "ge", "gt", "le", "min_length", "name", "owner", "parse")

    def __init__(
        self,
        default: Any,
        description: str,
        *,
        ge: float | None = None,
        gt: float | None = None,
        le: float | None = None,
        min_length: int | None = None,
        parse: Callable[[Any], Any] | None = None,
    ) -> None:
        self._default = default
        self.description = description
        self.ge = ge
        self.gt = gt
        self.le = le
        self.min_length = min_length
        self.parse = parse

    def __set_name__(self, owner: type[Section], name: str) -> None:
        self.owner = owner
        self.name = name

    @property
    def default(self) -> Any:
        """The default, made anew where it is a function's."""
        return self._default() if isinstance(self._default, Callable) else self._default  # type: ignore[arg-type]

    @property
    def annotation(self) -> Any:
        return _annotations(self.owner)[self.name]  # type: ignore[arg-type]  # a class is hashable; the value is not

    def convert(self, value: object) -> Any:
        """The value as this setting has it.

        Raises:
            InvalidSetting: wrong type, out of bounds, too short, or refused by `parse`.
        """
        if isinstance(value, bool) and self.annotation is not bool:
            raise InvalidSetting("this setting is no truth value", value)
        converted = _convert(self.annotation, value)
        if converted is None:
            return None
        self._check_bounds(converted, value)
        if self.parse is None:
            return converted
        try:
            return self.parse(converted)
        except ValueError as error:
            raise InvalidSetting(str(error), value) from None

    def _check_bounds(self, converted: Any, value: object) -> None:
        if self.ge is not None and not converted >= self.ge:
            raise InvalidSetting(f"Input should be greater than or equal to {self.ge}", value)
        if self.gt is not None and not converted > self.gt:
            raise InvalidSetting(f"Input should be greater than {self.gt}", value)
        if self.le is not None and not converted <= self.le:
            raise InvalidSetting(f"Input should be less than or equal to {self.le}", value)
        if self.min_length is not None and len(converted) < self.min_length:
            raise InvalidSetting(f"Input should have at least {self.min_length} characters", value)


setting: Callable[..., Any] = Setting
"""Declare one value of a section, whose annotation is its type."""


class Section:
    """A table of the settings file, and a prefix of environment variables; frozen once made.

    Raises:
        InvalidSetting: an unknown name, or a value that its setting refuses.
    """

    declared: ClassVar[Mapping[str, Setting | Section]] = {}

    def __init_subclass__(cls) -> None:
        cls.declared = {
            name: declared
            for name in cls.__annotations__
            if isinstance(declared := vars(cls).get(name), Setting | Section)
        }

    def __init__(self, **values: Any) -> None:
        own = self.__dict__
        for name, declared in self.declared.items():
            if name not in values:
                own[name] = declared if isinstance(declared, Section) else declared.default
                continue
            with _inside(name):
                convert = declared.convert if isinstance(declared, Setting) else declared.section_of
                own[name] = convert(values[name])
        for name in values.keys() - self.declared.keys():
            raise InvalidSetting("this is no setting", values[name], (name,))
        try:
            self.check()
        except ValueError as error:
            raise InvalidSetting(str(error), values) from None

    @classmethod
    def section_of(cls, values: object) -> Section:
        """The section with these values: a mapping, or a section that is made already."""
        if isinstance(values, cls):
            return values
        if not isinstance(values, Mapping):
            raise InvalidSetting("Input should be a table", values)
        return cls(**values)

    def check(self) -> None:
        """Check values against each other; a ValueError says what is wrong."""

    def to_dict(self) -> dict[str, Any]:
        """All values as JSON has them, by name; secrets as asterisks."""
        return {name: _plain(value) for name, value in vars(self).items()}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"settings are frozen: {name} cannot be changed; load them anew")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"settings are frozen: {name} cannot be removed")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # lists and tables have none

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


@cache
def _annotations(section: type[Section]) -> Mapping[str, Any]:
    return get_type_hints(section)


@contextmanager
def _inside(*path: str) -> Iterator[None]:
    """Put these names before the path of what is refused inside."""
    try:
        yield
    except InvalidSetting as error:
        error.path = (*path, *error.path)
        raise


def _convert(kind: Any, value: Any) -> Any:
    """A value as a type has it; numbers and truth values may be text, as a variable has them."""
    origin, members = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        inner = next(member for member in members if member is not NoneType)
        return None if value is None else _convert(inner, value)
    if origin is Literal:
        return _choose(members, value)
    if origin in (list, tuple):
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidSetting(f"Input should be a valid {origin.__name__}", value)
        return origin(_convert_item(members[0], str(place), item) for place, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise InvalidSetting("Input should be a valid dictionary", value)
        return {name: _convert_item(members[1], str(name), item) for name, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, Section):
        return kind.section_of(value)
    return value if kind is Any else _CONVERSIONS[kind](value)


def _convert_item(kind: Any, name: str, value: object) -> Any:
    with _inside(name):
        return _convert(kind, value)


def _choose(choices: tuple[str, ...], value: object) -> str:
    if isinstance(value, str) and value in choices:
        return value
    *others, last = map(repr, choices)
    raise InvalidSetting(f"Input should be {', '.join(others)} or {last}", value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidSetting("Input should be a valid string", value)
    return value


def _secret(value: Any) -> Any:
    return value if hasattr(value, "get_secret_value") else Secret(_text(value))


def _integer(value: object) -> int:
    if not isinstance(value, int | float | str):
        raise InvalidSetting("Input should be a valid integer", value)
    try:
        number = int(value)
    except (ValueError, OverflowError):
        raise InvalidSetting("Input should be a valid integer", value) from None
    if isinstance(value, float) and number != value:
        raise InvalidSetting("Input should be a valid integer, got a number with a fractional part", value)
    return number


def _number(value: object) -> float:
    if not isinstance(value, int | float | str):
        raise InvalidSetting("Input should be a valid number", value)
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise InvalidSetting("Input should be a valid number", value) from None


def _truth_value(value: object) -> bool:
    found = _TRUTH_VALUES.get(str(value).lower()) if isinstance(value, bool | int | str) else None
    if found is None:
        raise InvalidSetting("Input should be a valid boolean: true or false", value)
    return found


_CONVERSIONS: Mapping[Any, Callable[[Any], Any]] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _truth_value,
    Secret: _secret,
}


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return str(value) if hasattr(value, "get_secret_value") else value
