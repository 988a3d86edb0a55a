"""Paper: its five tables beside this software's own runs, and how it is read."""

from dsebo.ui import links
from dsebo.ui.paper import view as paper_view

links.require_router("paper")
paper_view.show()
