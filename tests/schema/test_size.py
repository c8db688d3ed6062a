"""How deep a value is nested: counted by us, because each Python stops elsewhere."""

from typing import Any

import pytest

from askback.errors import QuestionRefused
from askback.schema.forms import require_meta
from askback.schema.size import exceeds_depth


def nested(levels: int) -> Any:
    value: Any = "inside"
    for number in range(levels):
        value = {"a": value} if number % 2 else [value]
    return value


@pytest.mark.parametrize("levels", [0, 1, 2, 3, 99, 100, 5_000])
def test_depth_is_counted_in_lists_and_dicts(levels: int):
    assert not exceeds_depth(nested(levels), levels)
    assert levels == 0 or exceeds_depth(nested(levels), levels - 1)


def test_empty_lists_and_dicts_count_and_what_lies_beside_does_not():
    assert exceeds_depth([[]], 1) and exceeds_depth({"a": {}}, 1) and exceeds_depth(([],), 1)
    assert not exceeds_depth([1, [2], {"a": 3}, [4]], 2)


@pytest.mark.parametrize("levels", [101, 600, 1_200, 3_000, 8_000])
def test_meta_is_nested_too_deeply_at_the_same_depth_on_every_python(levels: int):
    require_meta({"a": nested(99)})
    with pytest.raises(QuestionRefused, match="nested too deeply, over 100 levels"):
        require_meta({"a": nested(levels - 1)})
