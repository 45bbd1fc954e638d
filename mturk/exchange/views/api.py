"""The door of the requester API: one address, POST only, a signature instead of a session."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from mturk.exchange import wire
from mturk.exchange.answering import Reply, answer
from mturk.exchange.signing import SignedRequest


@csrf_exempt  # every request is signed, and no cookie counts
@login_not_required
@require_POST
def api(request: HttpRequest) -> HttpResponse:
    reply = answer(signed_request(request))
    if reply.delay_s:
        time.sleep(reply.delay_s)
    if reply.is_dropped:
        drop_connection(request)
    return to_response(reply)


@csrf_exempt
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def root(request: HttpRequest) -> HttpResponse:
    """The front door of an exchange that runs alone: programs post here, people go on to the work."""
    return api(request) if request.method == "POST" else redirect("exchange:work")


def signed_request(request: HttpRequest) -> SignedRequest:
    """The request as the client signed it: with the host that it named, and the bytes of its body."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    query = request.META.get("QUERY_STRING", "")
    url = f"{request.scheme}://{headers.get('host', '')}{request.path}{'?' + query if query else ''}"
    return SignedRequest("POST", url, headers, request.read(wire.MOST_BYTES + 1))


def to_response(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body, status=reply.status or 500, content_type=wire.CONTENT_TYPE)
    response.headers["x-amzn-RequestId"] = reply.request_id
    return response


def drop_connection(request: HttpRequest) -> None:
    """End the connection without an answer, as a network does. For tests: only an ordered failure comes here."""
    with contextlib.suppress(OSError):
        socket_of(request.META).shutdown(socket.SHUT_RDWR)


def socket_of(environ: dict[str, Any]) -> socket.socket:
    """The socket of a request, in gunicorn and in Django's own server."""
    if "gunicorn.socket" in environ:
        return environ["gunicorn.socket"]
    stream = environ["wsgi.input"]
    for step in ("_read", "_stream", "stdin", "raw"):  # the wrappers around a socket
        inner = getattr(stream, step, None)
        stream = getattr(inner, "__self__", inner) if inner is not None else stream
    return stream._sock
