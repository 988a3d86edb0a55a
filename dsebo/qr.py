"""A link as a QR code, drawn on this machine: for a terminal and for a page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import segno


def qr_blocks(link: str) -> str:
    """Lines of half blocks: light ones are drawn, so a terminal must have a dark background, as most do."""
    drawn = io.StringIO()
    _code(link).terminal(drawn, compact=True, border=2)
    return drawn.getvalue().rstrip("\n")


def qr_svg(link: str) -> str:
    """A picture that any width suits; dark on light in every theme, as cameras expect it."""
    drawn = io.BytesIO()
    _code(link).save(drawn, kind="svg", border=4, light="#fff", omitsize=True, xmldecl=False)
    return drawn.getvalue().decode()


def _code(link: str) -> segno.QRCode:
    import segno

    return segno.make_qr(link, error="m")
