"""Safe access to what somebody wants imported: a file, a folder or a zip, never more than the limit."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from annotation.records import Problems

MEGABYTE = 1024 * 1024
# A line holds one example at the most; 16 MB is far beyond any text that people summarise.
MAX_LINE_BYTES = 16 * MEGABYTE
MAX_MEMBERS = 10_000
# Text packs about 4 : 1, repetitive text perhaps 20 : 1. A zip that unpacks to a hundred times its size is a bomb.
MAX_ZIP_RATIO = 100
RATIO_COUNTS_FROM = 16 * MEGABYTE


class UnreadableSource(Exception):
    """The file, folder or zip as a whole cannot be taken. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    max_bytes: int = 256 * MEGABYTE


class Source(Protocol):
    """Named files to read from, with a count of the bytes read so far."""

    bytes_read: int
    label: str

    def names(self) -> list[str]: ...
    def size(self, name: str) -> int: ...
    def open(self, name: str) -> BinaryIO: ...
    def close(self) -> None: ...


def open_source(path: Path, limits: Limits) -> Source:
    """Open a path as what it is. The contents decide, not the ending of the name."""
    try:
        if path.is_dir():
            return FolderSource(path, limits)
        if not path.exists():
            raise UnreadableSource(f"{path.name or path} does not exist. Check the path.")
        if not path.is_file():
            raise UnreadableSource(f"{path} is not a file or folder.")
        if path.stat().st_size == 0:
            raise UnreadableSource(f"{path.name} is empty. There is nothing to import.")
        with path.open("rb") as file:
            head = file.read(4)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and path.suffix.lower() not in {".xlsx", ".ods", ".docx"}:
            return ZipSource(path, limits)
        return FileSource(path, limits)
    except PermissionError as error:
        raise UnreadableSource(f"{path} cannot be read: permission denied. Change its permissions.") from error


def few(names: list[str]) -> str:
    """The first names of a listing, for a message."""
    return ", ".join(names[:6]) + (" …" if len(names) > 6 else "") if names else "nothing"


def refuse_size(what: str, size: int, limits: Limits) -> None:
    if size > limits.max_bytes:
        raise UnreadableSource(
            f"{what} holds {size / MEGABYTE:,.0f} MB; the limit is {limits.max_bytes / MEGABYTE:,.0f} MB. "
            "Import it in parts, or raise IMPORT_MAX_MB."
        )


class _Counted(io.RawIOBase):
    """A reader that adds to its source's count and stops at the limit, whatever a zip header claims."""

    def __init__(self, file: BinaryIO, source: FileSource | FolderSource | ZipSource) -> None:
        super().__init__()
        self.file = file
        self.source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self.file.read(len(view))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise UnreadableSource(f"{self.source.label} is damaged ({error}). Make or upload it again.") from error
        view[: len(data)] = data
        self.source.bytes_read += len(data)
        refuse_size(self.source.label, self.source.bytes_read, self.source.limits)
        return len(data)

    def close(self) -> None:
        self.file.close()
        super().close()


def _buffered(file: BinaryIO, source: FileSource | FolderSource | ZipSource) -> BinaryIO:
    return io.BufferedReader(_Counted(file, source), 128 * 1024)


class FileSource:
    """A single file."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.label, self.bytes_read, self.limits = path, path.name, 0, limits
        refuse_size(path.name, path.stat().st_size, limits)

    def names(self) -> list[str]:
        return [self.path.name]

    def size(self, name: str) -> int:
        return self.path.stat().st_size

    def open(self, name: str) -> BinaryIO:
        return _buffered(self.path.open("rb"), self)

    def close(self) -> None:
        pass


class FolderSource:
    """The files of a folder and of its folders, no deeper: no format needs more, and `/` must not be walked."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.label, self.bytes_read = path, path.name or str(path), 0
        self.sizes = dict(self._walk())
        self.limits = limits

    def _walk(self) -> Iterator[tuple[str, int]]:
        found = 0
        for entry in sorted(os.scandir(self.path), key=lambda entry: entry.name):
            inner = sorted(os.scandir(entry), key=lambda entry: entry.name) if entry.is_dir() else [entry]
            for item in inner:
                if item.is_file():
                    found += 1
                    if found > MAX_MEMBERS:
                        raise UnreadableSource(
                            f"{self.label} holds more than {MAX_MEMBERS:,} files. Name the corpus folder."
                        )
                    yield Path(item.path).relative_to(self.path).as_posix(), item.stat().st_size

    def names(self) -> list[str]:
        return list(self.sizes)

    def size(self, name: str) -> int:
        return self.sizes[name]

    def open(self, name: str) -> BinaryIO:
        refuse_size(name, self.sizes[name], self.limits)
        try:
            return _buffered((self.path / name).open("rb"), self)
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE}:
                raise UnreadableSource(
                    f"{self.label} has more files than this process may open at once. Import a zip of it, or raise "
                    "the limit (ulimit -n)."
                ) from error
            raise UnreadableSource(f"{name} cannot be read: {error.strerror}.") from error

    def close(self) -> None:
        pass


class ZipSource:
    """The files of a zip. One folder around everything is looked through, as most zips are made that way."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.label, self.bytes_read = path, path.name, 0
        self.limits = limits
        refuse_size(path.name, path.stat().st_size, limits)
        try:
            self.zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            raise UnreadableSource(f"{path.name} is not a whole zip ({error}). Make or upload it again.") from error
        try:
            self.members = self._checked_members()
        except UnreadableSource:
            self.zip.close()
            raise

    def _checked_members(self) -> dict[str, zipfile.ZipInfo]:
        infos = [info for info in self.zip.infolist() if not info.is_dir()]
        if len(infos) > MAX_MEMBERS:
            raise UnreadableSource(f"{self.label} holds {len(infos):,} files; the limit is {MAX_MEMBERS:,}.")
        for info in infos:
            self._refuse_unsafe(info)
        self._refuse_bomb(infos)
        infos = [info for info in infos if not info.filename.startswith("__MACOSX/")]
        if not infos:
            raise UnreadableSource(f"{self.label} holds no file. There is nothing to import.")
        around = _folder_around([PurePosixPath(info.filename) for info in infos])
        members = {info.filename.removeprefix(around): info for info in infos}
        if len(members) < len(infos):
            raise UnreadableSource(f"{self.label} holds two files of the same name. Zip the folder again.")
        return members

    def _refuse_unsafe(self, info: zipfile.ZipInfo) -> None:
        path = PurePosixPath(info.filename)
        unsafe = ".." in path.parts or path.is_absolute() or "\\" in info.filename
        if not path.parts or unsafe or ":" in path.parts[0]:
            raise UnreadableSource(
                f"{self.label} holds the path {info.filename!r}, which leads out of the archive. Nothing was read."
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UnreadableSource(f"{self.label} holds a link ({info.filename!r}). Zip the files themselves.")
        if info.flag_bits & 0x1:
            raise UnreadableSource(f"{self.label} has a password. Zip the files without one.")

    def _refuse_bomb(self, infos: list[zipfile.ZipInfo]) -> None:
        unpacked = sum(info.file_size for info in infos)
        packed = self.path.stat().st_size
        if unpacked > RATIO_COUNTS_FROM and unpacked > MAX_ZIP_RATIO * packed:
            raise UnreadableSource(
                f"{self.label} unpacks to {unpacked / packed:,.0f} times its size; no text does. Nothing was read."
            )
        refuse_size(f"{self.label}, unpacked,", unpacked, self.limits)

    def names(self) -> list[str]:
        return sorted(self.members)

    def size(self, name: str) -> int:
        return self.members[name].file_size

    def open(self, name: str) -> BinaryIO:
        try:
            # ZipExtFile reads no more than the size in the header, so the sum checked above holds.
            return _buffered(self.zip.open(self.members[name]), self)  # type: ignore[arg-type]
        except (NotImplementedError, zipfile.BadZipFile, RuntimeError) as error:
            raise UnreadableSource(
                f"{name} in {self.label} cannot be unpacked ({error}). Zip the files again."
            ) from error

    def close(self) -> None:
        self.zip.close()


def _folder_around(paths: list[PurePosixPath]) -> str:
    first = {path.parts[0] for path in paths}
    if len(first) == 1 and all(len(path.parts) > 1 for path in paths):
        folder = first.pop()
        # A folder named as a part of a known layout belongs to the layout.
        return "" if folder in {"summaries", "labels", "by_examples", "by_systems"} else f"{folder}/"
    return ""


NOT_TEXT = (
    (b"\x80\x02", "a Python pickle. Pickles can run code and are never read"),
    (b"\x80\x03", "a Python pickle. Pickles can run code and are never read"),
    (b"\x80\x04", "a Python pickle. Pickles can run code and are never read"),
    (b"\x80\x05", "a Python pickle. Pickles can run code and are never read"),
    (b"\x1f\x8b", "a gzip file. Unpack it first, or make a zip"),
    (b"PK\x03\x04", "a zip or an office document. Save a spreadsheet as CSV (UTF-8)"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\xff\xfe", "UTF-16 text. Save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text. Save it as UTF-8"),
)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def wrong_kind(head: bytes) -> str | None:
    """What a file is, in words, if its first bytes show that it is no text to import."""
    for magic, words in NOT_TEXT:
        if head.startswith(magic):
            return words
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip().lower()
    if re.match(rb"<(!doctype|html|head|body|\?xml)[\s>]", start):
        return "a web page (HTML or XML), perhaps an error page of the site. Download the raw file again"
    # Protocol 0 and 1 pickles are text; every one of a dict, list or tuple begins like this.
    if start.startswith(
        (b"(dp0", b"(lp0", b"(dp1", b"(lp1", b"}q", b"]q", b"cposix\n", b"c__builtin__\n", b"cbuiltins\n")
    ):
        return "a Python pickle. Pickles can run code and are never read"
    return None


def text_lines(
    source: Source, name: str, problems: Problems, *, keep_ends: bool = False
) -> Iterator[tuple[int, str | None]]:
    """The lines of a file as (number, text); None where a line cannot be used, which is then among the problems.

    Only LF ends a line (a CR before it is dropped): U+2028 and its kin are part of people's texts. A file that ends
    with LF gives one last empty line, so that the caller can tell both kinds of file apart.
    """
    with source.open(name) as file:
        head = file.peek(512)[:512] if isinstance(file, io.BufferedReader) else b""
        if words := wrong_kind(head):
            raise UnreadableSource(f"{name} is {words}.")
        number, ended = 0, True
        while True:
            raw = file.readline(MAX_LINE_BYTES + 1)
            if not raw:
                if ended:
                    yield number + 1, ""
                return
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                raise UnreadableSource(
                    f"{name}, line {number}, is longer than {MAX_LINE_BYTES // MEGABYTE} MB. "
                    "Is it the right file? One line holds one example at the most."
                )
            ended = raw.endswith(b"\n")
            if number == 1:
                raw = raw.removeprefix(BYTE_ORDER_MARK)
            if not keep_ends:
                raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            yield number, decode_line(raw, name, number, problems)


def decode_line(raw: bytes, name: str, number: int, problems: Problems) -> str | None:
    if b"\x00" in raw:
        problems.add(name, number, "holds a NUL byte, which is no text. Is the file damaged, or UTF-16?")
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add(
            name,
            number,
            f"is not UTF-8 (byte 0x{raw[error.start]:02X} at byte {error.start + 1}). Save the file as UTF-8.",
        )
        return None
