"""`${VAR}` in headers and in mcp.json files, filled in from the environment."""

import re
from collections.abc import Mapping

from askback.cli.exits import Misused

_REFERENCE = re.compile(r"\$\{(?P<inside>[^}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>.*))?", re.DOTALL)


def names_in(text: str) -> list[str]:
    """The variables that a text would be filled in with, in its order."""
    found = (_VARIABLE.fullmatch(one["inside"]) for one in _REFERENCE.finditer(text))
    return [one["name"] for one in found if one is not None]


def fill_in(text: str, values: Mapping[str, str], *, where: str) -> str:
    """`${VAR}`, `${env:VAR}` and `${VAR:-otherwise}` replaced; one that is not set is said, never left empty."""
    return _REFERENCE.sub(lambda found: _value(found["inside"], values, where), text)


def _value(inside: str, values: Mapping[str, str], where: str) -> str:
    variable = _VARIABLE.fullmatch(inside)
    if variable is None:
        raise Misused(
            f"{where} uses ${{{inside}}}, which only another program can fill in. Put ${{SOME_NAME}} there "
            "and set that variable in the environment."
        )
    name, otherwise = variable["name"], variable["default"]
    if name in values:
        return values[name]
    if otherwise is not None:
        return otherwise
    raise Misused(
        f"{where} uses ${{{inside}}}, and {name} is not set. Set it first: export {name}=..., or give a value "
        f"to fall back on: ${{{name}:-...}}."
    )
