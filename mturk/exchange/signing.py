"""Signatures of AWS's kind (SigV4), checked with the signer of botocore itself.

Nothing here tells which part was wrong beyond what AWS tells, and every comparison of secrets takes the same time.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mturk.exchange.errors import Refused

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
REGION = "us-east-1"  # the only one that MTurk ever had
SKEW = dt.timedelta(minutes=5)
# What a client must have signed; the body always is.
MUST_SIGN = ("content-type", "host", "x-amz-date", "x-amz-target")

SCOPE = r"(?P<key_id>[^/\s,]+)/(?P<day>\d{8})/(?P<region>[^/\s,]+)/(?P<service>[^/\s,]+)/aws4_request"
HEADER = re.compile(
    rf"{ALGORITHM} Credential={SCOPE}, ?SignedHeaders=(?P<names>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{{64}})"
)


@dataclass(frozen=True)
class SignedRequest:
    """A request as it came. Names of headers are in lower case; `url` has the host that the client named."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def verify(request: SignedRequest, *, secret_of: Callable[[str], str | None], now: dt.datetime) -> str:
    """The id of the key that signed the request. Anything else than a good signature is refused."""
    header = request.headers.get("authorization", "")
    if not header:
        raise Refused("MissingAuthenticationToken")
    parts = HEADER.fullmatch(header)
    if parts is None:
        raise Refused(
            "IncompleteSignature", why="The Authorization header has not the form of AWS Signature Version 4."
        )
    names = parts["names"].split(";")
    check_scope(request, parts["day"], parts["region"], parts["service"], names)
    check_time(request.headers["x-amz-date"], parts["day"], now)
    check_body(request, names)
    secret = secret_of(parts["key_id"])
    # A key that is not known is compared as well: the time it takes tells nothing.
    expected = signature_of(request, names, key_id=parts["key_id"], secret=secret or "unknown")
    matches = hmac.compare_digest(expected, parts["signature"])
    if secret is None:
        raise Refused("UnrecognizedClient")
    if not matches:
        raise Refused(
            "InvalidSignature",
            why="The signature does not match the request. Check the secret key and how the request was signed.",
        )
    return parts["key_id"]


def check_scope(request: SignedRequest, day: str, region: str, service: str, names: list[str]) -> None:
    if (region, service) != (REGION, SERVICE):
        raise Refused("InvalidSignature", why=f"The credential must be scoped to {REGION}/{SERVICE}.")
    missing = [name for name in MUST_SIGN if name not in names or name not in request.headers]
    if missing:
        raise Refused("IncompleteSignature", why=f"These headers must be sent and signed: {', '.join(missing)}.")
    absent = [name for name in names if name not in request.headers]
    if absent:
        raise Refused("IncompleteSignature", why=f"Signed, but not sent: {', '.join(absent)}.")


def check_time(stamp: str, day: str, now: dt.datetime) -> None:
    """A captured request is worth nothing after some minutes."""
    try:
        signed_at = dt.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
    except ValueError:
        raise Refused("IncompleteSignature", why="X-Amz-Date has not the form 20260302T093000Z.") from None
    if stamp[:8] != day:
        raise Refused("InvalidSignature", why="The date of the credential is not that of the request.")
    if abs(now - signed_at) > SKEW:
        limit = "Signature expired" if signed_at < now else "Signature not yet current"
        raise Refused("InvalidSignature", why=f"{limit}: {stamp} is more than 5 minutes from {now:%Y%m%dT%H%M%SZ}.")


def check_body(request: SignedRequest, names: list[str]) -> None:
    """A client that signs the digest of the body instead of the body must have sent that body."""
    digest = request.headers.get("x-amz-content-sha256") if "x-amz-content-sha256" in names else None
    if digest is not None and not hmac.compare_digest(digest, hashlib.sha256(request.body).hexdigest()):
        raise Refused("InvalidSignature", why="X-Amz-Content-SHA256 is not the digest of the body.")


def signature_of(request: SignedRequest, names: list[str], *, key_id: str, secret: str) -> str:
    """What the signature must be, by botocore's own signer."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    signer = SigV4Auth(Credentials(key_id, secret), SERVICE, REGION)
    signed = AWSRequest(
        method=request.method,
        url=request.url,
        data=request.body,
        headers={name: request.headers[name] for name in names},
    )
    signed.context["timestamp"] = request.headers["x-amz-date"]
    text = signer.string_to_sign(signed, signer.canonical_request(signed))
    return str(signer.signature(text, signed))
