"""Run: choose a setting, launch it, watch it live or as it stood, understand it."""

from dsebo.ui import links
from dsebo.ui.run import start

links.require_router("run")
start.show()
