"""Bodies of requests: models with known, strictly typed fields, made from the signatures of verbs."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, NotRequired, get_args, get_origin, is_typeddict

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model, model_validator
from pydantic_core import PydanticCustomError

from engrain.domain import checks
from engrain.verbs.signatures import Parameter, json_type, type_hints
from engrain.verbs.words import Word

# Some readers refuse a list whose items have no schema.
ANY_JSON: Mapping[str, Any] = {"type": ["array", "boolean", "null", "number", "object", "string"]}
JsonValue = Annotated[Any, WithJsonSchema(dict(ANY_JSON))]


class Body(BaseModel):
    """A JSON object with known fields of strict types; a field that is left out has the library's default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
    makes: ClassVar[type[Any] | None] = None  # the record that it is converted to
    headers: ClassVar[Mapping[str, str]] = {}  # those that carry what is no field, by the names that one may give it

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for name in value:
                if name not in known:
                    message = checks.describe_unknown(str(name), sorted(known), name="field")
                    if name in cls.headers:
                        message = f"field {name!r} is unknown; send it in the header {cls.headers[name]}"
                    raise PydanticCustomError("unknown_field", "{message}", {"message": message})
        return value

    def arguments(self) -> dict[str, Any]:
        """Return the fields that were sent, by the library's names and as its values."""
        return {name: library_value(getattr(self, name)) for name in self.model_fields_set}


def library_value(value: Any) -> Any:
    """Convert the value of a field to the library's: to a record where the body stands for one."""
    if isinstance(value, Body):
        arguments = value.arguments()
        if value.makes is None:
            return arguments
        return value.makes(
            **{name: tuple(item) if isinstance(item, list) else item for name, item in arguments.items()}
        )
    return [library_value(item) for item in value] if isinstance(value, list) else value


def body_of(name: str, parameters: Mapping[str, Parameter], *, headers: Mapping[str, str]) -> type[Body]:
    """Make the body that carries some parameters of a verb; `headers` carry others, by their names."""
    declared = {
        parameter.name: (field_type(parameter), field_of(parameter.word, parameter.default, alias=parameter.json_name))
        for parameter in parameters.values()
    }
    model = _model(name, f"Arguments of {name.removesuffix('Request')}.", declared)
    model.headers = headers
    return model


def field_type(parameter: Parameter) -> Any:
    """Return the type by which pydantic checks a parameter."""
    wire = wire_type(parameter.json_type)
    return wire | None if parameter.is_optional else wire


def field_of(word: Word, default: Any, *, alias: str | None = None) -> Any:
    """Make the pydantic field of a word."""
    return Field(default=... if default is Parameter.NO_DEFAULT else default, alias=alias, **described(word))


def described(word: Word) -> dict[str, Any]:
    """Return description, bounds and examples of a word, by pydantic's names; without those that it has not."""
    bounds = {"ge": word.low, "le": word.high, "max_length": word.most}
    examples = None if word.example is None else [word.example]
    known = {"description": word.sentence, "examples": examples, **bounds}
    return {name: value for name, value in known.items() if value is not None}


def wire_type(of: Any) -> Any:
    """Return a JSON type with a body in the place of every record."""
    if of is Any:
        return JsonValue
    if get_origin(of) is list:
        return list[wire_type(get_args(of)[0])]  # type: ignore[misc]  # a type made here
    if is_typeddict(of) or (isinstance(of, type) and is_dataclass(of)):
        return _body_of_record(of)
    return of


@cache
def _body_of_record(record: type[Any]) -> type[Body]:
    summary = (record.__doc__ or "").strip().partition("\n")[0]
    makes = record if is_dataclass(record) else None
    return _model(f"{record.__name__}Input", summary, dict(_record_fields(record)), makes=makes)


def _record_fields(record: type[Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields of a record or TypedDict: required unless they have a default or are NotRequired."""
    has_default = {field.name for field in fields(record) if field.default == ()} if is_dataclass(record) else set()
    for name, hint in type_hints(record).items():
        is_optional = name in has_default or get_origin(hint) is NotRequired
        declared = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        word = Word(f"{name.replace('_', ' ').capitalize()}.")
        if get_origin(declared) is Annotated:
            declared, word = get_args(declared)
        wire = json_type(declared)
        default = None if is_optional else Parameter.NO_DEFAULT
        if is_optional and is_dataclass(record):
            yield name, (wire, Field(default_factory=list, **described(word)))
        else:
            yield name, (wire | None if is_optional else wire, field_of(word, default))


def _model(
    name: str, summary: str, declared: Mapping[str, tuple[Any, Any]], *, makes: type[Any] | None = None
) -> type[Body]:
    model: type[Body] = create_model(  # type: ignore[call-overload]  # fields by name
        name, __base__=Body, __doc__=summary, **declared
    )
    model.makes = makes
    return model
