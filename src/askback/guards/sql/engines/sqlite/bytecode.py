"""Programs of SQLite's virtual machine, as EXPLAIN lists them, and what they read.

SQLite reads stored values through cursors alone, so the columns behind its cursors are all that rows and errors can
depend on. These are more than the authorizer hears of (it misses the columns of `JOIN ... USING`) and fewer (a column
of a subquery or a view may not be read, or be read and not used). Operands are described at
https://sqlite.org/opcode.html.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from askback.guards.sql.engines.sqlite.catalogue import Column, SQLiteSchema, Tree, Use
from askback.guards.sql.engines.sqlite.discards import MAX_FOLLOWED, Instruction, find_discarded
from askback.guards.sql.names import split_words

ROOT_IN_REGISTER = 0x10
"""P5 of an opening whose P2 is a register: a table that the program itself has just made."""

SCHEMA_ROOT = 1

COMPARED = split_words(
    "Found IdxGE IdxGT IdxLE IdxLT IfNoHope NoConflict NotFound SeekGE SeekGT SeekLE SeekLT"
)
"""They compare the first P4 fields of the cursor P1 with something, or its whole key."""

KEYED = split_words("DeferredSeek FinishSeek IdxRowid NotExists Rowid SeekEnd SeekRowid")
"""They read the whole key of the cursor P1, or find a row by it."""

CALLS = split_words("AggFinal AggInverse AggStep AggStep1 AggValue Function PureFunc")
"""P4 is the function."""

SILENT = split_words(
    "Count IfSizeBetween Last Next Prev Rewind SeekHit Sort "
    "Abortable Add AddImm Affinity And BeginSubrtn BitAnd BitNot BitOr Blob Cast Close ClrSubtype CollSeq ColumnsUsed "
    "Compare Concat Copy CursorHint CursorLock CursorUnlock DecrJumpZero Delete Divide ElseEq EndCoroutine Eq Expire "
    "Explain Filter FilterAdd Ge GetSubtype Gosub Goto Gt Halt HaltIfNull IdxDelete IdxInsert If IfEmpty IfNot "
    "IfNotOpen IfNotZero IfNullRow IfPos Init InitCoroutine Insert Int64 IntCopy Integer IsNull IsTrue Jump Le Lt "
    "MakeRecord MemMax Move Multiply MustBeInt Ne NewRowid Noop Not NotNull Null NullRow OffsetLimit Once "
    "OpenAutoindex OpenDup OpenEphemeral OpenPseudo Or Param Permutation Program Real RealAffinity ReleaseReg "
    "Remainder ResetCount ResetSorter ResultRow Return RowSetAdd RowSetRead RowSetTest SCopy SeekScan Sequence "
    "SequenceTest SetSubtype ShiftLeft ShiftRight SoftNull SorterCompare SorterData SorterInsert SorterNext SorterOpen "
    "SorterSort String String8 Subtract TableLock Trace TypeCheck VColumn VFilter VInitIn VNext Variable Yield "
    "ZeroOrNull Clear CreateBtree Destroy DropIndex DropTable DropTrigger FkCheck FkCounter FkIfZero ParseSchema "
    "ReadCookie SetCookie VBegin VUpdate"
)
"""They read no stored value. The first of them walk through a tree; the other instructions on the cursor say what
such a walk depends on. The last of them stand in programs that write."""

ALL = 1_000_000
"""More fields than an index can have."""


@dataclass(slots=True)
class Program:
    """The columns that a program reads, and the trees that it reads and writes."""

    columns: set[Column] = field(default_factory=set[Column])
    trees: list[Tree] = field(default_factory=list[Tree])
    """Trees that are opened for reading."""
    written: list[Tree] = field(default_factory=list[Tree])
    """Trees that are opened for writing."""
    virtual: set[str] = field(default_factory=set[str])
    """Virtual tables that are opened, by their addresses in memory."""
    functions: set[str] = field(default_factory=set[str])
    changes: bool = False
    is_vacuum: bool = False
    is_unknown: bool = False
    """Whether something has a number that the catalogue does not have."""


def read_program(
    listing: Iterable[Instruction], catalogue: SQLiteSchema, connection: sqlite3.Connection
) -> Program:
    """Sum up a program and its subprograms, which stand behind it with addresses and cursors of their own."""
    reader = _Reader(catalogue, connection)
    for row in listing:
        if row[0] == 0:
            reader.begin()
        reader.follow(row)
        if row[1] not in SILENT:
            reader.step(row)
    reader.begin()
    return reader.program


class _Reader:
    """Goes through the instructions of a program, one subprogram after the other."""

    def __init__(self, catalogue: SQLiteSchema, connection: sqlite3.Connection) -> None:
        self._catalogue, self._connection = catalogue, connection
        self.program = Program()
        self._open: dict[int, list[Tree]] = {}
        self._uses: defaultdict[int, Use] = defaultdict(Use)
        self._knows_all = True
        self._part: list[Instruction] = []
        self._columns: list[Instruction] = []

    def follow(self, row: Instruction) -> None:
        """Collect the part that is read now. One instruction more than are followed tells that there are too many."""
        if len(self._part) <= MAX_FOLLOWED:
            self._part.append(row)

    def begin(self) -> None:
        """Begin a part, and sum up the one before: what a cursor has read is known once all its openings are."""
        program = self.program
        self._use_columns()
        for cursor, trees in self._open.items():
            for tree in trees:
                program.columns |= tree.read(self._uses[cursor])
        if not self._knows_all:
            for tree in (*program.trees, *program.written):
                program.columns |= tree.whole
        self._open.clear()
        self._uses.clear()

    def _use_columns(self) -> None:
        discarded = find_discarded(self._part)
        for address, _, cursor, place, *_ in self._columns:
            if address not in discarded:
                self._uses[cursor].places.add(place)
        self._part.clear()
        self._columns.clear()

    def step(self, row: Instruction) -> None:
        opcode = row[1]
        if opcode == "Column":
            self._columns.append(row)
        elif opcode in COMPARED:
            use = self._uses[row[2]]
            use.depth = max(use.depth, _count(row))
        elif opcode in KEYED:
            self._uses[row[2]].depth = ALL
        elif opcode in CALLS:
            self.program.functions.add(_function(row))
        else:
            self._step_rare(opcode, row)

    def _step_rare(self, opcode: str, row: Instruction) -> None:
        if opcode in {"OpenRead", "ReopenIdx", "OpenWrite"}:
            self._open_tree(row, is_written=opcode == "OpenWrite")
        elif opcode == "IsType":
            self._uses[row[2]].places.add(row[4])
        elif opcode in {"RowData", "RowCell", "Offset"}:
            self._uses[row[3] if opcode == "RowCell" else row[2]].is_whole = True
        elif opcode == "Transaction":
            self.program.changes |= bool(row[3])
        elif opcode == "VOpen":
            self.program.virtual.add(str(row[5]))
        elif opcode == "Vacuum":
            self.program.is_vacuum = True
        else:
            self._knows_all = False

    def _open_tree(self, row: Instruction, *, is_written: bool) -> None:
        cursor, root, database, flags = row[2], row[3], row[4], row[6]
        if root == SCHEMA_ROOT or (is_written and flags & ROOT_IN_REGISTER):
            return
        entry = None if flags & ROOT_IN_REGISTER else self._catalogue.roots.get((database, root))
        if entry is None:
            self.program.is_unknown = True
            return
        tree = self._catalogue.tree(self._connection, entry)
        if is_written:
            self.program.written.append(tree)
        else:
            self.program.trees.append(tree)
            self._open.setdefault(cursor, []).append(tree)


def _function(row: Instruction) -> str:
    """The name of a function that is written as `lower(1)`."""
    text = str(row[5])
    return text.rpartition("(")[0].lower() or text


def _count(row: Instruction) -> int:
    """How many fields are compared: P4, or all without it."""
    text = str(row[5])
    return int(text) if text.isdecimal() and text != "0" else ALL
