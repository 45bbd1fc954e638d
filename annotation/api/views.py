"""Resources of the corpus. A project is reached through access.py, everything else through its project."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, cast

from django.db.models import Model, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import exceptions, generics, status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import EVERYBODY, LEADS, READERS, may_create_projects, project_for
from annotation.api import filters, serializers
from annotation.api.paging import IdPages, NewestFirst
from annotation.models import Example, Label, Project, Ranking, Reference, Run, Sentence, Summary, System, Unit, User
from annotation.parameters import only_known
from annotation.readers.system_file import MAX_BYTES, BadSystemFile, check_summaries, read_system_file
from annotation.services.files import keep_upload
from annotation.services.import_job import request_import
from annotation.services.jobs import cancel_run, refuse_too_many
from annotation.services.projects import ProjectExists, create_project
from annotation.services.systems import CannotAddSystem, add_system, example_keys
from annotation.tasks import send_run
from annotation.uploads import is_too_big
from annotation.views.runs import too_big_words

Row = TypeVar("Row", bound=Model)


class InProject(APIView):
    """A resource of a project. The project is found, and the role checked, before any method begins."""

    roles: ClassVar[frozenset[str]] = EVERYBODY
    project: Project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in self.allowed_methods:
            raise exceptions.MethodNotAllowed(str(request.method))
        self.project = project_for(request.user, kwargs["slug"], self.roles)

    def context(self) -> dict[str, Any]:
        """What serializers must know of the person who asks."""
        return {"role": self.project.viewer_role}


class RowList(InProject, generics.ListAPIView[Row]):
    """A list of rows of a project, page by page. Parameters that it does not know are refused."""

    pagination_class = IdPages

    def get_queryset(self) -> QuerySet[Row]:
        if getattr(self, "swagger_fake_view", False):  # the schema is made without a project
            return cast("QuerySet[Row]", self.serializer_class.Meta.model._default_manager.none())  # type: ignore[union-attr]
        return self.rows()

    def rows(self) -> QuerySet[Row]:
        raise NotImplementedError

    def get_serializer_context(self) -> dict[str, Any]:
        known = super().get_serializer_context()
        return {**known, **({} if getattr(self, "swagger_fake_view", False) else self.context())}

    def filter_queryset(self, queryset: Any) -> Any:
        filterset: Any = self.filterset_class  # type: ignore[attr-defined]
        pages = cast("IdPages", self.paginator)
        known = {*filterset.base_filters, pages.cursor_query_param, pages.page_size_query_param}
        unknown = sorted(set(self.request.query_params) - known)
        if unknown:
            raise exceptions.ParseError(
                _("Unknown parameter. Known here: %(names)s.") % {"names": ", ".join(sorted(known))}
            )
        return super().filter_queryset(queryset)


class ProjectList(generics.ListCreateAPIView[Project]):
    """The projects you may see; leads and staff can create one."""

    serializer_class = serializers.ProjectSerializer
    pagination_class = IdPages

    def get_queryset(self) -> QuerySet[Project]:
        only_known(self.request.query_params, "cursor", "page_size")
        return Project.objects.visible_to(self.request.user)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and not may_create_projects(request.user):
            raise exceptions.PermissionDenied

    def perform_create(self, serializer: Any) -> None:
        try:
            serializer.instance = create_project(
                serializer.validated_data["name"], now=timezone.now(), lead=cast("User", self.request.user)
            )
        except ProjectExists as error:
            raise exceptions.ValidationError({"name": [_("A project of that name exists here already.")]}) from error


class ProjectDetail(InProject):
    """One project."""

    @extend_schema(responses=serializers.ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(serializers.ProjectSerializer(self.project).data)


class ExampleList(RowList[Example]):
    """Examples with their documents and references, without the trash."""

    serializer_class = serializers.ExampleSerializer
    filterset_class = filters.ExampleFilter

    def rows(self) -> QuerySet[Example]:
        references = Prefetch("references", Reference.objects.order_by("position"))
        return Example.objects.live().filter(project=self.project).prefetch_related(references)


class SentenceList(RowList[Sentence]):
    """Sentences of the references, every revision of the split, with their newest easiness."""

    serializer_class = serializers.SentenceSerializer
    filterset_class = filters.SentenceFilter

    def rows(self) -> QuerySet[Sentence]:
        live = Q(reference__example__project=self.project, reference__example__trashed_at__isnull=True)
        newest = Ranking.objects.filter(sentence=OuterRef("pk")).order_by("-revision")
        rows = Sentence.objects.filter(live).select_related("reference__example").defer("reference__example__document")
        return rows.annotate(**{name: Subquery(newest.values(name)[:1]) for name in ("easiness", "reasons", "ranker")})


class UnitList(RowList[Unit]):
    """SCUs and STUs that count now: neither superseded nor in the trash."""

    serializer_class = serializers.UnitSerializer
    filterset_class = filters.UnitFilter

    def rows(self) -> QuerySet[Unit]:
        live = Q(example__project=self.project, example__trashed_at__isnull=True)
        return Unit.objects.current().filter(live).select_related("example", "reference").defer("example__document")


class SystemList(RowList[System]):
    """Systems, without the trash."""

    serializer_class = serializers.SystemSerializer
    filterset_class = filters.SystemFilter

    parser_classes = (JSONParser, MultiPartParser)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.roles = LEADS if request.method == "POST" else EVERYBODY  # type: ignore[misc]
        super().initial(request, *args, **kwargs)

    def rows(self) -> QuerySet[System]:
        return System.objects.live().filter(project=self.project)

    @extend_schema(
        request={
            "application/json": serializers.NewSystemSerializer,
            "multipart/form-data": serializers.SystemFileSerializer,
        },
        responses={
            200: OpenApiResponse(serializers.SystemSerializer, description="It was here already."),
            201: serializers.SystemSerializer,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add a system with a summary of every example: all of them or nothing. Sent twice, nothing changes."""
        is_file = str(request.content_type).startswith("multipart/")
        form = serializers.SystemFileSerializer if is_file else serializers.NewSystemSerializer
        serializer = form(data=request.data)
        if is_too_big(request._request):
            raise exceptions.ValidationError({"file": [too_big_words()]})
        serializer.is_valid(raise_exception=True)
        data, keys = serializer.validated_data, example_keys(self.project)
        try:
            if is_file:
                summaries = read_system_file(data["file"].name, data["file"].read(MAX_BYTES + 1), keys)
            else:
                summaries = check_summaries(data["summaries"], keys)
            system, is_new = add_system(
                self.project, data["name"], summaries, now=timezone.now(), actor=cast("User", request.user)
            )
        except BadSystemFile as error:
            field = "file" if is_file else "summaries"
            raise exceptions.ValidationError({field: str(error).split("\n")}) from error
        except CannotAddSystem as error:
            raise exceptions.ValidationError({"name": [str(error)]}) from error
        return Response(serializers.SystemSerializer(system).data, status=201 if is_new else 200)


class SummaryList(RowList[Summary]):
    """Summaries of live systems for live examples."""

    serializer_class = serializers.SummarySerializer
    filterset_class = filters.SummaryFilter

    def rows(self) -> QuerySet[Summary]:
        live = Q(example__project=self.project, example__trashed_at__isnull=True, system__trashed_at__isnull=True)
        return Summary.objects.filter(live).select_related("example", "system").defer("example__document")


class LabelList(RowList[Label]):
    """Labels of units that count now, each with the rule that decided it."""

    serializer_class = serializers.LabelSerializer
    filterset_class = filters.LabelFilter

    def rows(self) -> QuerySet[Label]:
        # Joined, not "unit in (…)": the database can then walk the ids and stop at the end of the page.
        live = Q(unit__example__project=self.project, unit__example__trashed_at__isnull=True)
        current = Q(unit__superseded_at__isnull=True, unit__trashed_at__isnull=True)
        found = Label.objects.filter(live, current, summary__system__trashed_at__isnull=True)
        if self.project.viewer_role not in READERS:  # whoever judges must not see how others did
            found = found.filter(rule=Label.IMPORTED)
        related = found.select_related("unit__example", "summary__system")
        return related.defer("unit__example__document", "unit__text", "summary__text")


class RunList(RowList[Run]):
    """Long jobs, newest first."""

    serializer_class = serializers.RunSerializer
    filterset_class = filters.RunFilter
    pagination_class = NewestFirst

    def rows(self) -> QuerySet[Run]:
        return Run.objects.filter(project=self.project).select_related("started_by")


class RunDetail(InProject):
    """One long job: how far it is and what came of it. Ask again until `ended_at` is set."""

    @extend_schema(responses=serializers.RunSerializer)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        run = generics.get_object_or_404(Run.objects.select_related("started_by"), project=self.project, pk=run_id)
        return Response(serializers.RunSerializer(run, context=self.context()).data)


class RunCancel(InProject):
    """Stop a long job: at once if nobody works on it, else at its next safe point."""

    roles = LEADS

    @extend_schema(
        request=None,
        responses={
            200: serializers.RunSerializer,
            409: OpenApiResponse(serializers.RunSerializer, description="It had ended before; nothing was cancelled."),
        },
    )
    def post(self, request: Request, slug: str, run_id: int) -> Response:
        run = generics.get_object_or_404(Run.objects.select_related("started_by"), project=self.project, pk=run_id)
        stopped = cancel_run(run, now=timezone.now(), actor=cast("User", request.user))
        return Response(
            serializers.RunSerializer(run, context=self.context()).data,
            status=200 if stopped else status.HTTP_409_CONFLICT,
        )


@extend_schema_view(
    post=extend_schema(
        request={"multipart/form-data": serializers.ImportSerializer},
        responses={202: OpenApiResponse(serializers.RunSerializer, description="Follow the run by its id.")},
    )
)
class ImportStart(InProject):
    """Upload a corpus; a worker imports all of it or nothing, or only checks it. The answer is the run to follow."""

    roles = LEADS
    parser_classes = (MultiPartParser,)

    def post(self, request: Request, slug: str) -> Response:
        serializer = serializers.ImportSerializer(data=request.data)
        if is_too_big(request._request):
            raise exceptions.ValidationError({"file": [too_big_words()]})
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        refuse_too_many(self.project)  # before the file is kept
        kept = keep_upload(data["file"].name, data["file"].chunks())
        run = request_import(
            self.project,
            kept,
            corpus_format=data["format"],
            dry_run=data["dry_run"],
            now=timezone.now(),
            actor=cast("User", request.user),
        )
        send_run(run)
        return Response(serializers.RunSerializer(run, context=self.context()).data, status=status.HTTP_202_ACCEPTED)
