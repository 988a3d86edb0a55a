"""`streamlit run` with the pages' modules loaded before the first browser asks for one.

python -m dsebo.ui.serve run app.py
"""

import sys

from streamlit.web.cli import main

# What the four places import. Streamlit would do so at the first request, while a reader waits.
import dsebo.ui.experiments.view
import dsebo.ui.learn.chapters
import dsebo.ui.paper.view
import dsebo.ui.run.watch  # noqa: F401

if __name__ == "__main__":
    sys.exit(main(prog_name="streamlit"))
