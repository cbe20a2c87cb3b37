"""Where the built or installed library lies: one prefix with bin/, lib/ and lib/tamis/."""

from dataclasses import dataclass
from pathlib import Path

from .errors import UserError

MPI_NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}


@dataclass(frozen=True)
class Library:
    prefix: Path

    @property
    def preload(self):
        """The file that may be preloaded into anything; it finds the MPI of the process."""
        return self.prefix / "lib" / "libtamis.so"

    def of_mpi(self, mpi):
        return self.prefix / "lib" / f"libtamis-{mpi}.so"

    @property
    def hints_helper(self):
        return self.prefix / "lib" / "tamis" / "tamis-hints"

    @property
    def explain_helper(self):
        return self.prefix / "lib" / "tamis" / "tamis-explain"

    @property
    def probe_helper(self):
        return self.prefix / "lib" / "tamis" / "tamis-probe"

    @property
    def scale_helper(self):
        return self.prefix / "lib" / "tamis" / "tamis-scale"

    def rank_probe(self, mpi):
        """A small program of that MPI: two ranks of it show whether the preload works."""
        return self.prefix / "lib" / "tamis" / f"tamis-rank-{mpi}"

    def served_mpis(self):
        return [mpi for mpi in MPI_NAMES if self.of_mpi(mpi).is_file()]

    def require(self, path):
        """The path, where it is there; else says how it comes to be."""
        if not path.is_file():
            raise UserError(
                f"{path} is not there: the library is not built. "
                "Run `make build` in the source directory, or `make install`."
            )
        return path

    def require_preload(self, mpi):
        """The file to preload for ranks of that MPI (None: unknown until they run)."""
        preload = self.require(self.preload)
        if mpi is not None:
            self.require(self.of_mpi(mpi))
        elif not self.served_mpis():
            self.require(self.of_mpi("mpich"))
        if any(character in str(preload) for character in " :\t"):
            raise UserError(
                f"the loader cannot preload {preload}: LD_PRELOAD takes no blanks or colons in a "
                "path. Install it elsewhere."
            )
        return preload
