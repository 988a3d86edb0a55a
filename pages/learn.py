"""Learn: predict, then run, then see why; the theorem as the last chapter."""

from dsebo.ui import links
from dsebo.ui.learn import chapters

links.require_router("learn")
chapters.show()
