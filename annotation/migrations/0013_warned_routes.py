"""A column that says whether a route has warnings, with an index for the few that have."""

from django.db import migrations, models


def mark_warned(apps, schema_editor):
    apps.get_model("annotation", "Route").objects.exclude(warnings=[]).update(is_warned=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_judging")]

    operations = [
        migrations.AddField(model_name="route", name="is_warned", field=models.BooleanField(default=False)),
        migrations.RunPython(mark_warned, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="route",
            index=models.Index(
                condition=models.Q(("is_warned", True)), fields=["project", "rank"], name="annotation_route_warned"
            ),
        ),
    ]
