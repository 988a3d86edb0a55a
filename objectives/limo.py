"""Molecules from a latent space of 1024 numbers: LIMO-style, our own smaller VAE.

x in [-1, 1]^1024 gives the latent point z = √3 x, so that a uniform x has the mean and the variance of the
standard normal distribution that the VAE was trained with. The decoder gives a SELFIES string, which is
always a molecule. F is its penalised logP, negated: a higher logP is better, and F is minimised.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from .base import Objective, ObjectiveConfig, inside_the_box

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    Array = NDArray[np.float64]

DECODER = Path(__file__).parent / "data" / "limo_decoder.npz"
LATENT, LENGTH = 1024, 72
SCALE = 3.0**0.5
NOTHING = "[nop]"  # the symbol that fills a string up to LENGTH
LARGEST_FREE = 6  # atoms of a ring that costs nothing


class LimoConfig(ObjectiveConfig):
    """There is one decoder, and nothing to set."""

    picture: ClassVar[str] = "Molecule"

    kind: Literal["limo"] = "limo"

    @classmethod
    def names(cls) -> list[str]:
        """The one there is."""
        return ["limo"]

    @classmethod
    def description(cls, name: str) -> str:
        """What it is, and what it is not."""
        return (
            "1024 latent variables of a molecule with a high penalised logP. LIMO-style, our own smaller VAE."
        )

    @property
    def D(self) -> int:
        """The size of the latent space."""
        return LATENT

    @property
    def seconds(self) -> float:
        """Measured on the same machine as the methods."""
        return 0.002

    def unavailable(self) -> str:
        """Whether rdkit or selfies is missing."""
        missing = [name for name in ("rdkit", "selfies") if find_spec(name) is None]
        if missing:
            return f"limo needs {' and '.join(missing)}: pip install 'dsebo[molecules]'."
        return ""

    @classmethod
    def with_references(cls) -> list[LimoConfig]:
        """The one there is."""
        return [cls(name="limo")]

    def build(self) -> Limo:
        """The task; its decoder is read at the first evaluation."""
        return Limo()


class Limo(Objective):
    """F(x): the penalised logP of the molecule at x, negated. Constant almost everywhere: no gradient."""

    name, dimension = "limo", LATENT

    def evaluate(self, x: Tensor) -> Tensor:
        """Each row by its molecule."""
        import torch

        points = inside_the_box(self, x)
        return torch.tensor([-penalised_logp(self.smiles(point)) for point in points], dtype=torch.float64)

    def smiles(self, x: Array) -> str:
        """The molecule at a (1024,) point."""
        return Decoder.shipped().smiles(SCALE * x)

    def portrait(self, x: Array) -> Molecule:
        """The molecule at x."""
        return Molecule(self.smiles(x))


class Decoder:
    """From z to a molecule: three layers in NumPy, and the likeliest symbol at each place."""

    def __init__(self, file: Path = DECODER) -> None:
        with np.load(file) as kept:
            self.layers = [
                (kept[f"weights{k}"].astype(np.float64), kept[f"biases{k}"].astype(np.float64))
                for k in range(3)
            ]
            self.symbols = np.array([s if s != NOTHING else "" for s in kept["symbols"].tolist()])
            self.made: dict[str, Any] = json.loads(str(kept["made"]))

    @staticmethod
    @cache
    def shipped() -> Decoder:
        """The one that comes with the package."""
        return Decoder()

    def smiles(self, z: Array) -> str:
        """The molecule of a (1024,) latent point, as RDKit writes it."""
        import selfies

        values = z
        for k, (weights, biases) in enumerate(self.layers):
            values = weights @ (np.maximum(values, 0.0) if k else values) + biases
        likeliest = values.reshape(LENGTH, len(self.symbols)).argmax(axis=1)
        written: str = selfies.decoder("".join(self.symbols[likeliest]))
        return written


def penalised_logp(smiles: str) -> float:
    """logP less the synthetic accessibility score and what the largest ring has above six atoms.

    NaN of what is no molecule: a run counts that as a failed evaluation.
    """
    molecule = Molecule(smiles)
    if molecule.rdkit is None:
        return float("nan")
    return molecule.logp - molecule.accessibility - molecule.ring_excess


@dataclass(frozen=True)
class Molecule:
    """A molecule, and the three parts of its value."""

    smiles: str

    @cached_property
    def rdkit(self) -> Any:
        """RDKit's object; None where there are no atoms or it refuses them."""
        from rdkit import Chem, rdBase

        rdBase.DisableLog("rdApp.*")  # else every refused molecule is a line in the terminal
        molecule = Chem.MolFromSmiles(self.smiles)
        return molecule if molecule is not None and molecule.GetNumAtoms() else None

    @property
    def logp(self) -> float:
        """Crippen's estimate."""
        from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors

        return float(CalcCrippenDescriptors(self.rdkit)[0])

    @property
    def accessibility(self) -> float:
        """How hard it is to make, from 1 (easy) to 10: Ertl and Schuffenhauer's score."""
        return float(_sascorer().calculateScore(self.rdkit))

    @property
    def ring_excess(self) -> int:
        """How many atoms the largest ring has above six."""
        rings = self.rdkit.GetRingInfo().AtomRings()
        return max(max(map(len, rings), default=0) - LARGEST_FREE, 0)

    @property
    def value(self) -> float:
        """The penalised logP."""
        return penalised_logp(self.smiles)

    def svg(self, width: int, height: int) -> str:
        """RDKit's drawing, on white: its colours are made for that."""
        from rdkit.Chem.Draw import rdMolDraw2D

        drawer = rdMolDraw2D.MolDraw2DSVG(width, height)
        rdMolDraw2D.PrepareAndDrawMolecule(drawer, self.rdkit)
        drawer.FinishDrawing()
        drawn: str = drawer.GetDrawingText()
        return drawn


@cache
def _sascorer() -> Any:
    """RDKit's Contrib is no package: its folder has to be on the path for the import."""
    from rdkit.Chem import RDConfig

    folder = str(Path(RDConfig.RDContribDir) / "SA_Score")
    sys.path.append(folder)
    try:
        import sascorer  # type: ignore[import-not-found]
    finally:
        sys.path.remove(folder)
    return sascorer
