"""Who is let in: new owners by address, cookies that are not free, guesses that take time."""

from __future__ import annotations

import pytest

from dsebo.runs.admission import Admission, Guesses, address_group, client_address
from dsebo.runs.limits import check_limits
from dsebo.runs.manager import RunManager
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.errors import LimitExceeded, NotAllowed
from dsebo.store.rows import owner_hash
from dsebo.store.store import Store
from tests.small import small

TOKEN, CODE = "chalk-on-a-blackboard", "join-this-class"
CLASS = Settings(mode="class", lecturer_token=TOKEN, join_code=CODE)
HERE, THERE = "192.0.2.7", "192.0.2.8"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_five_new_owners_a_minute_from_one_address_without_the_code(store: Store) -> None:
    clock = Clock()
    admission = Admission(CLASS, store, clock)
    tokens = {admission.admit("", "", HERE) for _ in range(5)}
    assert len(tokens) == 5
    with pytest.raises(NotAllowed, match="5 new visitors a minute"):
        admission.admit("", "a wrong code", HERE)
    with pytest.raises(NotAllowed):
        admission.admit("0" * 32, "", HERE)  # a cookie that one makes oneself is new too
    admission.admit("", "", THERE)
    assert all(admission.admit(token, "", HERE) == token for token in tokens)
    assert len({admission.admit("", CODE, HERE) for _ in range(40)}) == 40  # a class is often one address
    clock.now = 61.0
    admission.admit("", "", HERE)


def test_a_token_is_known_again_after_a_restart(store: Store) -> None:
    token = Admission(CLASS, store).admit("", CODE, HERE)
    assert Admission(CLASS, store).knows(token)
    assert not Admission(CLASS, store).knows(token[:-1] + ("0" if token[-1] != "0" else "1"))
    other = CLASS.model_copy(update={"lecturer_token": "another-long-token"})
    assert not Admission(other, store).knows(token)
    manager = RunManager(store, CLASS)
    manager.launch(small(budget=3, method="random"), owner="f" * 32, paused=True)
    manager.launch(small(budget=3, method="random"), owner=TOKEN, paused=True)
    manager.close()
    assert Admission(CLASS, store).knows("f" * 32)  # of an earlier version: it has runs
    assert not Admission(CLASS, store).knows(TOKEN)  # guessed by cookies it would not be slow


def test_only_a_proxy_that_is_named_is_believed() -> None:
    assert client_address(HERE, THERE, ()) == HERE
    assert client_address("127.0.0.1", THERE, ["127.0.0.1"]) == THERE
    assert client_address("127.0.0.1", f"1.1.1.1, {THERE}", ["127.0.0.1"]) == THERE  # 1.1.1.1: anyone's word
    assert client_address("10.0.0.2", f"{THERE}, 10.0.0.9", ["10.0.0.0/8"]) == THERE
    assert client_address("127.0.0.1", "", ["127.0.0.1"]) == "127.0.0.1"
    assert address_group("2001:db8::1") == address_group("2001:db8::ffff") == "2001:db8::/64"
    assert address_group("<script>") == "unknown"


def test_wrong_tokens_take_longer_and_longer_and_a_right_one_two_seconds_at_most() -> None:
    clock, slept = Clock(), list[float]()
    guesses = Guesses(CLASS, slept.append, clock)
    for _ in range(10):
        assert not guesses.is_lecturer("wrong", "a", HERE)
    assert slept == [0, 0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert not guesses.is_lecturer("wrong", "another browser", HERE)
    assert not guesses.is_lecturer("wrong", "a", THERE)
    assert slept[-2:] == [30, 30]
    assert guesses.is_lecturer(TOKEN, "a", HERE)
    assert slept[-1] == 2
    assert guesses.is_lecturer(TOKEN, "b", "198.51.100.1")
    assert slept[-1] == 0
    clock.now = 601.0
    assert not guesses.is_lecturer("wrong", "a", HERE)
    assert slept[-1] == 0


def test_who_fills_what_there_is_for_all_keeps_nobody_out(store: Store) -> None:
    limits = LimitSettings(owner=Limits(), all=Limits(active=2, queued=8))
    manager = RunManager(store, Settings(mode="class", limits=limits))
    config = small(budget=3, method="random")
    manager.launch(config.seeds(10), owner="script", paused=True)
    with pytest.raises(LimitExceeded, match="11 unfinished runs are over the limit of 10 for all"):
        manager.launch(config, owner="script")
    manager.launch(config.seeds(5), owner="anna", paused=True)  # an equal share of two
    with pytest.raises(LimitExceeded, match="16 unfinished runs"):
        manager.launch(config, owner="anna")
    manager.launch(config, owner="ben", paused=True)
    manager.close()


def test_memory_is_waited_for_and_not_refused(store: Store) -> None:
    config = small(budget=3)
    limits = LimitSettings(owner=Limits(memory_mb=3), all=Limits())
    settings = Settings(mode="class", limits=limits)
    with store.read() as connection:
        check_limits(connection, settings, owner_hash("anna"), [(config, 3, 0)] * 100)
        tight = settings.model_copy(update={"limits": LimitSettings(owner=Limits(memory_mb=0.001))})
        with pytest.raises(LimitExceeded, match=r"memory of .* MB is over the limit of 0 MB for an owner"):
            check_limits(connection, tight, owner_hash("anna"), [(config, 3, 0)])


def test_a_class_has_totals_from_the_machine() -> None:
    limits, local = CLASS.all_limits, Settings().all_limits
    assert 0 < (limits.memory_mb or 0) < (local.memory_mb or 0)
    assert (limits.seconds or 0) >= 86_400
    assert (local.seconds or 0) >= (limits.seconds or 0)
