"""The embedded broker between processes that write and read at the same time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from kombu import Connection

from workbench import file_broker

WRITER = """
import sys
from kombu import Connection
from workbench import file_broker
file_broker.register()
options = {name: sys.argv[1] for name in ("data_folder_in", "data_folder_out", "control_folder")}
with Connection("filesystem://", transport_options=options) as connection:
    queue = connection.SimpleQueue("nlp")
    for number in range(int(sys.argv[2])):
        queue.put({"number": number, "filling": "x" * 20_000})
"""
MESSAGES = 300


@pytest.fixture
def options(tmp_path) -> dict[str, str]:
    file_broker.register()
    return {name: str(tmp_path) for name in ("data_folder_in", "data_folder_out", "control_folder")}


def test_every_message_arrives_whole_while_it_is_written(options, tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(MESSAGES)])
    found: list[int] = []
    with Connection("filesystem://", transport_options=options) as connection:
        queue = connection.SimpleQueue("nlp")
        deadline = time.monotonic() + 60
        while len(found) < MESSAGES and time.monotonic() < deadline:
            try:
                message = queue.get_nowait()
            except queue.Empty:
                continue
            found.append(message.payload["number"])
            message.ack()
    assert writer.wait(10) == 0
    assert sorted(found) == list(range(MESSAGES))
    assert not list(Path(tmp_path).glob("*.msg*"))


def test_a_reader_who_looks_too_early_finds_nothing(options, monkeypatch):
    early: list[bool] = []
    with Connection("filesystem://", transport_options=options) as connection:
        queue = connection.SimpleQueue("early")

        def look_first(source: Path, target: Path) -> None:
            with pytest.raises(queue.Empty):
                queue.get_nowait()
            early.append(True)
            rename(source, target)

        rename = Path.replace
        monkeypatch.setattr("workbench.file_broker.Path.replace", look_first)
        queue.put({"number": 1})
        assert early == [True]
        assert queue.get_nowait().payload == {"number": 1}


def test_a_message_that_cannot_be_written_leaves_nothing(options, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.file_broker.Path.replace", full)
    with Connection("filesystem://", transport_options=options) as connection:
        queue = connection.SimpleQueue("full")
        with pytest.raises(OSError, match="No space"):
            queue.put({"number": 1})
    assert not list(Path(tmp_path).glob("*.msg*"))


def test_a_message_cut_short_is_left_out_and_the_next_one_is_read(options, tmp_path, caplog):
    (tmp_path / "0_a.cut.msg").write_bytes(b'{"body": ')
    with Connection("filesystem://", transport_options=options) as connection:
        queue = connection.SimpleQueue("cut")
        queue.put({"number": 1})
        with pytest.raises(queue.Empty):
            queue.get_nowait()
        assert queue.get_nowait().payload == {"number": 1}
    assert "a message for cut cannot be read" in caplog.text
