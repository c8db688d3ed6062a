"""Callers, as a server reads them from its calls."""

from askback.model.owners import LOCAL
from askback.runtime.context import Caller

LOCAL_CALLER = Caller(name=LOCAL, lasting_name=LOCAL, owner=LOCAL, holder="", is_local=True)
"""The caller on stdio and in memory."""
