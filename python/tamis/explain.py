"""tamis explain: what would be decided for an access, or was in a job; nothing is run."""

import json
import subprocess
import sys
import textwrap

from .errors import UserError
from .report import merge

EXAMPLES = """patterns: what each rank has in the file (sizes: 4096, 4k, 4KiB, 1M; bytes where no unit stands)
  contiguous bytes=4KiB                       one piece; rank r's stands behind rank r-1's
  blocks piece=512 stride=4096 count=1000     pieces of 512 bytes, one every 4096 bytes; rank r's begin where
                                              those of rank r-1 end, so that the ranks take turns
  cyclic piece=8 bytes=1MiB                   1 MiB for each rank, dealt out in pieces of 8 bytes in turn
  block2d n=1000 elem=8                       the rank's block of a 1000 x 1000 array of 8-byte elements,
  block3d n=600x400x200 elem=4                and of one with three dimensions, the last one contiguous
  tile width=1024 height=768 elem=3 columns=3 rows=2 overlap_x=270 overlap_y=128
                                              the rank's picture on a wall of displays
  list offsets=0,100,4096 lengths=8,8,16      pieces one by one (one length: all the same); copies=N repeats
  dataloop 'vector(10, stride 16, contig(4))' a datatype as Tamis prints it; copies=N repeats it
every pattern takes begin=BYTE for rank 0; contiguous, blocks, list and dataloop also rank_stride=BYTES,
how much further in the file each next rank begins.
--memory takes contiguous, blocks piece= stride=, list and dataloop, repeated as often as needed.
--realm, once for each, takes blocks piece= stride=, list and dataloop, laid end to end from begin=BYTE on;
extent=BYTES says after how many bytes the next copy begins. Nodes are called node0, node1, ...

examples:
  tamis explain --write contiguous bytes=4KiB
  tamis explain --read --ranks 64 --nodes 8 block3d n=600 elem=4
  tamis explain --write --alone blocks piece=64 stride=96 count=100000 --hint romio_ds_write=disable
  tamis explain --write --memory 'blocks piece=8 stride=16' contiguous bytes=1MiB
  tamis explain --report job.json"""


def add_arguments(explain):
    what = explain.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", dest="direction", action="store_const", const="write", help="the access writes")
    what.add_argument("--read", dest="direction", action="store_const", const="read", help="the access reads")
    what.add_argument("--report", metavar="JOB.json", help="what was decided in a job (of TAMIS_REPORT)")
    explain.add_argument("pattern", nargs="*", metavar="PATTERN", help="see below")
    explain.add_argument("--alone", action="store_true", help="each rank by itself, no collective call")
    explain.add_argument("--memory", metavar="PATTERN", help="pieces in memory (contiguous)")
    explain.add_argument("--ranks", metavar="N", help="ranks that have the file open (8)")
    explain.add_argument("--nodes", metavar="N", help="nodes they are spread over (1)")
    explain.add_argument("--cores", metavar="N", help="cores of each node (one for each rank)")
    explain.add_argument("--hint", action="append", default=[], metavar="KEY=VALUE", help="a hint in force")
    explain.add_argument("--realm", action="append", default=[], metavar="PATTERN",
                         help="one of the file realms that the program gives by tamis_file_set_realms")
    explain.add_argument("--file", metavar="NAME", help="also the hints of the environment for a file of that name")
    explain.add_argument("--atomic", action="store_true", help="in atomic mode (MPI_File_set_atomicity)")
    costs = explain.add_mutually_exclusive_group()
    costs.add_argument("--filesystem", metavar="NAME", help="costs a job finds there where none were measured: ext4 "
                       "(the default), tmpfs, xfs, nfs, lustre, gpfs, other")
    costs.add_argument("--costs", metavar="read_ns=N,...", help="of the storage: read_ns, write_ns, byte_ns, lock_ns")
    costs.add_argument("--profile", metavar="FILE", help="the same from what tamis calibrate stored")
    explain.add_argument("--no-locks", action="store_true", help="the storage has no byte-range locks")
    explain.add_argument("--json", action="store_true", help="for programs: one JSON document")


def helper_words(arguments):
    """The question as the helper takes it."""
    words = [f"pattern={' '.join(arguments.pattern)}", f"direction={arguments.direction}"]
    for key in ("memory", "ranks", "nodes", "cores", "filesystem", "costs", "profile", "file"):
        value = getattr(arguments, key)
        if value is not None:
            words.append(f"{key}={value}")
    words += [f"hint={hint}" for hint in arguments.hint]
    words += [f"realm={realm}" for realm in arguments.realm]
    if arguments.alone:
        words.append("alone=1")
    if arguments.atomic:
        words.append("atomic=1")
    if arguments.no_locks:
        words.append("locks=0")
    return words


def ask_library(library, arguments):
    command = [str(library.require(library.explain_helper)), *helper_words(arguments)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if answer.returncode != 0:
        raise UserError(answer.stderr.decode(errors="replace").strip() or f"{command[0]} ended with {answer.returncode}")
    return json.loads(answer.stdout.decode(errors="replace"))


def recorded_json(job):
    return {
        "files": [
            {
                "name": file.name,
                "accesses": [
                    {"direction": one.direction, "collective": one.collective, "calls": one.calls, "text": one.text}
                    for one in file.accesses
                ],
            }
            for file in job.files
        ]
    }


def recorded_lines(job):
    """The decisions of a job, file by file; of each open the ones that its rank 0 has kept."""
    for file in job.files:
        yield f"{file.name}: {file.ranks} rank{'' if file.ranks == 1 else 's'}"
        if not file.accesses:
            yield "  no data access was recorded"
        for access in file.accesses:
            together = "collective " if access.collective else ""
            yield f"  {access.calls} {together}call{'' if access.calls == 1 else 's'}, decided as"
            yield textwrap.indent(access.text, "    ")


def explain(library, arguments, write):
    if arguments.report is not None:
        if arguments.pattern:
            raise UserError("--report tells what was decided in a job; a pattern has no place beside it")
        job = merge.load_job(arguments.report)
        if arguments.json:
            write(json.dumps(recorded_json(job), indent=1))
        else:
            for line in recorded_lines(job):
                write(line)
        return 0
    if not arguments.pattern:
        raise UserError("a pattern is wanted, such as: contiguous bytes=4KiB (tamis explain --help has them all)")
    answer = ask_library(library, arguments)
    for hint in answer["ignored"]:
        print(f"ignored: {hint['key']}={hint['value']}: {hint['reason']}", file=sys.stderr)
    write(json.dumps(answer, indent=1) if arguments.json else answer["text"])
    return 0
