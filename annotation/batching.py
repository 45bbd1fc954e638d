"""Batches that fit into memory: bounded in number and in characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Items in order, in lists of at most so many. (Python's own comes with 3.12.)"""
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def batched_by_size(
    items: Iterable[Item], size_of: Callable[[Item], int], *, most: int, characters: int
) -> Iterator[list[Item]]:
    """Items in order, in batches of at most so many, and of at most so many characters unless one alone has more."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = size_of(item)
        if batch and (len(batch) == most or total + size > characters):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
