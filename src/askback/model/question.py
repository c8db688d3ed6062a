"""What is asked: a Form with its Sheet of fields, or a Visit."""

from typing import Any

from askback.model.fields import (
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
from askback.model.form import SINGLE, Form, Sheet
from askback.model.visit import Visit

Question = Form[Any] | Visit

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
    "Question",
    "Sheet",
    "Text",
    "Url",
    "Visit",
]
