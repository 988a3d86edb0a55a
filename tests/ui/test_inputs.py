"""What is put into an input is said again until the browser has sent it back."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from dsebo.ui.inputs import put, put_again

    if "K" not in st.session_state:
        put("K", 7)
    put_again()
    st.number_input("K", value=None, step=1, key="K")


def test_a_value_is_said_until_the_browser_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = AppTest.from_function(page).run()
    with monkeypatch.context() as lost:  # the input's code has not come: nothing of it is sent
        lost.setattr(type(app._tree), "get_widget_states", lambda _: WidgetStates())
        for _ in range(2):
            app.run()
            assert app.number_input(key="K").proto.set_value
    assert app.run().number_input(key="K").value == 7
    assert not app.number_input(key="K").proto.set_value  # it has it: what a reader types there stays
    app.number_input(key="K").set_value(None).run()
    assert app.run().number_input(key="K").value is None  # emptied by its reader
