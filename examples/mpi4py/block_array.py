"""A 3-D array in blocks: written collectively by all ranks, then read by every rank in slabs of another shape.

usage: mpiexec -n N python block_array.py FILE [PLANES ROWS COLUMNS]
"""
import sys

import numpy as np
from mpi4py import MPI

SHAPE = tuple(map(int, sys.argv[2:5])) or (24, 36, 40)


def block_of(rank, ranks):
    """The rank's block: start and size in each dimension, from an even split over a grid of ranks."""
    grid = MPI.Compute_dims(ranks, 3)
    place = np.unravel_index(rank, grid)
    starts = [size * at // parts for size, at, parts in zip(SHAPE, place, grid)]
    ends = [size * (at + 1) // parts for size, at, parts in zip(SHAPE, place, grid)]
    return starts, [end - start for start, end in zip(starts, ends)]


def slab_of(rank, ranks):
    """A slab across the slowest dimension."""
    first, last = SHAPE[0] * rank // ranks, SHAPE[0] * (rank + 1) // ranks
    return [first, 0, 0], [last - first, *SHAPE[1:]]


def part_of(array, starts, sizes):
    return array[tuple(slice(start, start + size) for start, size in zip(starts, sizes))]


def set_view(file, starts, sizes):
    filetype = MPI.DOUBLE.Create_subarray(SHAPE, sizes, starts).Commit()
    file.Set_view(0, MPI.DOUBLE, filetype)
    filetype.Free()


def main():
    world = MPI.COMM_WORLD
    whole = np.arange(np.prod(SHAPE), dtype=np.float64).reshape(SHAPE)
    block, slab = block_of(world.rank, world.size), slab_of(world.rank, world.size)
    file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
    status = MPI.Status()
    set_view(file, *block)
    file.Write_all(np.ascontiguousarray(part_of(whole, *block)), status)
    wrong = int(status.Get_count(MPI.DOUBLE) != np.prod(block[1]))
    file.Sync()
    world.Barrier()
    set_view(file, *slab)
    read = np.empty(slab[1])
    file.Read_all(read)
    file.Close()
    wrong += np.count_nonzero(read != part_of(whole, *slab))
    wrong = world.allreduce(int(wrong))
    if world.rank == 0:
        print(f"block_array: {world.size} ranks, {wrong} wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
