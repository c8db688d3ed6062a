"""Values that a program reads and does not use: columns of a view that SQLite works out for an outer join.

SQLite puts such a view into a transient table, or into the registers of a coroutine, with all of its columns. A value
that is only copied there and never fetched again decides nothing. Whatever else is done with a value is a use of it,
most functions too, which could fail. So is a record that could become too big: beside `zeroblob(999999985)`, an error
tells how long a value is. What is not known for sure is a use.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from askback.guards.sql.names import split_words

Instruction = Sequence[Any]
"""A row of EXPLAIN: address, opcode, P1 to P5, comment."""

LAST_REGISTER = 1_000_000_000

P1, P2, P3, P4, P5 = 2, 3, 4, 5, 6
"""Where the operands stand in a row."""

SINGLE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        split_words(
            "Abortable Affinity BeginSubrtn Blob Close CollSeq Column ColumnsUsed Count CursorLock "
            "CursorUnlock DeferredSeek ElseEq Explain FinishSeek Goto IdxRowid IfEmpty IfNotOpen IfNullRow "
            "IfSizeBetween Init Int64 Integer Jump Last Next Noop Null NullRow Once OpenAutoindex OpenDup "
            "OpenRead Permutation Prev Real RealAffinity ReleaseReg ReopenIdx ResetSorter Rewind RowData "
            "Rowid SeekEnd SeekHit SeekScan Sequence SequenceTest Sort SorterData SorterNext SorterOpen "
            "SorterSort TableLock Trace Transaction VColumn VNext VOpen Variable"
        ),
        (),
    ),
    **dict.fromkeys(
        split_words(
            "AddImm AggFinal BitNot Cast ClrSubtype DecrJumpZero EndCoroutine GetSubtype Gosub If IfNot "
            "IfNotZero IfPos InitCoroutine IntCopy IsNull IsTrue MustBeInt Not NotNull Return RowSetRead "
            "SCopy Yield"
        ),
        (P1,),
    ),
    **dict.fromkeys(
        split_words(
            "Add And BitAnd BitOr Concat Divide MemMax Multiply Or Remainder RowSetAdd SetSubtype ShiftLeft "
            "ShiftRight Subtract"
        ),
        (P1, P2),
    ),
    **dict.fromkeys(split_words("AggValue Eq Ge Gt Le Lt Ne OffsetLimit RowSetTest ZeroOrNull"), (P1, P3)),
    **dict.fromkeys(split_words("OpenPseudo SorterInsert"), (P2,)),
    **dict.fromkeys(split_words("Delete IdxInsert Insert"), (P2, P3)),
    **dict.fromkeys(
        split_words(
            "AggInverse AggStep AggStep1 Halt HaltIfNull IsType NewRowid NotExists OpenEphemeral SeekRowid "
            "SorterCompare String String8"
        ),
        (P3,),
    ),
    "Filter": (P1,),
    "FilterAdd": (P1,),
}
"""Operands that name a register whose value is used. Affinity and its like change a value in its place."""

RANGES: dict[str, tuple[int, int]] = {
    "AggInverse": (P2, P5),
    "AggStep": (P2, P5),
    "AggStep1": (P2, P5),
    "IdxDelete": (P2, P3),
    "MakeRecord": (P1, P2),
    "Move": (P1, P3),
    "ResultRow": (P1, P2),
}
"""The operands that name the first of several registers, and say how many they are."""

KEYS = split_words(
    "Filter FilterAdd Found IdxGE IdxGT IdxInsert IdxLE IdxLT IfNoHope NoConflict NotFound SeekGE SeekGT "
    "SeekLE SeekLT"
)
"""They use P4 registers from P3 on, or P3 alone."""

CALLS = split_words("Function PureFunc")
"""Their arguments begin at P2. P4 tells how many there are, as in `lower(1)`, or that any number can be: `max(-1)`."""

KNOWN = frozenset({*SINGLE, *RANGES, *KEYS, *CALLS, "Compare", "Copy", "VFilter"})

STRAIGHT = split_words(
    "Affinity Blob Column Copy FilterAdd Function IdxInsert IdxRowid Insert Int64 MakeRecord NewRowid Null "
    "NullRow PureFunc Real RealAffinity ResultRow Rowid SCopy Sequence SorterInsert String8"
)
"""They are always followed by the next instruction."""

NOT_JUMPING = STRAIGHT | split_words(
    "Add AddImm AggFinal AggInverse AggStep AggStep1 AggValue And BeginSubrtn BitAnd BitNot BitOr Cast Close "
    "ClrSubtype CollSeq ColumnsUsed Compare Concat Count CursorLock CursorUnlock DeferredSeek Delete Divide "
    "Explain FinishSeek GetSubtype Halt HaltIfNull IdxDelete IntCopy IsTrue MemMax Move Multiply Noop Not "
    "OffsetLimit OpenAutoindex OpenDup OpenEphemeral OpenPseudo OpenRead Or Permutation ReleaseReg Remainder "
    "ReopenIdx ResetSorter RowData RowSetAdd SeekEnd SeekHit SetSubtype ShiftLeft ShiftRight SorterData "
    "SorterOpen String Subtract TableLock Trace Transaction VColumn VOpen Variable ZeroOrNull"
)
"""Their P2 is never the address of an instruction. Every other opcode may jump there."""

RESULTS = {
    **dict.fromkeys(("Column", "Function", "MakeRecord", "PureFunc"), P3),
    **dict.fromkeys(("IdxRowid", "NewRowid", "Rowid"), P2),
}
"""The operand of a straight instruction that names the register to which it always writes."""

FREE = split_words(
    "Abortable Add AddImm Affinity AggFinal AggInverse AggStep AggStep1 AggValue And BeginSubrtn BitAnd "
    "BitNot BitOr Blob Cast ClrSubtype CollSeq Compare Concat Copy DecrJumpZero Divide ElseEq EndCoroutine "
    "Eq Explain Filter FilterAdd Function Ge GetSubtype Gosub Goto Gt Halt HaltIfNull If IfNot IfNotZero "
    "IfPos Init InitCoroutine Int64 IntCopy Integer IsNull IsTrue Jump Le Lt MakeRecord MemMax Move Multiply "
    "MustBeInt Ne Noop Not NotNull Null OffsetLimit Once Or Permutation PureFunc Real RealAffinity "
    "ReleaseReg Remainder ResultRow Return RowSetAdd RowSetRead RowSetTest SCopy SeekScan SetSubtype "
    "ShiftLeft ShiftRight String String8 Subtract TableLock Trace Transaction Variable Yield ZeroOrNull"
)
"""They use no cursor. Of the others P1 is one."""

SECOND_CURSORS = {"DeferredSeek": (P3,), "OpenDup": (P2,), "SorterData": (P3,)}


def list_reads(row: Instruction, previous: Instruction | None = None) -> Iterator[tuple[int, int]]:
    """The first and last registers whose values an instruction uses. Too many rather than too few.

    `previous` is the instruction that always runs directly before it, where there is one.
    """
    opcode = row[1]
    for operand in SINGLE.get(opcode, ()):
        yield row[operand], row[operand]
    if opcode in RANGES:
        start, count = RANGES[opcode]
        yield row[start], row[start] + row[count] - 1
    elif opcode in KEYS:
        yield row[P3], row[P3] + max(_number(row[P4]), 1) - 1
    elif opcode in CALLS:
        yield row[P2], row[P2] + _number(str(row[P4]).rpartition("(")[2].rstrip(")")) - 1
    elif opcode == "VFilter":
        yield row[P3], row[P3] + 1 + _count_arguments(row, previous)
    elif opcode == "Copy":
        yield row[P1], row[P1] + row[P3]
    elif opcode == "Compare":
        count = row[P3] if row[P5] == 0 else LAST_REGISTER  # a Permutation says which
        yield row[P1], row[P1] + count - 1
        yield row[P2], row[P2] + count - 1


def list_targets(row: Instruction) -> tuple[int, ...]:
    """The addresses to which an instruction may jump or let a subroutine return; rather too many of them."""
    if row[1] == "Integer":
        return row[P1], row[P1] + 1
    if row[1] in NOT_JUMPING:
        return ()
    return (row[P1], row[P2], row[P3]) if row[1] in {"Jump", "InitCoroutine"} else (row[P2],)


def list_cursors(row: Instruction) -> tuple[int, ...]:
    """The cursors that an instruction uses."""
    if row[1] in FREE:
        return ()
    return (row[P1], *(row[operand] for operand in SECOND_CURSORS.get(row[1], ())))


def _count_arguments(row: Instruction, previous: Instruction | None) -> int:
    """How many arguments a VFilter has: the number in its second register, which SQLite writes directly before."""
    is_known = previous is not None and previous[1] == "Integer" and previous[P2] == row[P3] + 1
    return previous[P1] if previous is not None and is_known else LAST_REGISTER


def _number(value: object) -> int:
    """P4 where it is a number; anything else counts as very many."""
    text = str(value)
    if text.isdecimal():
        return int(text)
    return 0 if value is None else LAST_REGISTER


MAX_FOLLOWED = 2_000
"""Instructions of a program up to which its values are followed. In a longer one every value counts as used."""

STORING = split_words(
    "Close Column Count IfNullRow Insert Last NewRowid Next NotExists NullRow OpenEphemeral Prev Rewind Rowid SeekRowid"
)
"""Uses of a transient table in which a field decides nothing unless Column fetches it."""

CONSTANTS = split_words("IdxRowid Int64 Integer NewRowid Null Real Rowid String8")
"""They write a number, or a text of the statement, to the register P2."""

HARMLESS_CALLS = frozenset({"lower(1)", "upper(1)", "trim(1)", "ltrim(1)", "rtrim(1)"})
"""They cannot fail, and give nothing that is much longer than what they take."""

OUTER_JOIN = split_words("IfNullRow NullRow")
"""A program without any of these has no outer join over a view, so its values are not followed."""

MAX_FIELDS = 100
"""Fields of a record that cannot become too big: SQLite takes 1,000 million bytes, so that each may have 10 million."""


def find_discarded(rows: Sequence[Instruction]) -> frozenset[int]:
    """Addresses of the Column instructions whose values are not used in a whole program."""
    opcodes = {row[1] for row in rows}
    works_out_view = "OpenEphemeral" in opcodes and not OUTER_JOIN.isdisjoint(opcodes)
    if not works_out_view or not opcodes <= KNOWN or len(rows) > MAX_FOLLOWED:
        return frozenset()
    flow = _Flow(rows)
    return frozenset(row[0] for row in rows if row[1] == "Column" and flow.is_discarded(row))


class _Flow:
    """The instructions that read the values which others have written."""

    def __init__(self, rows: Sequence[Instruction]) -> None:
        self._transient = _find_transient(rows)
        self._fetched = {(row[P1], row[P2]) for row in rows if row[1] == "Column"}
        self._targets = {target for row in rows for target in list_targets(row)}
        self._registers = sorted({row[RESULTS[row[1]]] for row in rows if row[1] in RESULTS})
        self._near: defaultdict[int, list[Instruction]] = defaultdict(list)
        """Readers of the value that the instruction at this address has written."""
        self._far: defaultdict[int, list[Instruction]] = defaultdict(list)
        """Readers of a register for which it is not known which instruction has written the value."""
        self._bounded = _find_bounded(rows)
        self._follow(rows)

    def _follow(self, rows: Sequence[Instruction]) -> None:
        """Find the writer of each value that is read, within pieces of the program that are run straight through."""
        writers: dict[int, int] = {}
        previous: Instruction | None = None
        for row in rows:
            if row[0] in self._targets:
                writers.clear()
                previous = None
            self._record_reads(row, previous, writers)
            previous = row
            if row[1] not in STRAIGHT:
                writers.clear()
            elif row[1] in RESULTS:
                writers[row[RESULTS[row[1]]]] = row[0]

    def _record_reads(self, row: Instruction, previous: Instruction | None, writers: dict[int, int]) -> None:
        for first, last in list_reads(row, previous):
            start, end = bisect_left(self._registers, first), bisect_right(self._registers, last)
            for register in self._registers[start:end]:
                if register in writers and row[1] != "OpenPseudo":  # through which it is read again later
                    self._near[writers[register]].append(row)
                else:
                    self._far[register].append(row)

    def _readers(self, row: Instruction) -> list[Instruction]:
        return self._near[row[0]] + self._far[row[P3]]

    def is_discarded(self, column: Instruction) -> bool:
        return all(
            self._is_stored(reader, column[P3])
            or (_is_harmless_call(reader) and self._is_only_stored(reader))
            for reader in self._readers(column)
        )

    def _is_only_stored(self, call: Instruction) -> bool:
        return all(self._is_stored(reader, call[P3]) for reader in self._readers(call))

    def _is_stored(self, record: Instruction, register: int) -> bool:
        """Whether a record only goes into transient tables from which the field of this register is not fetched."""
        return record[0] in self._bounded and all(
            reader[1] == "Insert"
            and reader[P2] == record[P3] != reader[P3]
            and reader[P1] in self._transient
            and (reader[P1], register - record[P1]) not in self._fetched
            for reader in self._readers(record)
        )


def _find_bounded(rows: Sequence[Instruction]) -> frozenset[int]:
    """The addresses of the records that hold a few stored values and constants and nothing else."""
    stored = _find_stored(rows)
    targets = {target for row in rows if not _is_null_skip(row) for target in list_targets(row)}
    skipped: dict[int, set[int]] = {}
    bounded: set[int] = set()
    registers: set[int] = set()
    for row in rows:
        if row[0] in targets:
            registers.clear()
        registers &= skipped.get(row[0], registers)
        if _is_null_skip(row):
            skipped[row[P2]] = (registers | {row[P3]}) & skipped.get(row[P2], registers | {row[P3]})
        elif row[1] == "Column" and row[P1] in stored:
            registers.add(row[P3])
        elif row[1] in CONSTANTS:
            registers.add(row[P2])
            registers.difference_update(range(row[P2] + 1, row[P3] + 1))  # of a Null for several registers
        elif _is_harmless_call(row) and row[P2] in registers:
            registers.add(row[P3])
        elif row[1] == "MakeRecord" and row[P2] <= MAX_FIELDS:
            if registers.issuperset(range(row[P1], row[P1] + row[P2])):
                bounded.add(row[0])
            registers.discard(row[P3])
        elif row[1] not in {"Affinity", "RealAffinity"}:
            registers.clear()
    return frozenset(bounded)


def _is_null_skip(row: Instruction) -> bool:
    """Whether it writes NULL to a register and jumps further down: an outer join found no row."""
    return row[1] == "IfNullRow" and row[P2] > row[0]


def _find_stored(rows: Sequence[Instruction]) -> frozenset[int]:
    """The cursors of tables and indexes, and of indexes that SQLite makes of them for this statement."""
    opened = {"OpenRead", "OpenAutoindex"}
    others = {
        row[P1] for row in rows if row[1].startswith(("Open", "SorterOpen", "VOpen")) and row[1] not in opened
    }
    return frozenset(row[P1] for row in rows if row[1] in opened and row[P1] not in others)


def _is_harmless_call(row: Instruction) -> bool:
    return row[1] in {"Function", "PureFunc"} and row[P4] in HARMLESS_CALLS


def _find_transient(rows: Sequence[Instruction]) -> frozenset[int]:
    """The cursors of transient tables that have no order of their own and are only walked through."""
    opened = {row[P1] for row in rows if row[1] == "OpenEphemeral" and row[P4] is None}
    ordered = {row[P1] for row in rows if row[1] == "OpenEphemeral" and row[P4] is not None}
    used = {cursor for row in rows if row[1] not in STORING for cursor in list_cursors(row)}
    return frozenset(opened - ordered - used)
