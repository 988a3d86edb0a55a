"""Experiments: all runs, several of them compared, methods raced, settings varied."""

from dsebo.ui import links
from dsebo.ui.experiments import places

links.require_router("experiments")
places.SHOWS[links.choose_view(places.VIEWS, "experiments view")]()
