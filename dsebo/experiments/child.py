"""An experiment as a process of its own, which outlives the page that started it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import threading
from typing import IO

from dsebo.experiments.records import Check, get_experiment, note_death
from dsebo.store import leases, schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import Holder
from dsebo.store.store import Store

_log = logging.getLogger(__name__)


def start_child(store: Store, experiment_id: str, check: Check | None = None) -> None:
    """Start `python -m dsebo sweep ID`, or start it again after whatever ended it.

    The child has a session of its own, so that Ctrl-C at the server does not reach it. `check` may
    refuse in the transaction that queues it.
    """
    full = get_experiment(store, experiment_id).id
    # The address goes by the environment: it may hold a password, and arguments are public.
    address = store.engine.url.render_as_string(hide_password=False)
    errors = tempfile.TemporaryFile()  # noqa: SIM115  (who waits for the child closes it)
    child = subprocess.Popen(
        [sys.executable, "-m", "dsebo", "sweep", full],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env={**os.environ, "DSEBO_DB": address},
        start_new_session=True,
    )
    holder = Holder.of(child.pid)
    try:
        leases.claim(store, schema.experiment, full, holder, check, state="queued", wanted="run")
    except StoreError:
        child.kill()
        raise
    finally:
        threading.Thread(target=_see_off, args=(store, full, child, holder, errors), daemon=True).start()


def _see_off(
    store: Store, experiment_id: str, child: subprocess.Popen[bytes], holder: Holder, errors: IO[bytes]
) -> None:
    """Wait for the child, which else would stay as a zombie; if it died, note its last words."""
    code = child.wait()
    errors.seek(0)
    output = errors.read()[-2000:].decode(errors="replace").strip()
    errors.close()
    if code == 0:
        return
    try:
        last = output.splitlines()[-1] if output else "it said nothing."
        note_death(store, experiment_id, holder, f"Its process ended with code {code}: {last}")
    except StoreError as error:
        _log.warning("Experiment %s ended with code %s: %s %s", experiment_id[:8], code, output, error)
