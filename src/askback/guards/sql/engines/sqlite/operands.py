"""Operands of instructions: which registers and cursors they use, as SQLite documents it in `vdbe.c`.

Compared with the sources of 3.54. An opcode that is not listed here has unknown operands.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from askback.guards.sql.names import words_in

Instruction = Sequence[Any]
"""A row of EXPLAIN: address, opcode, P1 to P5, comment."""

LAST_REGISTER = 1_000_000_000

P1, P2, P3, P4, P5 = 2, 3, 4, 5, 6
"""Where the operands stand in a row."""

SINGLE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        words_in(
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
        words_in(
            "AddImm AggFinal BitNot Cast ClrSubtype DecrJumpZero EndCoroutine GetSubtype Gosub If IfNot "
            "IfNotZero IfPos InitCoroutine IntCopy IsNull IsTrue MustBeInt Not NotNull Return RowSetRead "
            "SCopy Yield"
        ),
        (P1,),
    ),
    **dict.fromkeys(
        words_in(
            "Add And BitAnd BitOr Concat Divide MemMax Multiply Or Remainder RowSetAdd SetSubtype ShiftLeft "
            "ShiftRight Subtract"
        ),
        (P1, P2),
    ),
    **dict.fromkeys(words_in("AggValue Eq Ge Gt Le Lt Ne OffsetLimit RowSetTest ZeroOrNull"), (P1, P3)),
    **dict.fromkeys(words_in("OpenPseudo SorterInsert"), (P2,)),
    **dict.fromkeys(words_in("Delete IdxInsert Insert"), (P2, P3)),
    **dict.fromkeys(
        words_in(
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

KEYS = words_in(
    "Filter FilterAdd Found IdxGE IdxGT IdxInsert IdxLE IdxLT IfNoHope NoConflict NotFound SeekGE SeekGT "
    "SeekLE SeekLT"
)
"""They use P4 registers from P3 on, or P3 alone."""

CALLS = words_in("Function PureFunc")
"""Their arguments begin at P2. P4 tells how many there are, as in `lower(1)`, or that any number can be: `max(-1)`."""

KNOWN = frozenset({*SINGLE, *RANGES, *KEYS, *CALLS, "Compare", "Copy", "VFilter"})

STRAIGHT = words_in(
    "Affinity Blob Column Copy FilterAdd Function IdxInsert IdxRowid Insert Int64 MakeRecord NewRowid Null "
    "NullRow PureFunc Real RealAffinity ResultRow Rowid SCopy Sequence SorterInsert String8"
)
"""They are always followed by the next instruction."""

NOT_JUMPING = STRAIGHT | words_in(
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

FREE = words_in(
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
