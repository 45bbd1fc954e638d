"""The crowd of the demo: a requester on our own exchange, and a batch of HITs that waits for workers."""

from __future__ import annotations

import datetime as dt

from django.conf import settings

from annotation.models import Project, Run, User
from annotation.services.batches import BatchOptions, create_batch
from mturk.exchange.models import Requester
from mturk.exchange.services.requesters import create_requester
from mturk.models import CrowdBatch
from mturk.services.crowd_job import request_publish
from mturk.services.planning import Wish, confirm, create_draft

LAB = "Demo lab"
CONSENT = (
    "This is a demonstration. What you answer stays on this machine. You may stop at any time and return the task; "
    "nothing follows from that."
)
DEPOSIT_CENTS = 50_000
SHARE = 150  # thousandths of the summaries
REWARD_CENTS, EXPECTED_SECONDS, CAP_CENTS = 42, 94, 5_000


def demo_environment(address: str, *, now: dt.datetime) -> dict[str, str]:
    """What web and worker need to know of the exchange at this address. The key is made once."""
    lab = Requester.objects.filter(name=LAB, revoked_at__isnull=True).first()
    lab = lab or create_requester(LAB, now=now, deposit_cents=DEPOSIT_CENTS)
    settings.CROWD_ENVIRONMENTS["exchange"]["endpoint_url"] = f"{address}/exchange/api/"
    return {
        "PUBLIC_URL": address,
        "EXCHANGE_FRAME_ORIGIN": address.replace("127.0.0.1", "localhost"),
        "EXCHANGE_KEY_ID": lab.key_id,
        "EXCHANGE_SECRET": lab.secret,
        "EXCHANGE_SIMULATION": "1",
    }


def publish_demo(project: Project, actor: User, *, now: dt.datetime) -> Run | None:
    """Ask a worker to publish a small batch, if the project has never had one."""
    if CrowdBatch.objects.filter(project=project).exists():
        return None
    judging = create_batch(project, BatchOptions(share=SHARE, seed=9), now=now, actor=actor)
    wish = Wish(
        environment="exchange",
        batch=judging.number,
        title="Does the summary say this?",
        description="Read a short summary and say which statements it makes. One key per statement.",
        keywords="reading, summary, statements",
        rewards=[{"name": "all systems", "systems": [], "cents": REWARD_CENTS}],
        assignments=judging.votes,
        expected_s=EXPECTED_SECONDS,
        consent=CONSENT,
        cap_cents=CAP_CENTS,
    )
    draft = create_draft(project, wish, now=now, actor=actor)
    return request_publish(confirm(draft, typed="", now=now, actor=actor), now=now, actor=actor)
