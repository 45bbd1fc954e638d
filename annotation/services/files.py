"""Files between the web and the workers: what was uploaded, and what can be downloaded.

They lie in folders with random names, for some days. Nothing here is the only copy of human work: an upload is the
user's own file, and an export can be made again.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.models import Project, Run, RunState

MAX_NAME_BYTES = 120
SPARE_UPLOADS = 5


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that was taken in. `place` is its path below the folder of uploads."""

    place: str
    name: str
    size: int
    sha256: str


def keep_upload(name: str, chunks: Iterable[bytes]) -> KeptFile:
    """Store an upload under its own name, in a folder of its own."""
    name = safe_name(name)
    folder = settings.UPLOADS_DIR / secrets.token_hex(16)
    folder.mkdir(parents=True, mode=0o700)
    digest, size = hashlib.sha256(), 0
    try:
        with (folder / name).open("xb") as file:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return KeptFile(f"{folder.name}/{name}", name, size, digest.hexdigest())


def safe_name(name: str) -> str:
    """A file name without folders, control characters or marks that turn the writing around."""
    name = re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", name.replace("\\", "/"))
    name = name.rsplit("/", 1)[-1].strip().lstrip(".")
    stem, dot, suffix = name.rpartition(".")
    suffix = f"{dot}{suffix}" if stem and len(suffix) <= 10 else ""
    stem = name.removesuffix(suffix) if suffix else name
    kept = stem.encode("utf-8", "replace")[: MAX_NAME_BYTES - len(suffix.encode())].decode("utf-8", "ignore")
    return f"{kept}{suffix}" or "upload"


def upload_path(place: str) -> Path:
    path: Path = settings.UPLOADS_DIR / place
    return path


def export_path(name: str) -> Path:
    path: Path = settings.EXPORTS_DIR / name
    return path


def drop_upload(place: str) -> None:
    """Forget an upload that has been imported."""
    if not re.fullmatch(r"[0-9a-f]{32}/[^/]+", place):
        raise ValueError(f"{place!r} is no place of an upload")
    shutil.rmtree(upload_path(place).parent, ignore_errors=True)


def drop_spare_uploads(project: Project) -> None:
    """Forget all but the newest uploads of a project that no unfinished run needs: nobody imports a tenth-last try."""
    runs = Run.objects.filter(project=project, parameters__has_key="upload").order_by("-pk")
    places = list(dict.fromkeys(runs.values_list("parameters__upload", flat=True)))
    unfinished = runs.filter(state__in=(RunState.QUEUED, RunState.RUNNING))
    needed = set(unfinished.values_list("parameters__upload", flat=True))
    for place in places[SPARE_UPLOADS:]:
        if place not in needed:
            drop_upload(place)


def drop_old_files(*, now: dt.datetime) -> int:
    """Forget uploads and exports that nobody has used for some days, but for those that a run still needs."""
    limit = (now - dt.timedelta(days=settings.FILES_KEPT_DAYS)).timestamp()
    unfinished = Run.objects.filter(state__in=(RunState.QUEUED, RunState.RUNNING))
    parameters = unfinished.values_list("parameters", flat=True)
    needed = {str(each.get("upload", "")).split("/")[0] for each in parameters}
    dropped = 0
    for folder in (settings.UPLOADS_DIR, settings.EXPORTS_DIR):
        for entry in list(folder.iterdir()) if folder.is_dir() else []:
            if entry.name not in needed and entry.lstat().st_mtime < limit:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
                dropped += 1
    return dropped
