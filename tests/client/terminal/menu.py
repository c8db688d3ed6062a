"""The forms that the tests of the terminal put before a person."""

from typing import Any

TOPPINGS = ["ham", "olives", "onion", "pepper", "corn"]

EVERYTHING: dict[str, Any] = {
    "type": "object",
    "required": ["name", "crust"],
    "properties": {
        "name": {
            "type": "string",
            "title": "Your name",
            "description": "As it should stand on the box.",
            "minLength": 2,
            "maxLength": 40,
        },
        "crust": {"type": "string", "title": "Crust", "enum": ["thin", "thick", "stuffed"]},
        "toppings": {
            "type": "array",
            "title": "Toppings",
            "items": {"anyOf": [{"const": one, "title": one.title()} for one in TOPPINGS]},
            "maxItems": 3,
            "default": ["ham"],
        },
        "tip": {"type": "integer", "title": "Tip in euro", "minimum": 0, "maximum": 20, "default": 2},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "hurry": {"type": "boolean", "title": "In a hurry", "default": False},
        "note": {"type": "string", "title": "Note"},
    },
}
"""Every kind of field once, two of them needed, three filled in."""

FISHING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "password": {"type": "string", "title": "Your password"},
        "note": {"type": "string", "title": "Note"},
    },
}


def text_field(**keywords: Any) -> dict[str, Any]:
    """A form with one field to type into."""
    return {"type": "object", "properties": {"note": {"type": "string", "title": "Note", **keywords}}}
