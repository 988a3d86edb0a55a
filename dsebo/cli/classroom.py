"""`dsebo app --class`: the settings that a class needs, made where they are missing, and shown."""

from __future__ import annotations

import os
import secrets
import socket
import tomllib

from dsebo.cli.output import refuse
from dsebo.qr import qr_blocks
from dsebo.settings import Settings, settings_file

EVERYWHERE = "0.0.0.0"
PROXY = (
    "Beyond a trusted network put a reverse proxy with TLS before it. It must forward the websocket upgrade\n"
    'and X-Forwarded-For; name it in the settings, proxies = ["127.0.0.1"], and set address = "127.0.0.1".\n'
    "docs/teaching.md has an nginx and a systemd example."
)


def make_settings() -> Settings:
    """The settings of a class; what the file lacks is added at its top, and nothing in it is changed."""
    file = settings_file()
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        given = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return Settings.load(file)  # which says what is wrong with it
    if given.get("mode", "class") != "class":
        refuse(f'{file} says mode = "{given["mode"]}": --class needs mode = "class" there.')
    needed = {
        "mode": "class",
        "address": EVERYWHERE,
        "join_code": secrets.token_hex(5),
        "lecturer_token": secrets.token_urlsafe(24),
    }
    lines = [f'{name} = "{value}"\n' for name, value in needed.items() if not given.get(name)]
    empty = [name for name in needed if given.get(name) == ""]
    if empty:
        refuse(f"{file}: {empty[0]} is empty: take the line out and it will be made.")
    if lines:
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write("".join(lines) + text)
        new.replace(file)  # for its owner only: it holds the token
    return Settings.load(file)


def check_class(settings: Settings) -> None:
    """Refuse a class that anyone could enter or nobody could lead."""
    missing = [name for name in ("join_code", "lecturer_token") if not getattr(settings, name)]
    if missing:
        refuse(f"A class needs {' and '.join(missing)}: dsebo app --class makes what the settings lack.")


def describe_class(settings: Settings, port: int) -> str:
    """What the lecturer needs to know when the server is up."""
    host = _own_address() if settings.address == EVERYWHERE else settings.address
    link = f"http://{host}:{port}/?join={settings.join_code}"
    return (
        f"For the class: {link}\n{qr_blocks(link)}\n"
        f"For the lecturer, who gives it under Lecturer on the Run page: {settings.lecturer_token}\n"
        f"Both are in {settings_file()}.\n{PROXY}"
    )


def _own_address() -> str:
    """This machine's address on its network; no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:  # no network
            return socket.gethostname()
