"""A display wall: six ranks, three across and two down, each with its own screen.

Every rank reads its tile of each frame of a raw RGB sequence, grades the picture and writes the part it owns of the
processed sequence. The same is done at the four levels at which a program can ask MPI-IO for noncontiguous data:

    0  many independent requests, one per row          2  one independent request through a subarray view
    1  many collective requests, one per row           3  one collective request through a subarray view

Usage: mpiexec -n 6 python wall.py SOURCE RESULT LEVEL:FRAMES:ROWS... (rank 0 prints one line of JSON per level).
ROWS says how many rows of a part are timed at levels 0 and 1; the others follow untimed and independently.
Level "limit" moves as many bytes per rank as one contiguous piece with pread and pwrite, without MPI-IO.
"""
import json
import os
import sys
import time

import numpy as np
from mpi4py import MPI

import grade
import wall_layout as layout

world = MPI.COMM_WORLD


def subarray(part):
    """The filetype of one part of one frame."""
    filetype = MPI.BYTE.Create_subarray(
        [layout.FRAME_HEIGHT, layout.FRAME_WIDTH * 3], [part.height, part.width * 3], [part.top, part.left * 3])
    return filetype.Commit()


def started():
    world.Barrier()
    return time.monotonic()


def seconds_since(start):
    """From the first rank's start to the last one's end. All ranks are on one machine, so their clocks agree;
    with more ranks than cores the slowest rank's own time would leave out its waiting for a core."""
    end = world.allreduce(time.monotonic(), MPI.MAX)
    return end - world.allreduce(start, MPI.MIN)


def move_rows(transfer, part, frames, rows):
    """Levels 0 and 1: a request for every row."""
    for number, frame in enumerate(frames):
        for row in rows:
            transfer(layout.offset_of(number, part.top + row, part.left), frame[row])


def move_views(transfer, frames):
    """Levels 2 and 3: a request for every frame; the view says where its rows are."""
    for frame in frames:
        transfer(frame)


def move(path, amode, level, part, frames, rows):
    """Moves the part of every frame between the file and `frames`. Returns the seconds it took all ranks; at levels
    0 and 1 those of the first `rows` rows."""
    file = MPI.File.Open(world, path, amode)
    if amode == MPI.MODE_RDONLY:
        transfers = [file.Read_at, file.Read_at_all, file.Read, file.Read_all]
    else:
        transfers = [file.Write_at, file.Write_at_all, file.Write, file.Write_all]
    start = started()
    if level < 2:
        move_rows(transfers[level], part, frames, range(rows))
        seconds = seconds_since(start)
        move_rows(transfers[0], part, frames, range(rows, part.height))
    else:
        filetype = subarray(part)
        file.Set_view(0, MPI.BYTE, filetype)
        move_views(transfers[level], frames)
        seconds = seconds_since(start)
        filetype.Free()
    file.Close()
    return seconds


def move_contiguous(path, flags, frames):
    """The limit: the same number of bytes per frame as one piece, each rank in a stretch of the file of its own."""
    call = os.preadv if flags == os.O_RDONLY else os.pwritev
    file = os.open(path, flags, 0o644)
    start = started()
    for number, frame in enumerate(frames):
        place = (number * world.size + world.rank) * frame.nbytes
        call(file, [frame], place % (len(frames) * layout.FRAME_BYTES - frame.nbytes))
    seconds = seconds_since(start)
    os.close(file)
    return seconds


def play(level, source, result, frame_count, rows):
    """One pass over the sequence. Returns the seconds of reading and writing, and the bytes all ranks moved in them."""
    tile, owned = layout.tile(world.rank), layout.owned(world.rank)
    frames = np.empty((frame_count, tile.height, tile.width, 3), np.uint8)
    graded = np.zeros((frame_count, owned.height, owned.width, 3), np.uint8)
    if level == "limit":
        write_s = move_contiguous(result, os.O_CREAT | os.O_WRONLY, graded)
        read_s = move_contiguous(source, os.O_RDONLY, frames)
        timed = frames.nbytes, graded.nbytes
    else:
        row_counts = [min(rows, part.height) for part in (tile, owned)]
        read_s = move(source, MPI.MODE_RDONLY, int(level), tile, frames, row_counts[0])
        check(source, tile, frames)
        for number in range(frame_count):
            graded[number] = owned.within(tile).cut(grade.process(frames[number]))
        write_s = move(result, MPI.MODE_CREATE | MPI.MODE_WRONLY, int(level), owned, graded, row_counts[1])
        timed = [pixels[:, :count].nbytes for pixels, count in zip((frames, graded), row_counts)]
    return {
        "level": level, "frames": frame_count, "read_s": read_s, "write_s": write_s,
        "read_bytes": world.allreduce(timed[0]), "write_bytes": world.allreduce(timed[1]),
    }


def check(source, tile, frames):
    """Every byte that was read, against the same file seen by numpy."""
    expected = np.memmap(source, np.uint8, "r").reshape(-1, layout.FRAME_HEIGHT, layout.FRAME_WIDTH, 3)
    for number, frame in enumerate(frames):
        if not np.array_equal(frame, tile.cut(expected[number])):
            raise RuntimeError(f"rank {world.rank}: frame {number} was not read as it is in the file")


def main():
    source, result, *passes = sys.argv[1:]
    if world.size != layout.RANKS:
        sys.exit(f"the wall has {layout.RANKS} screens; start as many ranks")
    for level, frame_count, rows in (word.split(":") for word in passes):
        answer = play(level, source, f"{result}.{level}", int(frame_count), int(rows))
        if world.rank == 0:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # one rank's failure ends all of them, with its reason
        print(f"wall.py, rank {world.rank}: {error}", file=sys.stderr, flush=True)
        world.Abort(1)
