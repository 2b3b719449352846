"""What each line of a retailer's ledger says, or why it says nothing; and which run it is of."""

from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import pytest

from tollbook.protocol.errors import SourceError
from tollbook.tasks.uci import periods
from tollbook.tasks.uci.periods import Survey, dealt, survey
from tollbook.tasks.uci.source import HEADER, Broken, Entry, entry_of, read_lines

GOOD: list[tuple[str, Entry]] = [
    (
        "536365,2010-12-01 08:26,85123A,6,2.55,",
        Entry(7, "sale", "536365", "2010-12", 14_944, "85123A", 6, 255, ""),
    ),
    (
        "536414,2010-12-01 11:52,22139,56,0.0,",
        Entry(7, "sale", "536414", "2010-12", 14_944, "22139", 56, 0, ""),
    ),
    (
        "C536506,2010-12-01 12:38,22960,-6,4.25,536488",
        Entry(7, "cancellation", "C536506", "2010-12", 14_944, "22960", -6, 425, "536488"),
    ),
    (
        "A563186,2011-08-12 14:51,B,1,-11062.06,",
        Entry(7, "adjustment", "A563186", "2011-08", 15_198, "B", 1, -1_106_206, ""),
    ),
    (
        "536589,2010-12-01 16:50,BANK CHARGES,-10,0.000,",
        Entry(7, "stock", "536589", "2010-12", 14_944, "BANK CHARGES", -10, 0, ""),
    ),
]

BROKEN: list[tuple[str, str, str | None]] = [
    # code             line                                                 what it comes to
    ("uci.columns",   "",                                                   None),
    ("uci.columns",   "536365,2010-12-01 08:26,85123A,6,2.55",              None),
    ("uci.columns",   '536365,2010-12-01 08:26,"85,123A",6,2.55,',          None),
    ("uci.quantity",  "536365,2010-12-01 08:26,85123A,0,2.55,",             None),
    ("uci.quantity",  "536365,2010-12-01 08:26,85123A,six,2.55,",           None),
    ("uci.quantity",  "536365,2010-12-01 08:26,85123A,1000001,2.55,",       None),
    ("uci.quantity",  "536365,2010-12-01 08:26,85123A,٣,2.55,",             None),
    ("uci.price",     "536365,2010-12-01 08:26,85123A,6,,",                 None),
    ("uci.price",     "536365,2010-12-01 08:26,85123A,6,2.5e1,",            None),
    ("uci.price",     "536365,2010-12-01 08:26,85123A,6,NaN,",              None),
    ("uci.fraction",  "550193,2011-04-15 09:27,PADS,3,0.001,",              "0.003"),
    ("uci.invoice",   ",2010-12-01 08:26,85123A,6,2.55,",                   "15.30"),
    ("uci.invoice",   "536 365,2010-12-01 08:26,85123A,6,2.55,",            "15.30"),
    ("uci.time",      "536365,2010-12-01,85123A,6,2.55,",                   "15.30"),
    ("uci.time",      "536365,2011-02-29 08:26,85123A,6,2.55,",             "15.30"),
    ("uci.time",      "536365,2010-12-01 24:00,85123A,6,2.55,",             "15.30"),
    ("uci.sku",       "536365,2010-12-01 08:26,,6,2.55,",                   "15.30"),
    ("uci.sku",       "536365,2010-12-01 08:26,é,6,2.55,",                  "15.30"),
    ("uci.utf8",      "536365,2010-12-01 08:26,\xff,6,2.55,",               None),
    ("uci.amount",    "536365,2010-12-01 08:26,X,1000000,10000.01,",        "10000010000.00"),
    ("uci.cancels",   "C36365,2010-12-01 08:26,85123A,-6,2.55,5363 65",     "-15.30"),
    ("uci.cancels",   "536365,2010-12-01 08:26,85123A,6,2.55,536364",       "15.30"),
    ("uci.sign",      "536365,2010-12-01 08:26,85123A,-6,2.55,",            "-15.30"),
    ("uci.sign",      "536365,2010-12-01 08:26,85123A,6,-2.55,",            "-15.30"),
    ("uci.sign",      "C36365,2010-12-01 08:26,85123A,6,2.55,",             "15.30"),
    ("uci.sign",      "C36365,2010-12-01 08:26,85123A,-6,0.0,",             "0.00"),
    ("uci.sign",      "A36365,2010-12-01 08:26,85123A,6,0.0,",              "0.00"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "entry"), GOOD)
def test_what_a_line_says(line: str, entry: Entry) -> None:
    assert entry == entry_of(7, line.encode())


@pytest.mark.parametrize(("code", "line", "amount"), BROKEN)
def test_what_is_wrong_with_a_line(code: str, line: str, amount: str | None) -> None:
    found = entry_of(7, line.encode("latin-1" if "\xff" in line else "utf-8"))
    assert isinstance(found, Broken)
    assert (7, code, None if amount is None else Decimal(amount)) == (found.number, found.code, found.amount)


def _file(folder: Path, *lines: str, end: str = "\n") -> Path:
    path = folder / "ledger.csv"
    path.write_bytes("".join(line + end for line in (HEADER, *lines)).encode())
    return path


def test_packed_or_not_and_whatever_ends_its_lines_a_file_reads_the_same(tmp_path: Path) -> None:
    lines = [line for line, _entry in GOOD]
    plain, ends = _file(tmp_path, *lines), tmp_path / "ends.csv"
    ends.write_bytes(plain.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    packed = tmp_path / "ledger.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_lines(plain)) == list(read_lines(ends)) == list(read_lines(packed))
    assert survey(plain) == survey(packed)


def test_a_line_without_end_is_one_line(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD[0][0], "x" * 9_999, GOOD[1][0])
    assert [38, 2_000, 37] == [len(line) for line in read_lines(path)][1:]


def test_a_quote_swallows_no_line(tmp_path: Path) -> None:
    path = _file(tmp_path, '536365,2010-12-01 08:26,"8,6,2.55,', GOOD[0][0])
    assert [Broken, Entry] != [type(item) for _period, item in dealt(path)]  # `"8` is a stock code
    assert 2 == survey(path).lines


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "source.form"),
        (b"invoice,time\n", "source.form"),
        (HEADER.encode(), "source.empty"),
        (HEADER.encode() + b"\nnothing\n", "source.empty"),
        (gzip.compress(HEADER.encode() + b"\n" + GOOD[0][0].encode(), mtime=0)[:-9], "source.read"),
        (b"\x1f\x8bnot packed at all", "source.read"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "ledger.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError) as refused:
        survey(path)
    assert code == refused.value.code


def test_a_missing_file_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        survey(tmp_path / "ledger.csv")


def test_periods_are_months_cut_at_an_invoice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periods, "MAX_LINES", 2)
    lines = ["nothing"]
    lines += [f"{invoice},2011-0{month}-05 10:00,X,1,1.0," for month, invoice in
              ((1, "1"), (1, "2"), (1, "2"), (1, "3"), (2, "4"), (1, "5"), (2, "6"))]  # fmt: skip
    lines.append("nothing")
    path = _file(tmp_path, *lines)
    january, february = ["2011-01"] * 3 + ["2011-01.2"], ["2011-02"] * 2 + ["2011-02.2"] * 2
    assert ["", *january, *february] == [period for period, _item in dealt(path)]


def test_a_survey_says_what_each_period_cancels(tmp_path: Path) -> None:
    path = _file(tmp_path, GOOD[0][0], GOOD[2][0], GOOD[3][0])
    found = survey(path)
    assert Survey(3, {"2010-12": {"536488"}, "2011-08": set()}, found.digest) == found
