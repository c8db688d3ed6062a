"""Forms from strangers: read with care (`read_form`), shown (`Blank`, `Entry`), filled in and checked (`Draft`).

One model for every surface. Knows no screen, no wire and no person.
"""

from askback.client.forms.blank import Blank, Entry, Kind, LeftOut
from askback.client.forms.draft import Difference, Draft
from askback.client.forms.reading import read_form

__all__ = ["Blank", "Difference", "Draft", "Entry", "Kind", "LeftOut", "read_form"]
