"""An exchange behind a real server, and clients that were made for Amazon's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from django.test import Client

from mturk.exchange import urls  # noqa: F401 (the routes as they are by default, before a test turns control on)
from mturk.exchange.models import Requester, Worker
from mturk.exchange.services import clock
from mturk.exchange.services.ledger import check_balance
from mturk.exchange.services.requesters import create_requester
from mturk.exchange.services.settling import settle
from tests.mturk.exchange.rows import WorkerFactory


@pytest.fixture(autouse=True)
def no_faults_of_ours(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A fault of the exchange is loud in every test, even where a client would try again."""
    yield
    loud = [
        record for record in caplog.get_records("call") if record.name == "exchange" and record.levelno >= logging.ERROR
    ]
    assert [record.exc_text or record.getMessage() for record in loud] == []


class Body(BytesIO):
    """What botocore reads an answer from."""

    def stream(self, **options: Any) -> Iterator[bytes]:
        while chunk := self.read(65_536):
            yield chunk


def in_process(client: Any) -> Any:
    """Hand the signed requests of a boto3 client to Django itself: the same bytes, without a network."""
    browser = Client()

    def send(request: AWSPreparedRequest, **options: Any) -> AWSResponse:
        parts = urlsplit(request.url)
        headers = {
            name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()
        }
        kind = headers.pop("Content-Type")
        body = request.body.encode() if isinstance(request.body, str) else request.body or b""
        answer = browser.generic(
            request.method, parts.path, body, content_type=kind, headers={**headers, "Host": parts.netloc}
        )
        return AWSResponse(request.url, answer.status_code, dict(answer.headers), Body(answer.content))

    client.meta.events.register("before-send.mturk", send)
    return client


def connect(requester: Requester, url: str = "http://127.0.0.1:8000", **config: Any) -> Any:
    """An unmodified boto3 client with a requester's key."""
    import boto3

    return boto3.client(
        "mturk",
        endpoint_url=f"{url}/exchange/api/",
        region_name="us-east-1",
        aws_access_key_id=requester.key_id,
        aws_secret_access_key=requester.secret,
        config=Config(**config),
    )


@pytest.fixture
def requester(db: None, settings: Any) -> Iterator[Requester]:
    """A requester with a hundred dollars, at an exchange whose clock can be moved. In the end all accounts balance."""
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"
    yield create_requester("Lab", now=clock.now(), deposit_cents=10_000)
    assert_balanced()


def assert_balanced() -> None:
    """After any test: what is noted of every requester is what its lines and its HITs add up to."""
    now = clock.now()
    settle(now=now)
    differences = {row.name: check_balance(row, now=now).differences for row in Requester.objects.all()}
    assert {name: found for name, found in differences.items() if found} == {}


@pytest.fixture
def mturk(requester: Requester) -> Any:
    """boto3, in this process."""
    return in_process(connect(requester, retries={"total_max_attempts": 1}))


@pytest.fixture
def worker(db: None) -> Worker:
    return WorkerFactory.create()
