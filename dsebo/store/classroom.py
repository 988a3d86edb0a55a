"""What a class predicted: under a room's name, each nickname once a lesson, as text.

A nickname belongs to whoever took it first in a room: a row of no lesson says who that is.
"""

from __future__ import annotations

import re
import time

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from dsebo.objectives.fields import must
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded, NotAllowed, StoreError
from dsebo.store.leases import one_launch_at_a_time
from dsebo.store.rows import LOCAL_OWNER, OwnerHash
from dsebo.store.store import Store

ROOM_SIZE = 100  # nicknames in a room, where the settings do not say
MOST_NAMES = 3  # nicknames of one owner in a room
_TAKEN = "@"  # in place of a lesson: the nickname's owner
_DONE = "@done"  # in place of a room, which has letters only: the lessons that an owner has done
_NAME = re.compile(r"\w(?:[\w .'-]{0,38}[\w.])?")
_LESSON = re.compile(r"[\w-]{1,64}")
NAME_RULE = "1 to 40 letters, digits, spaces, dots, hyphens"


def record(
    store: Store,
    room: str,
    lesson: str,
    nickname: str,
    value: str,
    owner: OwnerHash = LOCAL_OWNER,
    room_size: int = ROOM_SIZE,
) -> None:
    """Keep a prediction; the same nickname's earlier one of that lesson is replaced, if it is the owner's."""
    room, nickname = checked_name("room", room), checked_name("nickname", nickname)
    if not _LESSON.fullmatch(lesson):
        raise StoreError(must("lesson", "1 to 64 letters, digits and hyphens", lesson[:40]))
    if not 1 <= len(value) <= 64:
        raise StoreError(must("prediction", "1 to 64 characters", value[:40]))
    table = schema.prediction
    same = (table.c.room == room, table.c.lesson == lesson)
    with store.write() as connection:
        one_launch_at_a_time(connection)
        _take_name(connection, room, nickname, owner, room_size)
        connection.execute(delete(table).where(*same, table.c.nickname == nickname))
        connection.execute(
            insert(table).values(
                room=room, lesson=lesson, nickname=nickname, value=value, created=time.time()
            )
        )


def _take_name(connection: Connection, room: str, nickname: str, owner: OwnerHash, room_size: int) -> None:
    """The nickname is the owner's from now on; refused where it is someone else's or the room is full."""
    table = schema.prediction
    chosen = select(table.c.nickname, table.c.value).where(table.c.room == room, table.c.lesson == _TAKEN)
    owners = {str(name): str(whose) for name, whose in connection.execute(chosen)}
    if owners.get(nickname) == owner:
        return
    if nickname in owners:
        raise NotAllowed(f"Nickname {nickname!r} is someone else's in room {room!r}: take another.")
    if len(owners) >= room_size:
        raise LimitExceeded(f"Room {room!r} is full: {room_size} nicknames.")
    if owner != LOCAL_OWNER and sum(whose == owner for whose in owners.values()) >= MOST_NAMES:
        raise LimitExceeded(f"You have {MOST_NAMES} nicknames in room {room!r}: use one of them.")
    connection.execute(
        insert(table).values(room=room, lesson=_TAKEN, nickname=nickname, value=owner, created=time.time())
    )


def predictions(store: Store, room: str, lesson: str) -> list[str]:
    """What was predicted in a room, oldest first; who predicted it stays in the store."""
    table = schema.prediction
    chosen = select(table.c.value).where(table.c.room == checked_name("room", room), table.c.lesson == lesson)
    with store.read() as connection:
        rows = connection.execute(chosen.order_by(table.c.created))
        return [str(value) for value in rows.scalars()]


def checked_name(what: str, text: str) -> str:
    """A room's name or a nickname without outer spaces; StoreError where it cannot be one."""
    plain = " ".join(text.split())
    if not _NAME.fullmatch(plain):
        raise StoreError(must(what, NAME_RULE, plain[:40]))
    return plain


def mark_done(store: Store, owner: OwnerHash, lesson: str) -> None:
    """Keep that an owner has seen the answer of a lesson."""
    if lesson in done_by(store, owner):
        return
    row = {"room": _DONE, "lesson": lesson, "nickname": owner, "value": "", "created": time.time()}
    with store.write() as connection:
        one_launch_at_a_time(connection)
        connection.execute(delete(schema.prediction).where(*_done_where(owner, lesson)))
        connection.execute(insert(schema.prediction).values(**row))


def done_by(store: Store, owner: OwnerHash) -> set[str]:
    """The lessons whose answer an owner has seen."""
    with store.read() as connection:
        chosen = select(schema.prediction.c.lesson).where(*_done_where(owner))
        return {str(lesson) for lesson in connection.execute(chosen).scalars()}


def _done_where(owner: OwnerHash, lesson: str = "") -> list[ColumnElement[bool]]:
    table = schema.prediction
    where = [table.c.room == _DONE, table.c.nickname == owner]
    return [*where, table.c.lesson == lesson] if lesson else where
