"""The whole crowd once, small: the exchange behind gunicorn, boto3, worker pages, faults. `benchmark crowd` is larger."""

from __future__ import annotations

import pytest

from workbench.crowd_benchmark import FIGURES, run_crowd


@pytest.mark.timeout(600)
def test_fifty_hits_with_four_assignments_go_through_under_faults():
    found = run_crowd(examples=10, systems=5, votes=4)
    assert set(found) == set(FIGURES)
    assert (found["hits_planned"], found["hits_created"]) == (50, 50)
    assert (found["assignments_submitted"], found["assignments_collected"]) == (200, 200)
    assert found["ledger_difference_cents"] == 0
    assert (found["labels_identical"], found["labels_total"]) == (1.0, 500)
    assert found["faults_injected"] >= 5
