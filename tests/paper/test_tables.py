"""The paper's tables, and which runs are of its settings."""

from __future__ import annotations

import pytest

from dsebo.config import parse_flat
from dsebo.paper.tables import is_paper_task, paper_results, paper_rows, paper_value
from objectives import names


def plain(**flat: object) -> dict[str, object]:
    return parse_flat(flat).model_dump(mode="json")


def test_the_papers_tables_are_all_there() -> None:
    table = paper_results()
    assert len(table) == 343
    assert set(table["table"]) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", names()[:6])
def test_the_papers_value_where_the_setting_is_the_papers(name: str) -> None:
    assert paper_value(plain(function=name)) is not None
    assert paper_value(plain(function=name, beta=8.0)) is None
    assert paper_value(plain(function=name, budget=400)) is None
    assert paper_rows(plain(function=name, d_e=20)).empty


def test_the_papers_sphere() -> None:
    assert paper_value(plain()) == 3.9387
    assert paper_value(parse_flat({}).forked("a" * 32, None, 17).model_dump(mode="json")) is None
    assert paper_value(plain(D=10_000)) is not None
    assert not is_paper_task(plain(c=5.0))
