"""A small corpus in the Lite2-3Pyramid form, written for the tests: tagged, plain and odd lines."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from django.conf import settings

from annotation.services.files import KeptFile

NBSP = "\u00a0"

FILES = {
    "ids.txt": ["a1", "a2", "a3"],
    "references.txt": [
        f"<t> The mill{NBSP}closed . </t> <t> Forty people lost work . </t>",
        "Ines Brandt won the race in 3.4 hours.",
        "<t> Snow fell {NBSP} . </t>".replace("{NBSP}", NBSP),
    ],
    "documents.txt": ["the mill closed on friday .", "Ines Brandt, 31, won.", ""],
    "SCUs.txt": ["The mill closed.\tForty people lost work.", "Ines Brandt won the race.", "Snow fell."],
    "STUs.txt": ["The mill closed\tForty people lost work", "Ines Brandt won the race in 3.4 hours", ""],
    "STUs_SCUs_percentage50.txt": ["The mill closed\tForty people lost work.", "Ines Brandt won.", "Snow fell."],
    "summaries/alpha.summary": ["The mill shut .", "Brandt won.", "It snowed."],
    "summaries/beta.summary": ["Nothing happened .", "", "☐ snow"],
    "labels/alpha.label": ["1\t0", "1", "1"],
    "labels/beta.label": ["0\t0", "0", "1"],
    "by_examples/fold1.id": ["a3", "a1"],
    "by_examples/fold2.id": ["a2"],
    "by_systems/fold1.sys": ["beta", "alpha"],
}


def write_mini_corpus(folder: Path, changes: dict[str, list[str] | bytes | None] | None = None) -> Path:
    """Write the corpus. `changes` replaces files by name or adds them; None leaves one out."""
    for name, content in {**FILES, **(changes or {})}.items():
        if content is not None:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else "\n".join(content).encode())
    return folder


def as_upload(path: Path) -> KeptFile:
    """A file or folder of a test as if somebody had uploaded it. (A browser would send a folder as a zip.)"""
    place = Path(secrets.token_hex(16)) / path.name
    target = settings.UPLOADS_DIR / place
    target.parent.mkdir(parents=True)
    shutil.copytree(path, target) if path.is_dir() else shutil.copy(path, target)
    return KeptFile(str(place), path.name, 1, "0" * 64)
