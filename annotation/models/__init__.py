"""The rows of the corpus, the units, and the human work on them."""

from annotation.models.corpus import Example, Fold, FoldAxis, FoldMember, Reference, Sentence, Summary, System
from annotation.models.kept import HardDeleteRefused
from annotation.models.people import ApiToken, Invitation, Membership, Person, Project, Role, Theme, User
from annotation.models.ranking import Ranking
from annotation.models.runs import AuditEntry, Queue, Run, RunState, Stage, Worker
from annotation.models.units import Contributor, Mix, Provenance, Unit, UnitKind
from annotation.models.work import Answer, Judgement, JudgementVersion, Label, Task, TaskKind, TaskState

__all__ = [
    "Answer",
    "ApiToken",
    "AuditEntry",
    "Contributor",
    "Example",
    "Fold",
    "FoldAxis",
    "FoldMember",
    "HardDeleteRefused",
    "Invitation",
    "Judgement",
    "JudgementVersion",
    "Label",
    "Membership",
    "Mix",
    "Person",
    "Project",
    "Provenance",
    "Queue",
    "Ranking",
    "Reference",
    "Role",
    "Run",
    "RunState",
    "Sentence",
    "Stage",
    "Summary",
    "System",
    "Task",
    "TaskKind",
    "TaskState",
    "Theme",
    "Unit",
    "UnitKind",
    "User",
    "Worker",
]
