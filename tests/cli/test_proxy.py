"""A class behind nginx, as docs/teaching.md has it: who is counted as one address, and who is let in."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.browsers import Browser
from dsebo.runs.admission import NEW_OWNERS
from dsebo.store.rows import LOCAL_OWNER, owner_hash
from dsebo.store.store import Store
from tests.processes import ROOT, anywhere, dsebo, free_port, start
from tests.small import wait_for

CODE = "join-this-class"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed: the proxy cannot be tried."),
]


def documented(folder: Path, port: int, behind: int) -> str:
    """The configuration of docs/teaching.md, without TLS and on loopback."""
    text = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    found = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)
    assert found is not None
    server = re.sub(r"listen .*", f"listen 127.0.0.1:{port};", found[1]).replace(":8501", f":{behind}")
    server = re.sub(r"ssl_\w+ .*;", "", server)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    top = f"daemon off;\npid {folder}/pid;\nerror_log {folder}/errors;\nworker_processes 1;\n"
    return f"{top}events {{}}\nhttp {{\naccess_log off;\n{paths}{server}}}\n"


@contextmanager
def behind_nginx(folder: Path, proxies: str) -> Iterator[tuple[int, int]]:
    """The ports of nginx and of the class behind it."""
    port, behind, settings = free_port(), free_port(), folder / "class.toml"
    settings.write_text(
        f'mode = "class"\naddress = "127.0.0.1"\nproxies = {proxies}\njoin_code = "{CODE}"\n'
        'lecturer_token = "chalk-on-a-blackboard"\n'
    )
    (folder / "nginx.conf").write_text(documented(folder, port, behind))
    env = {**anywhere(), "DSEBO_SETTINGS": str(settings), "DSEBO_DB": f"sqlite:///{folder}/runs.db"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    app = start(dsebo("app", "--port", str(behind), "--no-browser"), env=env, **quiet)
    nginx = subprocess.Popen([str(NGINX), "-c", str(folder / "nginx.conf"), "-p", str(folder)], **quiet)
    try:
        wait_for(lambda: _is_up(port), 90)
        yield port, behind
    finally:
        nginx.terminate()
        nginx.wait(20)
        app.terminate()
        app.wait(30)


def _is_up(port: int) -> bool:
    try:
        Browser(port).close()
    except Exception:
        return False
    return True


def comes_in(port: int, address: str, join: str = "", claims: str = "") -> bool:
    """Whether a new browser at that address is let in; it may claim to be elsewhere."""
    headers = {"X-Forwarded-For": claims} if claims else {}
    query = f"join={join}&D=60" if join else "D=60"
    browser = Browser(port, query, source_address=(address, 0), additional_headers=headers)
    try:
        browser.open()
        refused = any("new visitors a minute" in words for words in browser.said)
        assert refused or not browser.said, browser.said
        if join and not refused:
            browser.press("Launch")
        return not refused
    finally:
        browser.close()


def how_many(port: int, addresses: list[str], claims: str = "") -> int:
    """How many of these come in; at once, as on a busy machine a minute is soon over."""
    with ThreadPoolExecutor(len(addresses)) as pool:
        return sum(pool.map(lambda address: comes_in(port, address, claims=claims), addresses))


def test_a_proxy_that_is_named_says_who_comes(tmp_path: Path) -> None:
    with behind_nginx(tmp_path, '["127.0.0.1"]') as (port, _):
        assert all(comes_in(port, "127.0.0.2", CODE) for _ in range(NEW_OWNERS + 1))  # and launch
        store = Store.open(f"sqlite:///{tmp_path}/runs.db")
        launched = store.list_runs(limit=NEW_OWNERS + 1)
        assert len({row.owner for row in launched} - {owner_hash(LOCAL_OWNER)}) == NEW_OWNERS + 1
        store.close()
        assert how_many(port, ["127.0.0.2"] * (NEW_OWNERS + 1), claims="192.0.2.7") == NEW_OWNERS
        assert comes_in(port, "127.0.0.3")


def test_a_proxy_that_is_not_named_is_not_believed(tmp_path: Path) -> None:
    with behind_nginx(tmp_path, "[]") as (port, behind):
        assert comes_in(port, "127.0.0.2", CODE)
        others = [f"127.0.0.{number}" for number in range(3, 4 + NEW_OWNERS)]
        assert how_many(port, others) == NEW_OWNERS  # all are the proxy
        assert how_many(behind, ["127.0.0.2"] * (NEW_OWNERS + 1), claims="192.0.2.7") == NEW_OWNERS
