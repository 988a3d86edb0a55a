"""Run: choose a setting, launch it, watch it, understand it; live or stored."""

from dsebo.ui import links
from dsebo.ui.run import start, views

links.require_router("run")
{"run": start.show, "replay": views.show_replay, "embedding": views.show_embedding}[
    links.choose_view({"run": "Live", "replay": "Replay", "embedding": "Embedding"}, "run view")
]()
