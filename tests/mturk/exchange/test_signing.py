"""Signatures: a genuine one is taken; one changed byte, header, host, path or minute is not."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.test import Client

from mturk.exchange.errors import Refused
from mturk.exchange.services.requesters import revoke_requester
from mturk.exchange.signing import SignedRequest, verify
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.walking import refused

KEY, SECRET = "LOCALKEY", "s3cret/with+signs"
BODY = b'{"HITId": "3X"}'


def sign(
    *,
    secret: str = SECRET,
    region: str = "us-east-1",
    service: str = "mturk-requester",
    body: bytes = BODY,
    digest: str = "",
) -> SignedRequest:
    """A request as botocore signs it, at the real time."""
    request = AWSRequest(
        "POST",
        "http://127.0.0.1:8000/exchange/api/",
        headers={
            "X-Amz-Target": "MTurkRequesterServiceV20170117.GetHIT",
            "Content-Type": "application/x-amz-json-1.1",
            "Host": "127.0.0.1:8000",
            **({"X-Amz-Content-SHA256": digest} if digest else {}),
        },
        data=body,
    )
    SigV4Auth(Credentials(KEY, secret), service, region).add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return SignedRequest("POST", request.url, headers, body)


def check(request: SignedRequest, *, later: dt.timedelta = dt.timedelta()) -> str:
    return verify(request, secret_of={KEY: SECRET}.get, now=dt.datetime.now(dt.UTC) + later)


def with_header(request: SignedRequest, **changes: str | None) -> SignedRequest:
    headers: dict[str, Any] = {**request.headers, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return replace(request, headers={name: value for name, value in headers.items() if value is not None})


def test_a_genuine_request_is_taken():
    assert check(sign()) == KEY
    assert check(sign(body=b"")) == KEY
    assert check(sign(digest=hashlib.sha256(BODY).hexdigest())) == KEY


BROKEN = {
    "another secret": lambda: sign(secret="other"),
    "a changed byte": lambda: replace(sign(), body=BODY.replace(b"3X", b"3Y")),
    "a longer body": lambda: replace(sign(), body=BODY + b" "),
    "another host": lambda: with_header(sign(), host="evil.example:8000"),
    "another path": lambda: replace(sign(), url="http://127.0.0.1:8000/exchange/api/x"),
    "another query": lambda: replace(sign(), url="http://127.0.0.1:8000/exchange/api/?a=1"),
    "another operation": lambda: with_header(sign(), x_amz_target="MTurkRequesterServiceV20170117.DeleteHIT"),
    "another content type": lambda: with_header(sign(), content_type="text/plain"),
    "another region": lambda: sign(region="eu-west-1"),
    "another service": lambda: sign(service="s3"),
    "an unsigned body": lambda: sign(digest="UNSIGNED-PAYLOAD"),
    "the digest of another body": lambda: replace(sign(digest=hashlib.sha256(BODY).hexdigest()), body=b"{}"),
    "another day in the scope": lambda: with_header(
        sign(),
        authorization=sign().headers["authorization"].replace(dt.datetime.now(dt.UTC).strftime("%Y%m%d"), "20200101"),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_signature_that_does_not_fit_is_refused(name):
    with pytest.raises(Refused) as caught:
        check(BROKEN[name]())
    assert caught.value.kind.type == "InvalidSignatureException"


def test_every_single_character_of_the_signature_counts():
    request = sign()
    header = request.headers["authorization"]
    for place in range(len(header) - 64, len(header)):
        other = "0" if header[place] != "0" else "1"
        with pytest.raises(Refused):
            check(with_header(request, authorization=header[:place] + other + header[place + 1 :]))


@pytest.mark.parametrize("minutes", [-6, 6, 60 * 24])
def test_a_captured_request_is_worth_nothing_after_five_minutes(minutes):
    with pytest.raises(Refused, match="5 minutes"):
        check(sign(), later=dt.timedelta(minutes=minutes))


@pytest.mark.parametrize("minutes", [-4, 4])
def test_clocks_may_differ_a_little(minutes):
    assert check(sign(), later=dt.timedelta(minutes=minutes)) == KEY


@pytest.mark.parametrize(
    "header", ["Basic dXNlcjpwYXNz", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature=0", "AWS4-HMAC-SHA512 x"]
)  # fmt: skip
def test_an_authorization_without_form_is_refused(header):
    with pytest.raises(Refused) as caught:
        check(with_header(sign(), authorization=header))
    assert caught.value.kind.type == "IncompleteSignatureException"


def test_headers_that_matter_must_be_signed_and_sent():
    request = sign()
    fewer = request.headers["authorization"].replace(";x-amz-target", "")
    with pytest.raises(Refused, match="must be sent and signed: x-amz-target"):
        check(with_header(request, authorization=fewer))
    with pytest.raises(Refused, match="host"):
        check(with_header(request, host=None))
    with pytest.raises(Refused, match="x-amz-date"):
        check(with_header(request, x_amz_date=None))
    more = request.headers["authorization"].replace("SignedHeaders=", "SignedHeaders=accept;")
    with pytest.raises(Refused, match="not sent: accept"):
        check(with_header(request, authorization=more))
    with pytest.raises(Refused, match="X-Amz-Date"):
        check(with_header(request, x_amz_date="yesterday"))


def test_nothing_without_a_signature_and_no_unknown_key():
    with pytest.raises(Refused) as caught:
        check(with_header(sign(), authorization=None))
    assert caught.value.kind.type == "MissingAuthenticationTokenException"
    with pytest.raises(Refused) as caught:
        verify(sign(), secret_of=lambda key: None, now=dt.datetime.now(dt.UTC))
    assert caught.value.kind.type == "UnrecognizedClientException"


def test_a_revoked_key_opens_nothing(mturk, requester):
    assert mturk.get_account_balance()["AvailableBalance"] == "100.00"
    revoke_requester(requester, now=requester.created_at)
    with refused("UnrecognizedClientException"):
        mturk.get_account_balance()


def test_virtual_time_makes_no_old_request_good(mturk):
    from mturk.exchange.services import clock

    clock.advance(400 * 86_400)
    assert mturk.get_account_balance()["AvailableBalance"] == "100.00"


def test_a_session_is_no_signature(requester, client, django_user_model):
    client.force_login(django_user_model.objects.create(username="staff", is_staff=True))
    answer = client.post(
        "/exchange/api/", b"{}", content_type="application/x-amz-json-1.1",
        headers={"X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"},
    )  # fmt: skip
    assert answer.status_code == 400
    assert json.loads(answer.content)["__type"] == "MissingAuthenticationTokenException"
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.1"


@pytest.mark.django_db
def test_a_request_that_is_too_large_is_not_read():
    answer = Client().post("/exchange/api/", b" " * (512 * 1024 + 1), content_type="application/x-amz-json-1.1")
    assert (answer.status_code, json.loads(answer.content)["__type"]) == (413, "RequestEntityTooLargeException")


def test_the_secret_is_in_no_answer_and_no_log(requester, caplog):
    with caplog.at_level("DEBUG"), refused("InvalidSignatureException") as answer:
        wrong = in_process(connect(requester))
        wrong._request_signer._credentials.secret_key = "another"
        wrong.get_account_balance()
    assert requester.secret not in str(answer)
    assert not any(
        requester.secret in record.getMessage() for record in caplog.records if record.name.startswith("exchange")
    )
