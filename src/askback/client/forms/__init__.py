"""Forms from strangers: read with care (`read_form`), shown (`Blank`, `Entry`), filled in and checked (`Draft`).

One model for every surface. Knows no screen, no wire and no person.
"""

from askback.client.forms.draft import Difference, Draft
from askback.client.forms.form import EntryKind, FormEntry, LeftOut, ReceivedForm
from askback.client.forms.reader import read_form

__all__ = ["Difference", "Draft", "EntryKind", "FormEntry", "LeftOut", "ReceivedForm", "read_form"]
