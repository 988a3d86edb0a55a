"""Browsers without a screen: they speak Streamlit's own protocol, so that 30 fit on one machine."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

TIMEOUT = 60.0


@dataclass(frozen=True)
class Refresh:
    """One exchange: what was sent back, and how long it took."""

    seconds: float
    bytes: int


class Browser:
    """One tab. `options`: of the connection, as the address that it comes from."""

    def __init__(self, port: int, query: str = "", page: str = "", **options: Any) -> None:
        self.query, self.page = query, page
        self.fragment = ""
        self.every = 0.0
        self.buttons: dict[str, str] = {}
        self.said: list[str] = []  # warnings and errors of the last exchange
        self._kept: set[str] = set()  # large elements that need not be sent again
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        self._socket = connect(address, max_size=None, compression=None, **options)

    def open(self) -> Refresh:
        """Draw the whole page."""
        return self._exchange(BackMsg())

    def refresh(self) -> Refresh:
        """What the page's own timer does."""
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        return self._exchange(message)

    def press(self, label: str) -> Refresh:
        """Press a button."""
        message = BackMsg()
        widget = message.rerun_script.widget_states.widgets.add()
        widget.id, widget.trigger_value = self.buttons[label], True
        return self._exchange(message)

    def close(self) -> None:
        """Close the tab."""
        self._socket.close()

    def _exchange(self, message: BackMsg) -> Refresh:
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        message.rerun_script.cached_message_hashes.extend(self._kept)
        self.said = []
        began, size = time.perf_counter(), 0
        self._socket.send(message.SerializeToString())
        finished = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        while True:
            data = self._socket.recv(timeout=TIMEOUT)
            assert isinstance(data, bytes)
            size += len(data)
            answer = ForwardMsg.FromString(data)
            self._note(answer)
            if answer.WhichOneof("type") == "script_finished" and (answer.script_finished in finished):
                return Refresh(time.perf_counter() - began, size)

    def _note(self, answer: ForwardMsg) -> None:
        kind = answer.WhichOneof("type")
        if answer.metadata.cacheable:
            self._kept.add(answer.hash)
        if kind == "page_info_changed":
            self.query = answer.page_info_changed.query_string
        elif kind == "delta" and answer.delta.new_element.WhichOneof("type") in ("alert", "exception"):
            element = answer.delta.new_element
            self.said.append(element.alert.body or element.exception.message)
        elif kind == "delta" and answer.delta.new_element.WhichOneof("type") == "button":
            button = answer.delta.new_element.button
            self.buttons[button.label] = button.id
        elif kind == "delta" and answer.delta.new_element.bidi_component.component_name == "live_tick":
            tick = json.loads(answer.delta.new_element.bidi_component.json)
            self.fragment, self.every = answer.delta.fragment_id, tick["every"] or 0.0
