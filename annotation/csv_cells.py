"""CSV cells that a spreadsheet will not run as formulas, and back. Numbers and JSON stay as they are.

A cell that begins with = + - @ (or their full-width forms, a tab, or a line break) is a formula to a spreadsheet. Such
text gets an apostrophe in front, the spreadsheets' own mark for "this is text". Text that already begins with
apostrophes before such a character gets one more, so that taking one away gives back every text exactly.
"""

from __future__ import annotations

import re

FORMULA = re.compile(r"'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
PLAIN_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?")


def neutralise(text: str) -> str:
    """Text as a cell that no spreadsheet runs. A plain number such as -5.2 is no formula and stays a number."""
    return f"'{text}" if FORMULA.match(text) and not PLAIN_NUMBER.fullmatch(text) else text


def restore(cell: str) -> str:
    """The text that `neutralise` made a cell of."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
