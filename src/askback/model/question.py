"""What is asked: a Form with its FieldSet of fields, or a Visit."""

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
from askback.model.form import SINGLE, FieldSet, Form
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
    "FieldSet",
    "Form",
    "Integer",
    "Number",
    "Option",
    "Question",
    "Text",
    "Url",
    "Visit",
]
