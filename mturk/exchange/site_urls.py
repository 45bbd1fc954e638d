"""Routes of the worker site, and of the links by which workers come."""

from django.urls import URLPattern, path

from mturk.exchange.views import frames, joining, links, site, testing

urlpatterns: list[URLPattern] = [
    path("links/", links.links, name="links"),
    path("links/<int:link_id>/revoke/", links.revoke_link, name="revoke-link"),
    path("work/", site.work, name="work"),
    path("work/start/", joining.start, name="start"),
    path("work/leave/", joining.leave, name="leave"),
    path("work/join/<str:token>/", joining.join, name="join"),
    path("work/groups/<str:hit_type_id>/", site.group, name="group"),
    path("work/groups/<str:hit_type_id>/next/", site.accept_next, name="accept-next"),
    path("work/hits/<str:hit_id>/", site.preview, name="preview"),
    path("work/hits/<str:hit_id>/accept/", site.accept, name="accept"),
    path("work/assignments/<str:assignment_id>/", site.assignment, name="assignment"),
    path("work/assignments/<str:assignment_id>/state/", site.state, name="state"),
    path("work/assignments/<str:assignment_id>/return/", site.return_hit, name="return"),
    path("work/assignments/<str:assignment_id>/done/", site.done, name="done"),
    path("work/qualifications/<str:type_id>/", testing.qualification, name="qualification"),
    path("work/qualifications/<str:type_id>/test/", testing.begin_test, name="begin-test"),
    path("work/tests/<str:request_id>/", testing.test, name="test"),
    path("work/qualifications/<str:type_id>/ask/", site.ask, name="ask"),
    path("work/earnings/", site.earnings, name="earnings"),
    path("work/finish/", site.finish, name="finish"),
    path("work/frame/<str:token>/", frames.frame, name="frame"),
    path("work/mturk/externalSubmit", frames.external_submit, name="submit"),
]
