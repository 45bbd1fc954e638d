"""The whole way over a real connection: boto3 as it is, and the AWS command line tool as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mturk.exchange.models import Requester
from mturk.exchange.services import clock
from mturk.exchange.services.payouts import list_owed
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import assert_balanced, connect
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.exchange.walking import HIT, counts, hit_of, money, publish, refused, submit

AWS = Path(sys.executable).parent / "aws"


@pytest.fixture
def lab(transactional_db: None, live_server: Any, settings: Any) -> Any:
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"
    yield create_requester("Lab", now=clock.now(), deposit_cents=10_000)
    assert_balanced()


def test_an_unmodified_boto3_goes_the_whole_way(lab: Requester, live_server: Any) -> None:
    mturk = connect(lab, live_server.url)
    ada, bob, eve = (WorkerFactory.create() for _ in range(3))
    type_id = mturk.create_qualification_type(
        Name="Trained", Description="Passed the training.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    for worker in (ada, bob, eve):
        mturk.associate_qualification_with_worker(
            QualificationTypeId=type_id, WorkerId=worker.worker_id, IntegerValue=80
        )
    needs = [
        {"QualificationTypeId": type_id, "Comparator": "GreaterThan", "IntegerValues": [70], "ActionsGuarded": "Accept"}
    ]
    hit_id = publish(mturk, QualificationRequirements=needs, UniqueRequestToken="t1", RequesterAnnotation="b1")
    assert [hit["HITId"] for page in mturk.get_paginator("list_hits").paginate() for hit in page["HITs"]] == [hit_id]
    for worker in (ada, bob, eve):
        submit(hit_id, worker)
    rows = mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Submitted"])["Assignments"]
    first, second, third = [row["AssignmentId"] for row in rows]
    mturk.approve_assignment(AssignmentId=first, RequesterFeedback="Thank you")
    mturk.reject_assignment(AssignmentId=second, RequesterFeedback="Nothing was answered")
    mturk.approve_assignment(AssignmentId=second, OverrideRejection=True)
    mturk.approve_assignment(AssignmentId=third)
    mturk.send_bonus(
        WorkerId=ada.worker_id, AssignmentId=first, BonusAmount="0.55", Reason="It took longer", UniqueRequestToken="b"
    )
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 3)
    assert money(mturk) == ("98.85", "0.00")
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=2)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    mturk.notify_workers(Subject="Thanks", MessageText="More next week.", WorkerIds=[ada.worker_id])
    mturk.create_worker_block(WorkerId=eve.worker_id, Reason="Copied")
    mturk.delete_worker_block(WorkerId=eve.worker_id)
    mturk.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId=eve.worker_id)
    mturk.delete_hit(HITId=hit_id)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert [(row.worker, row.cents) for row in list_owed(lab)] == [(ada, 75), (bob, 20), (eve, 20)]
    assert money(mturk) == ("98.85", "0.00")
    with refused("HITDoesNotExist"):
        mturk.get_hit(HITId=hit_id)


def test_the_aws_command_line_tool_goes_the_same_way(lab: Requester, live_server: Any, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AWS_ACCESS_KEY_ID": lab.key_id,
        "AWS_SECRET_ACCESS_KEY": lab.secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        "NO_PROXY": "127.0.0.1,localhost",
    }

    def aws(*words: str) -> Any:
        command = [str(AWS), "mturk", *words, "--endpoint-url", f"{live_server.url}/exchange/api/", "--output", "json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    worker = WorkerFactory.create()
    request = tmp_path / "hit.json"
    request.write_text(json.dumps({**HIT, "MaxAssignments": 1}), encoding="utf-8")
    hit_id = aws("create-hit", "--cli-input-json", f"file://{request}")["HIT"]["HITId"]
    assert [hit["HITId"] for hit in aws("list-hits")["HITs"]] == [hit_id]
    submit(hit_id, worker)
    (row,) = aws("list-assignments-for-hit", "--hit-id", hit_id)["Assignments"]
    aws("approve-assignment", "--assignment-id", row["AssignmentId"], "--requester-feedback", "Thank you")
    aws(
        "send-bonus", "--worker-id", worker.worker_id, "--assignment-id", row["AssignmentId"], "--bonus-amount", "0.30",
        "--reason", "It took longer",
    )  # fmt: skip
    aws("update-expiration-for-hit", "--hit-id", hit_id, "--expire-at", "2026-01-01T00:00:00Z")
    with pytest.raises(AssertionError, match=r"An error occurred \(RequestError\) .* Hit 3NONE does not exist"):
        aws("get-hit", "--hit-id", "3NONE")
    aws("delete-hit", "--hit-id", hit_id)
    assert aws("get-account-balance") == {"AvailableBalance": "99.50", "OnHoldBalance": "0.00"}
