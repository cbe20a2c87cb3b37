"""An HDF5 file through h5py built for MPI: ranks write alternating rows collectively, then read their neighbour's.

usage: mpiexec -n N python dataset.py FILE
"""
import sys

import h5py
import numpy as np
from mpi4py import MPI

ROWS_PER_RANK, COLUMNS = 12, 30


def rows_of(rank, ranks):
    """Every ranks-th row: as noncontiguous in the file as it can be."""
    return slice(rank, ROWS_PER_RANK * ranks, ranks)


def main():
    world = MPI.COMM_WORLD
    shape = (ROWS_PER_RANK * world.size, COLUMNS)
    whole = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    mine = rows_of(world.rank, world.size)
    theirs = rows_of((world.rank + 1) % world.size, world.size)
    with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
        matrix = file.create_dataset("matrix", shape, dtype="i4")
        squares = file.create_dataset("squares", (world.size,), dtype="f8")
        with matrix.collective:
            matrix[mine, :] = whole[mine]
        squares[world.rank] = float(world.rank) ** 2
    with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
        matrix = file["matrix"]
        with matrix.collective:
            read = matrix[theirs, :]
        all_squares = file["squares"][:]
    wrong = np.count_nonzero(read != whole[theirs])
    wrong += np.count_nonzero(all_squares != np.arange(world.size) ** 2)
    wrong = world.allreduce(int(wrong))
    if world.rank == 0:
        print(f"dataset: {world.size} ranks, {wrong} wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
