"""Writing through the API: the queue, drafts and handing in, by the same services and leases as the pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, cast

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import exceptions, generics, serializers, status
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import WRITERS
from annotation.api.serializers import StrictSerializer
from annotation.api.views import InProject
from annotation.models import Arm, Task, TaskKind, User
from annotation.parameters import only_known
from annotation.services import queue
from annotation.services.second_look import WriterSet, sets_of
from annotation.services.writing import drafts_of, guideline_of, newest_draft, own_content, save_draft, submit
from annotation.views.desk import MAX_BYTES
from annotation.writing.content import REASONS, BadContent, Content, NotReady, WrittenText, as_json, read_content

KINDS = (TaskKind.WRITE.value, TaskKind.REVIEW.value)
SHAPE = as_json(Content(units=(WrittenText(""),), rejected=((0, REASONS[0]),)))
NOT_THEIRS = OpenApiResponse(OpenApiTypes.OBJECT, description="The task is not yours, or not any more.")


class NotYours(exceptions.APIException):
    """The lease is somebody else's, or nobody's. Asking again changes nothing: take the next task."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "not_yours"


# --- what somebody writes -----------------------------------------------------------------------------------------


class WrittenTextSerializer(serializers.Serializer[Any]):
    """A unit under work. Only the text is needed."""

    text = serializers.CharField()
    draft = serializers.IntegerField(required=False, allow_null=True, help_text="Id of the draft it was made from.")
    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        required=False,
        help_text="Where its words stand in the reference: [start, end] in characters.",
    )
    extends = serializers.IntegerField(
        required=False, allow_null=True, help_text="The place of another unit of this list, from 0 on."
    )
    overrides = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names of warnings that were read and overruled."
    )
    shown = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Badges of a model that stood beside it."
    )
    origins = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        required=False,
        help_text="In a second look, the texts it was made of: [submission, place].",
    )
    seconds = serializers.FloatField(required=False)


class RejectedSerializer(serializers.Serializer[Any]):
    """A draft of the machine that was turned down."""

    unit = serializers.IntegerField(help_text="Id of the draft.")
    reason = serializers.ChoiceField(choices=REASONS)


class ContentSerializer(serializers.Serializer[Any]):
    """All that somebody writes for a sentence. What is left out is empty."""

    units = WrittenTextSerializer(many=True, required=False)
    no_fact = serializers.BooleanField(required=False, help_text="There is no fact in this sentence.")
    rejected = RejectedSerializer(many=True, required=False)
    dropped = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        required=False,
        help_text="In a second look, the texts that are not taken: [submission, place].",
    )
    comment = serializers.CharField(required=False, help_text="In a second look, for the writers.")
    seconds = serializers.FloatField(required=False, help_text="Active ones.")


@extend_schema_field(ContentSerializer)
class ContentField(serializers.Field[Content, Any, Any, Any]):
    """Read as the pages' is. A name that is not known is refused: a misspelt one must not lose what was written."""

    def to_internal_value(self, data: Any) -> Content:
        try:
            content = read_content(data)
        except BadContent as error:
            raise serializers.ValidationError(str(error)) from error
        unknown = sorted(unknown_names(data))
        if unknown:
            raise serializers.ValidationError(_("Not known here: %(names)s.") % {"names": ", ".join(unknown)})
        require_bounded(content)
        return content


def unknown_names(given: Mapping[str, Any]) -> set[str]:
    """Names that content has no place for."""
    found = set(given) - set(SHAPE)
    for part in ("units", "rejected"):
        found |= {name for one in given.get(part, ()) for name in one} - set(SHAPE[part][0])
    return found


def require_bounded(content: Content) -> None:
    """Refuse what is longer than a page may be."""
    if len(json.dumps(as_json(content), ensure_ascii=False)) > MAX_BYTES:
        raise serializers.ValidationError(_("This is more than one sentence can need."))


# --- what is asked ------------------------------------------------------------------------------------------------


class ClaimSerializer(StrictSerializer):
    kind = serializers.ChoiceField(
        choices=KINDS, default=KINDS[0], help_text="review: a second look at what others wrote."
    )


class TokenSerializer(StrictSerializer):
    token = serializers.UUIDField(help_text="Of the lease, from the task.")


class DraftSerializer(TokenSerializer):
    version = serializers.IntegerField(min_value=0, help_text="The newest version that you know, 0 for none.")
    content = ContentField()


class SubmitSerializer(TokenSerializer):
    key = serializers.UUIDField(help_text="Made by you, once for each handing in. Sent twice, it is handed in once.")
    content = ContentField()


class SkipSerializer(TokenSerializer):
    reason = serializers.CharField(
        allow_blank=True, max_length=300, help_text="In a word or two; your lead reads it. Needed."
    )


# --- what is told -------------------------------------------------------------------------------------------------


class SentencePlaceSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    text = serializers.CharField()
    start = serializers.IntegerField(help_text="In the reference, in characters.")
    end = serializers.IntegerField()


class MachineDraftSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    text = serializers.CharField()


class SetUnitSerializer(serializers.Serializer[Any]):
    place = serializers.IntegerField(help_text="From 1 on. [submission, place] names it in origins and in dropped.")
    text = serializers.CharField()
    overrides = serializers.ListField(child=serializers.CharField())
    extends = serializers.IntegerField(allow_null=True, help_text="The place of another unit of this set.")


class SetSerializer(serializers.Serializer[Any]):
    """What one writer handed in, without a name: a second look is at texts, not at people."""

    submission = serializers.IntegerField()
    no_fact = serializers.BooleanField()
    units = SetUnitSerializer(many=True)


class TaskSerializer(serializers.ModelSerializer[Task]):
    """A task for whoever holds it. Nothing that another writer has under work, or wrote for the same sentence."""

    token = serializers.UUIDField(
        source="lease_token", read_only=True, help_text="Of the lease. Send it with the work."
    )
    arm = serializers.SerializerMethodField(help_text="When drafts may be seen; null in a second look.")
    guideline = serializers.SerializerMethodField(help_text="Which one it is written by.")
    sentence = SentencePlaceSerializer(read_only=True)
    reference = serializers.CharField(source="sentence.reference.text", read_only=True)
    document = serializers.CharField(source="sentence.reference.example.document", read_only=True)
    example = serializers.CharField(source="sentence.reference.example.key", read_only=True)
    version = serializers.SerializerMethodField(help_text="Of the newest draft, 0 for none. Send it with the next one.")
    content = serializers.SerializerMethodField(help_text="Your own newest draft.")
    drafts = serializers.SerializerMethodField(
        help_text="Units by the machine. Suggestions bias people: where arm is “after”, the server cannot see what "
        "your program shows, so show them only after the first own unit."
    )
    sets = serializers.SerializerMethodField(help_text="For a second look: what each writer handed in.")

    class Meta:
        model = Task
        fields = (
            "id", "kind", "state", "token", "leased_until", "arm", "guideline", "sentence", "reference", "document",
            "example", "version", "content", "drafts", "sets",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Arm.choices, allow_null=True))
    def get_arm(self, task: Task) -> str | None:
        return task.arm if task.kind == TaskKind.WRITE else None

    def get_guideline(self, task: Task) -> str:
        return guideline_of(task)

    def get_version(self, task: Task) -> int:
        draft = self.context["draft"]
        return draft.version if draft else 0

    @extend_schema_field(ContentSerializer)
    def get_content(self, task: Task) -> dict[str, Any]:
        assert task.holder is not None, "only the holder is told of a task"
        return as_json(own_content(task, task.holder))

    @extend_schema_field(MachineDraftSerializer(many=True))
    def get_drafts(self, task: Task) -> Any:
        is_seen = task.kind == TaskKind.WRITE and task.arm != Arm.NONE
        return MachineDraftSerializer(drafts_of(task) if is_seen else [], many=True).data

    @extend_schema_field(SetSerializer(many=True))
    def get_sets(self, task: Task) -> list[dict[str, Any]]:
        assert task.sentence is not None, "a task of writing has a sentence"
        return [nameless(own) for own in sets_of(task.sentence)] if task.kind == TaskKind.REVIEW else []


def nameless(own: WriterSet) -> dict[str, Any]:
    """What a writer handed in. Places count from 1 on, as origins do."""
    units = [
        {
            "place": place,
            "text": unit.text,
            "overrides": list(unit.overrides),
            "extends": None if unit.extends is None else unit.extends + 1,
        }
        for place, unit in enumerate(own.content.written, start=1)
    ]
    return {"submission": own.submission.pk, "no_fact": own.content.no_fact, "units": units}


def told(task: Task) -> dict[str, Any]:
    """A task for its holder."""
    return dict(TaskSerializer(task, context={"draft": newest_draft(task)}).data)


class ClaimedSerializer(serializers.Serializer[Any]):
    task = TaskSerializer(allow_null=True, help_text="null if there is none for you now.")
    why = serializers.CharField(help_text="Why there is none; empty if there is one.")


class SavedSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=("saved", "late"), help_text="late: kept beside the work for the lead, not over it."
    )
    version = serializers.IntegerField(help_text="The newest of the task. Send it with the next draft.")
    holds = serializers.BooleanField(help_text="Whether the task is still yours.")


class SubmittedSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField()
    units = serializers.IntegerField(help_text="How many were handed in.")


class FindingSerializer(serializers.Serializer[Any]):
    check = serializers.CharField()
    level = serializers.ChoiceField(choices=("error", "warning"), help_text="A warning can be overruled in overrides.")
    twin = serializers.CharField(help_text="The other unit, where it is about two.")
    words = serializers.ListField(child=serializers.CharField(), help_text="Those that it is about.")


class NotReadySerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()
    findings = serializers.DictField(
        child=FindingSerializer(many=True),
        help_text="By the place of the unit among those that are not empty, from 0 on.",
    )


class UntilSerializer(serializers.Serializer[Any]):
    until = serializers.DateTimeField(help_text="The lease ends then, unless there is a sign of life before.")


class ReleasedSerializer(serializers.Serializer[Any]):
    released = serializers.BooleanField(help_text="Whether it was yours to give back.")


class SkippedSerializer(serializers.Serializer[Any]):
    skipped = serializers.BooleanField()


# --- doors --------------------------------------------------------------------------------------------------------


class InWriting(InProject):
    """Something for people who write."""

    roles: ClassVar[frozenset[str]] = WRITERS
    parser_classes = (JSONParser,)

    @property
    def user(self) -> User:
        return cast("User", self.request.user)


class InTask(InWriting):
    """Something of one task of writing. The task is found before the body is read: another project's is 404 to all."""

    task: Task

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        tasks = Task.objects.select_related("project", "plan", "sentence__reference__example")
        own = tasks.filter(project=self.project, kind__in=KINDS)
        self.task = generics.get_object_or_404(own, pk=kwargs["task_id"])

    def given(self, serializer: type[StrictSerializer]) -> dict[str, Any]:
        """The body, checked."""
        asked = serializer(data=self.request.data)
        asked.is_valid(raise_exception=True)
        return cast("dict[str, Any]", asked.validated_data)


class Claim(InWriting):
    """The task on your desk, or the next one under a lease; or why there is none for you."""

    @extend_schema(request=ClaimSerializer, responses=ClaimedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        asked = ClaimSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        kind = asked.validated_data["kind"]
        task = queue.claim_next(self.project, self.user, kind, now=timezone.now())
        if task is None:
            return Response({"task": None, "why": queue.explain_empty(self.project, self.user, kind).why})
        return Response({"task": told(task), "why": ""})


class TaskDetail(InTask):
    """A task that you hold."""

    @extend_schema(responses={200: TaskSerializer, 409: NOT_THEIRS})
    def get(self, request: Request, slug: str, task_id: int) -> Response:
        only_known(request.query_params)
        if self.task.holder_id != self.user.pk:
            raise NotYours(_("That task is not yours now. Take the next one; what you wrote before is kept."))
        return Response(told(self.task))


class Draft(InTask):
    """Keep what is written so far, whatever has happened to the lease."""

    @extend_schema(request=DraftSerializer, responses=SavedSerializer)
    def put(self, request: Request, slug: str, task_id: int) -> Response:
        given, now = self.given(DraftSerializer), timezone.now()
        saved = save_draft(
            self.task.pk, self.user, given["token"], base=given["version"], content=given["content"], now=now
        )
        holds = Task.objects.filter(pk=self.task.pk, holder=self.user, lease_token=given["token"]).exists()
        return Response({"state": saved.state, "version": saved.version, "holds": holds})


class Submit(InTask):
    """Hand a sentence in, written or looked at again: all of it or nothing. With the same key twice, once."""

    @extend_schema(
        request=SubmitSerializer,
        responses={
            201: SubmittedSerializer,
            409: OpenApiResponse(OpenApiTypes.OBJECT, description="Not yours any more. The content is kept as late."),
            422: OpenApiResponse(NotReadySerializer, description="Nothing was handed in; the task stays yours."),
        },
    )
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        given, now = self.given(SubmitSerializer), timezone.now()
        token, key, content = given["token"], given["key"], given["content"]
        try:
            submission = submit(self.task.pk, self.user, token, key=key, content=content, now=now)
        except NotReady as problem:
            return Response(not_ready(problem), status=status.HTTP_422_UNPROCESSABLE_ENTITY)
        except queue.LeaseLost as error:
            save_draft(self.task.pk, self.user, token, base=-1, content=content, now=now)
            raise NotYours(str(error)) from error
        except BadContent as error:
            raise exceptions.ValidationError({"content": [str(error)]}) from error
        units = len(read_content(submission.content).written)
        return Response({"submission": submission.pk, "units": units}, status=status.HTTP_201_CREATED)


def not_ready(problem: NotReady) -> dict[str, Any]:
    findings = {str(place): [asdict(one) for one in found] for place, found in problem.findings.items()}
    return {"detail": str(problem), "findings": findings}


class Beat(InTask):
    """A sign of life: the lease begins anew."""

    @extend_schema(request=TokenSerializer, responses={200: UntilSerializer, 409: NOT_THEIRS})
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        token = self.given(TokenSerializer)["token"]
        try:
            until = queue.extend_lease(self.task.pk, self.user, token, now=timezone.now())
        except queue.LeaseLost as error:
            raise NotYours(str(error)) from error
        return Response(UntilSerializer({"until": until}).data)


class Release(InTask):
    """Give a task back for others, or for later. Drafts stay."""

    @extend_schema(request=TokenSerializer, responses=ReleasedSerializer)
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        token = self.given(TokenSerializer)["token"]
        return Response({"released": queue.release(self.task.pk, self.user, token, now=timezone.now())})


class SkipTask(InTask):
    """Give a task back for good, with a reason."""

    @extend_schema(request=SkipSerializer, responses={200: SkippedSerializer, 409: NOT_THEIRS})
    def post(self, request: Request, slug: str, task_id: int) -> Response:
        given = self.given(SkipSerializer)
        try:
            queue.skip(self.task, self.user, given["token"], given["reason"], now=timezone.now())
        except queue.CannotSkip as error:
            raise exceptions.ValidationError({"reason": [str(error)]}) from error
        except queue.LeaseLost as error:
            raise NotYours(str(error)) from error
        return Response({"skipped": True})
