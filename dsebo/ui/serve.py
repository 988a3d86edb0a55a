"""`streamlit run` with what makes the first seconds short: pages' modules loaded and the store opened while
no one waits yet, and the first words in the page itself.

python -m dsebo.ui.serve run app.py
"""

import logging
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

import click
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import memory_uploaded_file_manager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.starlette import App
from streamlit.web.bootstrap import load_config_options
from streamlit.web.cli import configurator_options, main
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

# What the four places import. Streamlit would do so at the first request, while a reader waits.
import dsebo.ui.experiments.view
import dsebo.ui.learn.chapters
import dsebo.ui.paper.view
import dsebo.ui.run.watch  # noqa: F401
from dsebo.objectives.fields import ConfigError
from dsebo.settings import Settings
from dsebo.ui import front, session

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
MOST_UPLOADS = 20  # that wait at a time, each for its "Import it"
_log = logging.getLogger(__name__)


class Uploads(memory_uploaded_file_manager.MemoryUploadedFileManager):
    """What was uploaded and not yet imported: a session's newest file, of so many sessions.

    Streamlit keeps all that a session has ever sent, and anyone can send without a page.
    """

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep it, and let go of the session's earlier one, or of who has waited longest."""
        self.remove_session_files(session_id)
        while len(self.file_storage) >= MOST_UPLOADS:
            self.remove_session_files(next(iter(self.file_storage)))
        super().add_file(session_id, file)


@main.command("run")  # in place of Streamlit's own
@configurator_options
@click.argument("script", type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path))
def run(script: Path, **options: Any) -> None:
    """Serve the app; options are Streamlit's."""
    config._main_script_path = str(script)
    load_config_options(options)
    sys.argv = [str(script)]  # what Streamlit finds its settings and pages beside
    given = {name.replace("_", "."): value for name, value in options.items() if value not in (None, ())}
    memory_uploaded_file_manager.MemoryUploadedFileManager = Uploads  # type: ignore[misc]
    try:
        App(script, routes=front.routes(_base()), lifespan=_get_ready).run(config=given)
    except KeyboardInterrupt:  # the way to end it
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@asynccontextmanager
async def _get_ready(app: App) -> AsyncIterator[None]:
    host = config.get_option("server.address") or EVERYWHERE
    here = f"{LOOPBACK if host == EVERYWHERE else host}:{config.get_option('server.port')}{_base()}"
    visit = threading.Thread(target=_visit, args=(f"ws://{here}/_stcore/stream",), daemon=True)
    visit.start()
    _end_once()
    yield


def _end_once() -> None:
    """Ctrl-C comes from the terminal and from `dsebo app`, which cannot know that: the second would cut
    short what the first has begun."""
    first = signal.getsignal(signal.SIGINT)

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if callable(first):
            first(number, frame)

    signal.signal(signal.SIGINT, end)


def _base() -> str:
    """The path on the server under which the app is; empty, or with a slash before it."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def _visit(address: str) -> None:
    """Open the first page, so that the store is open and what is loaded at its first use has been."""
    asked = BackMsg()
    try:
        code = Settings.load().join_code
        asked.rerun_script.query_string = urlencode({"join": code}) if code else ""
        with connect(address, max_size=None, user_agent_header=session.OURSELVES) as socket:
            socket.send(asked.SerializeToString())
            while not _is_last(ForwardMsg.FromString(socket.recv(timeout=60))):
                pass
    except (OSError, WebSocketException, ConfigError) as error:  # a reader will see the page, or why not
        _log.info("The first page was not opened ahead of time: %s", error)


def _is_last(message: ForwardMsg) -> bool:
    """Whether the script has run to its end."""
    ended = message.WhichOneof("type") == "script_finished"
    return ended and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


if __name__ == "__main__":
    sys.exit(main(prog_name="streamlit"))
