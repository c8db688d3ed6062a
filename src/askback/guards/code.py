"""Which function it is, in a text that is the same on every worker: two lambdas have one name."""

from functools import lru_cache
from hashlib import sha256
from inspect import unwrap
from types import CodeType
from typing import Any

_PLAIN = (str, bytes, int, float, complex, type(None))


def identify_function(function: object) -> str:
    """Where it is from, what it is called, and a digest of what it does. What it holds from around it does not count:
    that may change from call to call."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", type(function).__module__)
    code = getattr(unwrap(function) if callable(function) else function, "__code__", None)
    return f"{module} {name} {_digest(code) if isinstance(code, CodeType) else ''}"


@lru_cache(maxsize=1000)
def _digest(code: CodeType) -> str:
    return sha256(repr(_parts(code)).encode("utf-8", "surrogatepass")).hexdigest()


def _parts(code: CodeType) -> list[Any]:
    """Sets have no order that is the same on another worker, and are left out."""
    constants = [one for one in code.co_consts if isinstance(one, _PLAIN)]
    inner = [_parts(one) for one in code.co_consts if isinstance(one, CodeType)]
    return [code.co_code, code.co_names, constants, inner]
