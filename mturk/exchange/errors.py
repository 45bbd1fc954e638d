"""Every error that the exchange answers with, and where each is known from.

AWS publishes no list of MTurk's codes. Sources: "model" is botocore's service model and its texts; "docs" Amazon's API
reference; "seen" messages that users of the real service quoted in public issues; "aws" the errors that all AWS
services with this protocol share; "own" what only this exchange says.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "AWS.MechanicalTurk."


@dataclass(frozen=True)
class Kind:
    """How an error is answered: its type on the wire, its code, the HTTP status, its usual text."""

    type: str
    code: str
    status: int
    text: str
    source: str


def request_error(code: str, text: str, source: str) -> Kind:
    return Kind("RequestError", PREFIX + code, 400, text, source)


def invalid(code: str, text: str, source: str) -> Kind:
    return Kind("ParameterValidationError", PREFIX + code, 400, text, source)


def refused(name: str, text: str, *, status: int = 400) -> Kind:
    return Kind(name, "", status, text, "aws")


STATES = "This {thing} is currently in the state '{state}'.  This operation can be called with a status of: {allowed}"

KINDS: dict[str, Kind] = {
    # Things that are not there, or not the caller's.
    "HITDoesNotExist": request_error("HITDoesNotExist", "Hit {id} does not exist.", "seen"),
    "HITTypeDoesNotExist": request_error("HITTypeDoesNotExist", "HITType {id} does not exist.", "docs"),
    "AssignmentDoesNotExist": request_error("AssignmentDoesNotExist", "Assignment {id} does not exist.", "docs"),
    "WorkerDoesNotExist": request_error("WorkerDoesNotExist", "Worker {id} does not exist.", "docs"),
    "QualificationDoesNotExist": request_error(
        "QualificationDoesNotExist", "You requested a Qualification that does not exist.", "seen"
    ),
    "QualificationTypeDoesNotExist": request_error(
        "QualificationTypeDoesNotExist", "QualificationType {id} does not exist.", "seen"
    ),
    "QualificationRequestDoesNotExist": request_error(
        "QualificationRequestDoesNotExist", "QualificationRequest {id} does not exist.", "docs"
    ),
    "PermissionDenied": request_error(
        "PermissionDenied", "You are not the owner of the {thing} {id}.", "docs"
    ),
    # Things that are there in another state.
    "InvalidHITState": request_error("InvalidHITState", STATES, "seen"),
    "InvalidAssignmentState": request_error("InvalidAssignmentState", STATES, "seen"),
    "InvalidQualificationState": request_error("InvalidQualificationState", STATES, "docs"),
    "InvalidMaximumAssignmentsIncrease": request_error(
        "InvalidMaximumAssignmentsIncrease",
        "A HIT that was created with fewer than {border} assignments cannot be extended to {border} or more.",
        "model",
    ),
    "OverrideTooLate": request_error(
        "InvalidAssignmentState",
        "Assignment {id} was submitted more than {days} days ago; its rejection stands.",
        "model",
    ),
    "DoesNotMeetRequirements": request_error("DoesNotMeetRequirements", "{reason}", "docs"),
    # Asked twice.
    "HitAlreadyExists": request_error(
        "HitAlreadyExists",
        "The HIT with ID \"{id}\" already exists for the UniqueRequestToken \"{token}\".",
        "docs",
    ),
    "DuplicateRequest": request_error(
        "DuplicateRequest",
        "The request with ID \"{id}\" was already processed for the UniqueRequestToken \"{token}\".",
        "docs",
    ),
    "TokenProcessed": request_error(
        "InvalidParameterValue", "The idempotency token \"{token}\" has already been processed.", "seen"
    ),
    "QualificationTypeAlreadyExists": request_error(
        "QualificationTypeAlreadyExists",
        "You have already created a QualificationType with this name. A QualificationType's name must be unique among"
        " all of the QualificationTypes created by the same user.",
        "seen",
    ),
    # Money.
    "InsufficientFunds": request_error(
        "InsufficientFunds",
        "This Requester has insufficient funds in their account to complete this transaction.",
        "seen",
    ),
    # Parameters that are not what they should be.
    "InvalidParameterValue": invalid(
        "InvalidParameterValue", 'The value "{value}" is not valid for the parameter {name}. {why}', "seen"
    ),
    "MissingParameter": invalid(
        "ParameterMissing", "Your request is missing required parameters. Required parameters include {name}.", "seen"
    ),
    "TooMany": invalid("MaximumExceeded", "{name}: {why}", "own"),
    "XMLParseError": invalid(
        "XMLParseError",
        "There was an error parsing the XML question or answer data in your request. {why}",
        "seen",
    ),
    "XHTMLParseError": invalid(
        "XHTMLParseError", "There was an error parsing the HTML5 data in your request. {why}", "seen"
    ),
    # What this exchange does not do.
    "NotImplemented": request_error("NotImplemented", "{operation} is not offered by this exchange: {why}", "own"),
    # The door.
    "MissingAuthenticationToken": refused(
        "MissingAuthenticationTokenException", "The request is not signed: it has no Authorization header."
    ),
    "IncompleteSignature": refused("IncompleteSignatureException", "{why}"),
    "UnrecognizedClient": refused("UnrecognizedClientException", "The key of this request is not known here."),
    "InvalidSignature": refused("InvalidSignatureException", "{why}"),
    "UnknownOperation": refused("UnknownOperationException", "There is no operation {operation!r}."),
    "Serialization": refused("SerializationException", "{why}"),
    "TooLarge": refused("RequestEntityTooLargeException", "A request has at most {most} bytes.", status=413),
    "Throttling": refused("ThrottlingException", "Rate exceeded"),
    # Ours to fix.
    "ServiceFault": Kind(
        "ServiceFault", PREFIX + "ServiceFault", 500, "The exchange could not process your request. Try again.", "model"
    ),
}  # fmt: skip


class Refused(Exception):
    """A call that is answered with an error of the table. The arguments fill its text."""

    def __init__(self, kind: str, **words: object) -> None:
        self.kind = KINDS[kind]
        self.text = self.kind.text.format(**words).strip()
        super().__init__(self.text)

    def body(self, now_ms: int) -> dict[str, str]:
        """The answer. MTurk's sandbox ends its texts by the time and an "s"; so does this exchange."""
        body = {"__type": self.kind.type, "Message": f"{self.text} ({now_ms} s)"}
        return {**body, "TurkErrorCode": self.kind.code} if self.kind.code else body


def not_allowed(kind: str, *, thing: str, state: str, allowed: str) -> Refused:
    """The error of a call that comes in the wrong state."""
    return Refused(kind, thing=thing, state=state, allowed=allowed)
