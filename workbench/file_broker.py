"""The embedded broker: kombu's messages as files, but a reader never sees one that is half written.

Kombu opens a message under its final name and then fills it. A worker that looks in between takes an empty file,
cannot read it, loses it, and ends with "Unrecoverable error".
"""

from __future__ import annotations

import logging
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]  # as the class above has it
        """Write the message under a name that no reader looks for, then give it its own in one step."""
        folder = Path(self.data_folder_out)
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        hidden = folder / f"{name}.part"
        try:
            hidden.write_bytes(str_to_bytes(dumps(payload)))
            hidden.replace(folder / name)
        finally:
            hidden.unlink(missing_ok=True)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """A message cut short (a full disk, a power cut) is no reason to end: runs are sent again by the sweeper."""
        try:
            return super()._get(queue)
        except ValueError as error:
            logger.warning("a message for %s cannot be read (%s) and is left out", queue, error)
            raise Empty from error


class Transport(filesystem.Transport):
    Channel = Channel


def register() -> None:
    """Let addresses that begin with filesystem:// mean this broker."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
