"""Links to the Sweep page: how it is framed, and sweeps that this version cannot show."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from dsebo.runs.manager import RunManager
from dsebo.store import schema
from tests.pages.conftest import open_page, said
from tests.pages.sweeps import Stored, box, button, make_runs, one_axis, stored

__all__ = ["stored"]  # a fixture


def test_a_link_without_the_menu_says_nothing_of_it() -> None:
    at = open_page("sweep", hide="nav")
    assert not at.exception
    assert not at.warning
    assert at.query_params["hide"] == "nav"


def test_a_sweep_without_the_menu_has_its_own_form(manager: RunManager, stored: Stored) -> None:
    make_runs(manager.store, one_axis())
    at = open_page("sweep", sweep=stored(one_axis(), "finished"), hide="nav")
    assert not at.exception
    assert not at.warning
    button(at, "Change and run again").click().run()
    assert box(at, "Values of β").value == "2,6"
    assert at.query_params["hide"] == "nav"


@pytest.mark.parametrize(
    ("before", "after"), [('"d_l"', '"method": "annealing", "d_l"'), ('"D"', '"name": "gone", "D"')]
)
def test_a_sweep_of_what_no_longer_exists_is_refused_in_a_sentence(
    manager: RunManager, stored: Stored, before: str, after: str
) -> None:
    sweep_id = stored(one_axis(), "finished")
    text = one_axis().to_json().replace(before, after, 1)
    with manager.store.write() as connection:
        connection.execute(update(schema.experiment).values(spec=text))
    at = open_page("sweep", sweep=sweep_id)
    assert not at.exception
    assert len(at.warning) == 1
    assert at.warning[0].value.startswith(f"Experiment {sweep_id[:8]} cannot be shown here")
    assert "What varies" in said(at)
    at.run()  # and it is not opened again
    assert not at.warning
