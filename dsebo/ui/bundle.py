"""x"""


def import_bundled(store: object) -> None:
    """x"""
