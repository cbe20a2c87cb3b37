"""tamis scale: the engine at many simulated ranks, beside models of the papers' algorithms."""

import subprocess

from .errors import UserError

WORKLOADS = ["dist3d", "block2d", "btio", "hpio", "unstruc", "checkpoints", "timesteps"]
EXAMPLES = """examples:
  tamis scale --ranks 1024                      all workloads; seconds
  tamis scale --ranks 1024,16384,131072 dist3d  a quarter of an hour, and 5 GiB of memory
  tamis scale --paragon                         tables 1 to 6 of the paper of 1999, measured and computed"""


def add_arguments(scale):
    scale.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="of " + ", ".join(WORKLOADS) + " (all)")
    scale.add_argument("--ranks", default="1024", metavar="N,...", help="numbers of simulated ranks (1024)")
    scale.add_argument("--aggregators", metavar="N", help="of them (one per node, at most 64)")
    scale.add_argument("--read", action="store_true", help="reads (writes)")
    scale.add_argument("--paragon", action="store_true", help="the machine of the paper instead")


def command(library, arguments):
    unknown = [name for name in arguments.workloads if name not in WORKLOADS]
    if unknown:
        raise UserError(f"no workload is called {unknown[0]}; there are {', '.join(WORKLOADS)}")
    words = [str(library.require(library.scale_helper)), "--ranks", arguments.ranks]
    if arguments.workloads:
        words += ["--workloads", ",".join(arguments.workloads)]
    if arguments.aggregators:
        words += ["--aggregators", arguments.aggregators]
    words += ["--read"] if arguments.read else []
    words += ["--paragon"] if arguments.paragon else []
    return words


def scale(library, arguments):
    """The exit code of the simulation, whose tables go straight to the output."""
    return subprocess.run(command(library, arguments), check=False).returncode
