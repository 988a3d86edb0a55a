"""What a class predicted: under a room's name, each nickname once a lesson, as text."""

from __future__ import annotations

import re
import time

from sqlalchemy import delete, func, insert, select

from dsebo.store import schema
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.store import Store
from objectives.fields import must

MOST_IN_A_ROOM = 500  # predictions of one lesson
_NAME = re.compile(r"\w(?:[\w .'-]{0,38}[\w.])?")
_LESSON = re.compile(r"[\w-]{1,64}")
NAME_RULE = "1 to 40 letters, digits, spaces, dots, hyphens"


def record(store: Store, room: str, lesson: str, nickname: str, value: str) -> None:
    """Keep a prediction; the same nickname's earlier one of that lesson is replaced."""
    room, nickname = checked_name("room", room), checked_name("nickname", nickname)
    if not _LESSON.fullmatch(lesson):
        raise StoreError(must("lesson", "1 to 64 letters, digits and hyphens", lesson[:40]))
    if not 1 <= len(value) <= 64:
        raise StoreError(must("prediction", "1 to 64 characters", value[:40]))
    table = schema.prediction
    same = (table.c.room == room, table.c.lesson == lesson)
    with store.write() as connection:
        connection.execute(delete(table).where(*same, table.c.nickname == nickname))
        counted = select(func.count()).select_from(table).where(*same)
        if int(connection.execute(counted).scalar_one()) >= MOST_IN_A_ROOM:
            raise LimitExceeded(f"Room {room!r} is full: {MOST_IN_A_ROOM} predictions.")
        connection.execute(
            insert(table).values(
                room=room, lesson=lesson, nickname=nickname, value=value, created=time.time()
            )
        )


def predictions(store: Store, room: str, lesson: str) -> list[str]:
    """What was predicted in a room, oldest first; who predicted it stays in the store."""
    table = schema.prediction
    chosen = select(table.c.value).where(table.c.room == checked_name("room", room), table.c.lesson == lesson)
    with store.read() as connection:
        rows = connection.execute(chosen.order_by(table.c.created).limit(MOST_IN_A_ROOM))
        return [str(value) for value in rows.scalars()]


def checked_name(what: str, text: str) -> str:
    """A room's name or a nickname without outer spaces; StoreError where it cannot be one."""
    plain = " ".join(text.split())
    if not _NAME.fullmatch(plain):
        raise StoreError(must(what, NAME_RULE, plain[:40]))
    return plain
