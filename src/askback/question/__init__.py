"""What is asked: a Form, its Sheet, and their fields."""

from askback.question.fields import (
    Boolean,
    Choice,
    Choices,
    Date,
    DateTime,
    Email,
    Field,
    Integer,
    Number,
    Option,
    Text,
    Url,
)
from askback.question.form import SINGLE, Form, Sheet

__all__ = [
    "SINGLE",
    "Boolean",
    "Choice",
    "Choices",
    "Date",
    "DateTime",
    "Email",
    "Field",
    "Form",
    "Integer",
    "Number",
    "Option",
    "Sheet",
    "Text",
    "Url",
]
