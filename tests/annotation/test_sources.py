"""Files, folders and zips that must not be taken as they are."""

import io
import os
import pickle
import stat
import zipfile
from pathlib import Path

import pytest

from annotation.readers import Limits, UnreadableSource, open_source
from annotation.readers.sources import MAX_LINE_BYTES, text_lines
from annotation.records import Problems

SMALL = Limits(max_bytes=1024 * 1024)


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def lines_of(path: Path) -> tuple[list[str | None], Problems]:
    problems = Problems()
    source = open_source(path, Limits())
    return [text for _, text in text_lines(source, path.name, problems)], problems


def refusal(path: Path, limits: Limits = SMALL) -> str:
    with pytest.raises(UnreadableSource) as caught:
        open_source(path, limits)
    return str(caught.value)


def test_a_missing_path_and_an_empty_file_are_named(tmp_path):
    assert "does not exist" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty.csv").touch()
    assert "empty.csv is empty" in refusal(tmp_path / "empty.csv")


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(500 * 1024 * 1024)  # sparse: takes no space
    message = refusal(path, Limits())
    assert "500 MB" in message
    assert "256 MB" in message
    assert "IMPORT_MAX_MB" in message


def test_a_large_file_in_a_folder_is_refused_when_it_is_opened(tmp_path):
    with (tmp_path / "ids.txt").open("wb") as file:
        file.truncate(2 * 1024 * 1024)
    source = open_source(tmp_path, SMALL)
    with pytest.raises(UnreadableSource, match="the limit is 1 MB"):
        source.open("ids.txt")


def test_files_that_pass_the_limit_together_are_refused(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(b"x" * 500_000)
    source = open_source(tmp_path, SMALL)
    with pytest.raises(UnreadableSource, match="the limit"):
        for name in source.names():
            source.open(name).read()


@pytest.mark.parametrize(
    "name", [".", "../outside.txt", "a/../../outside.txt", "/etc/passwd", "C:/windows", "a\\..\\b"]
)
def test_a_path_out_of_the_zip_is_refused(tmp_path, name):
    path = make_zip(tmp_path / "slip.zip", {"ids.txt": b"a"})
    # writestr cleans names up, so the evil one is put in afterwards.
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name
        archive.writestr(info, b"x")
    assert "leads out of the archive" in refusal(path)
    assert not (tmp_path / "outside.txt").exists()


def test_a_zip_bomb_is_refused_by_its_ratio(tmp_path):
    path = make_zip(tmp_path / "bomb.zip", {"ids.txt": b"\0" * (64 * 1024 * 1024)})
    assert path.stat().st_size < 100_000
    assert "times its size" in refusal(path, Limits())


def test_a_zip_that_unpacks_over_the_limit_is_refused(tmp_path):
    path = make_zip(tmp_path / "big.zip", {"ids.txt": os.urandom(700_000), "more.txt": os.urandom(100) * 7000})
    assert "unpacked" in refusal(path)


def test_a_zip_that_lies_about_its_size_gives_no_more_than_it_claims(tmp_path):
    path = make_zip(tmp_path / "lie.zip", {"ids.txt": b"x" * 50_000})
    content = path.read_bytes().replace((50_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    source = open_source(path, SMALL)
    with pytest.raises(UnreadableSource, match="damaged"):
        source.open("ids.txt").read()
    assert source.bytes_read <= 10


def test_links_passwords_twins_and_crowds_in_a_zip_are_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "holds a link" in refusal(tmp_path / "link.zip")

    with zipfile.ZipFile(tmp_path / "twins.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("ids.txt", "a")
        archive.writestr("ids.txt", "b")
    assert "same name" in refusal(tmp_path / "twins.zip")

    make_zip(tmp_path / "crowd.zip", {f"f{number}": b"" for number in range(10_001)})
    assert "10,001 files" in refusal(tmp_path / "crowd.zip")

    locked = bytearray(make_zip(tmp_path / "locked.zip", {"ids.txt": b"a"}).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(signature) + offset] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    assert "password" in refusal(tmp_path / "locked.zip")


def test_a_cut_zip_and_an_empty_zip_are_refused(tmp_path):
    whole = make_zip(tmp_path / "whole.zip", {"ids.txt": b"a" * 5000}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "not a whole zip" in refusal(tmp_path / "cut.zip")
    for members in ({"__MACOSX/._ids.txt": b"x"}, {}):
        make_zip(tmp_path / "none.zip", members)
        assert "holds no file" in refusal(tmp_path / "none.zip")


def test_damaged_and_oddly_packed_zips_are_refused(tmp_path):
    path = make_zip(tmp_path / "c.zip", {"ids.txt": b"abc" * 1000})
    whole = bytearray(path.read_bytes())
    damaged = whole.copy()
    damaged[40:48] = b"\xff" * 8
    path.write_bytes(damaged)
    with pytest.raises(UnreadableSource, match="damaged"):
        open_source(path, SMALL).open("ids.txt").read()
    packed = whole.copy()
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        packed[packed.index(signature) + offset] = 99
    path.write_bytes(packed)
    with pytest.raises(UnreadableSource, match="cannot be unpacked"):
        open_source(path, SMALL).open("ids.txt")
    renamed = whole.copy()
    renamed[30:37] = b"xxx.txt"
    path.write_bytes(renamed)
    with pytest.raises(UnreadableSource, match="cannot be unpacked"):
        open_source(path, SMALL).open("ids.txt")


def test_a_text_that_begins_like_a_tag_is_a_text(tmp_path):
    (tmp_path / "a.txt").write_text("<headline> Snow fell.")
    assert lines_of(tmp_path / "a.txt")[0] == ["<headline> Snow fell."]


def test_too_many_open_files_are_told(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("x")
    source = open_source(tmp_path, SMALL)

    def fail(*_, **__):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(UnreadableSource, match="ulimit -n"):
        source.open("a.txt")


def test_a_folder_around_everything_is_looked_through(tmp_path):
    path = make_zip(tmp_path / "c.zip", {"REALSumm/ids.txt": b"a", "REALSumm/summaries/x.summary": b"s"})
    assert open_source(path, SMALL).names() == ["ids.txt", "summaries/x.summary"]
    path = make_zip(tmp_path / "d.zip", {"ids.txt": b"a", "summaries/x.summary": b"s"})
    assert open_source(path, SMALL).names() == ["ids.txt", "summaries/x.summary"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps({"a": 1}, protocol=0), "pickle"),
        (pickle.dumps({"a": 1}, protocol=2), "pickle"),
        (pickle.dumps({"a": 1}, protocol=5), "pickle"),
        (pickle.dumps([1, 2], protocol=1), "pickle"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "web page"),
        (b"\xef\xbb\xbf  <html>", "web page"),
        ("text".encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08\x00abc", "gzip"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_files_of_another_kind_are_named(tmp_path, content, words):
    path = tmp_path / "corpus.csv"
    path.write_bytes(content)
    with pytest.raises(UnreadableSource, match=words):
        lines_of(path)


def test_line_ends_and_byte_order_mark(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\u2028still two\x85\nthree".encode())
    lines, problems = lines_of(path)
    assert lines == ["one", "two\u2028still two\x85", "three"]
    assert not problems
    path.write_bytes(b"one\n")
    assert lines_of(path)[0] == ["one", ""]


def test_bad_bytes_are_reported_by_line_and_do_not_stop_the_reading(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\nbad \xe9 byte\nnul \x00 byte\nfine again")
    lines, problems = lines_of(path)
    assert lines == ["fine", None, None, "fine again"]
    assert [(problem.line, problem.message.split(".")[0]) for problem in problems] == [
        (2, "is not UTF-8 (byte 0xE9 at byte 5)"),
        (3, "holds a NUL byte, which is no text"),
    ]


def test_an_endless_line_is_refused_without_reading_it_whole(tmp_path):
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(MAX_LINE_BYTES * 4)
    source = open_source(path, Limits())
    with pytest.raises(UnreadableSource, match="longer than 16 MB"):
        list(text_lines(source, "a.txt", Problems()))
    assert source.bytes_read < MAX_LINE_BYTES * 1.1


def test_a_million_blank_lines_are_read_one_by_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" * 1_000_000)
    assert sum(1 for _ in text_lines(open_source(path, Limits()), "a.jsonl", Problems())) == 1_000_001


def test_problems_beyond_the_first_are_counted_not_kept():
    problems = Problems()
    for number in range(10_000):
        problems.add("f", number, "m")
    assert problems.count == 10_000
    assert len(list(problems)) == Problems.KEPT


def test_a_spreadsheet_is_not_taken_for_a_zip(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    path = tmp_path / "sheet.xlsx"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(UnreadableSource, match="office document"):
        lines_of(path)
