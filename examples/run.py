#!/usr/bin/env python3
"""Compiles and runs every example under every MPI that has its libraries, and checks the files it leaves.

The checks are independent of MPI: raw files byte for byte, HDF5 and NetCDF files through h5dump and ncdump.
With --tamis the examples run with Tamis preloaded, or, with --link too, linked before the MPI (C and Fortran).
Prints "N passed, N failed" and ends with 1 if any failed.
"""
import argparse
import array
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

EXAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES.parent / "tools"))
import mpi_hosts


class Wrong(Exception):
    """A file does not hold what the example should have written."""


@dataclass(frozen=True)
class Example:
    source: str
    check: Callable        # (file, ranks): raises Wrong
    flags: Callable        # (mpi): compiler flags, or None where this MPI has not got the library
    language: str = "c"    # "c", "fortran", or the name of a function that finds the Python interpreter


def no_flags(_):
    return []


def hdf5_flags(mpi):
    return pkg_config(f"hdf5-{mpi.name}")


def pnetcdf_flags(mpi):
    """Debian builds PnetCDF for Open MPI only."""
    return pkg_config("pnetcdf") if mpi.name == "openmpi" else None


def pkg_config(package):
    answer = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True)
    return answer.stdout.split() if answer.returncode == 0 else None


def venv_flags(mpi):
    return [] if mpi.has_python else None


def h5py_flags(mpi):
    """Debian's h5py for MPI is an Open MPI build, for the system's Python."""
    present = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi").is_dir()
    return [] if mpi.name == "openmpi" and present else None


def expect(found, wanted, what):
    found, wanted = list(found), list(wanted)
    if found != wanted:
        at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
        raise Wrong(f"{what}: {len(found)} values for {len(wanted)}, the first difference at {at}")


def raw(kind, file):
    numbers = array.array(kind)
    numbers.frombytes(Path(file).read_bytes())
    return numbers


def check_c(file, ranks):
    expect(raw("i", file), (100000 * row + column for row in range(96) for column in range(40 * ranks)), "matrix")


def check_fortran(file, ranks):
    wanted = (100000 * column + row for column in range(1, 97) for row in range(1, 40 * ranks + 1))
    expect(raw("i", file), wanted, "matrix")


def check_block_array(file, _):
    expect(raw("d", file), range(24 * 36 * 40), "array")


def tool(*command):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if answer.returncode != 0:
        raise Wrong(f"{command[0]}: {answer.stderr.strip()[-300:]}")
    return answer.stdout


def h5dump(file, dataset):
    """The numbers of a dataset, without the indices that h5dump prints before each line."""
    text = tool("h5dump", "-y", "-w", "0", "-d", f"/{dataset}", str(file))
    block = re.search(r"DATA \{(.*?)\}", text, re.DOTALL)
    if block is None:
        raise Wrong(f"h5dump shows no data in {dataset}")
    return [float(word) for word in re.findall(r"[-+.\w]+", block.group(1))]


def ncdump(file, variable):
    text = tool("ncdump", "-p", "9,17", "-v", variable, str(file))
    block = re.search(rf"^ {variable} =(.*?);", text.split("data:")[1], re.DOTALL | re.MULTILINE)
    if block is None:
        raise Wrong(f"ncdump shows no data in {variable}")
    return [float(word) for word in block.group(1).replace(",", " ").split()]


def check_h5py(file, ranks):
    expect(h5dump(file, "matrix"), range(12 * ranks * 30), "matrix")
    expect(h5dump(file, "squares"), (rank ** 2 for rank in range(ranks)), "squares")


def check_hyperslab(file, ranks):
    expect(h5dump(file, "matrix"), (1000 * row + column for row in range(20) for column in range(6 * ranks)), "matrix")


def check_pnetcdf(file, ranks):
    places = [(row, column) for row in range(16) for column in range(10 * ranks)]
    expect(ncdump(file, "temperature"), (1000 * row + column for row, column in places), "temperature")
    expect(ncdump(file, "pressure"), (row + 0.25 * column for row, column in places), "pressure")
    if 'temperature:unit = "kelvin"' not in tool("ncdump", "-h", str(file)):
        raise Wrong("the attribute is missing")


LIST = (
    Example("c/subarray.c", check_c, no_flags),
    Example("fortran/mpif_h.f90", check_fortran, no_flags, "fortran"),
    Example("fortran/use_mpi.f90", check_fortran, no_flags, "fortran"),
    Example("fortran/use_mpi_f08.f90", check_fortran, no_flags, "fortran"),
    Example("mpi4py/block_array.py", check_block_array, venv_flags, "venv"),
    Example("h5py/dataset.py", check_h5py, h5py_flags, "system"),
    Example("hdf5/hyperslab.c", check_hyperslab, hdf5_flags),
    Example("pnetcdf/variables.c", check_pnetcdf, pnetcdf_flags),
)


def interpreter(example, mpi):
    return mpi.python if example.language == "venv" else "/usr/bin/python3"


def linked_first(mpi, arguments):
    """Tamis before everything that leads to the MPI: the order of libraries decides whose MPI_File_* is called."""
    if not arguments.link:
        return []
    folder = arguments.tamis.resolve()
    return ["-Wl,--no-as-needed", f"-L{folder}", f"-l{mpi.tamis_library(folder).stem[3:]}", f"-Wl,-rpath,{folder}"]


def build(example, mpi, flags, folder, arguments):
    """The command that starts the example; compiled into `folder` where it is to be compiled."""
    source = EXAMPLES / example.source
    if example.language not in ("c", "fortran"):
        return [interpreter(example, mpi), source]
    program = folder / f"{source.stem}-{mpi.name}"
    line = [mpi.compiler(example.language), "-O1", "-o", program, source, *linked_first(mpi, arguments), *flags]
    answer = subprocess.run(line, capture_output=True, text=True)
    if answer.returncode != 0:
        raise Wrong(f"does not compile:\n{answer.stdout}{answer.stderr}")
    return [program]


def run(example, mpi, ranks, command, folder, arguments):
    """One start; returns its seconds."""
    file = folder / f"{Path(example.source).stem}-{mpi.name}-{ranks}.out"
    preload = mpi.tamis_library(arguments.tamis) if arguments.tamis and not arguments.link else None
    outcome = mpi_hosts.run(mpi.mpiexec(ranks, [*command, file], preload), arguments.timeout, cwd=folder)
    if outcome.timed_out:
        raise Wrong(f"still running after {arguments.timeout:g} s")
    if outcome.code != 0 or " 0 wrong" not in outcome.output:
        raise Wrong(f"exit code {outcome.code}\n{outcome.output[-1500:]}")
    example.check(file, ranks)
    return outcome.seconds


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tamis", type=Path, metavar="DIR", help="folder of libtamis-*.so; without it the MPI's own")
    parser.add_argument("--link", action="store_true", help="link Tamis instead of preloading it")
    parser.add_argument("--mpi", action="append", choices=[mpi.name for mpi in mpi_hosts.HOSTS], help="default: all")
    parser.add_argument("--only", metavar="WORD", default="", help="examples whose path contains WORD")
    parser.add_argument("--ranks", type=int, action="append", metavar="N", help="default: 1, 2 and 4")
    parser.add_argument("--timeout", type=float, default=90, help="seconds for one start (default 90)")
    arguments = parser.parse_args()
    if arguments.link and not arguments.tamis:
        parser.error("--link needs --tamis")
    return arguments


def run_all(example, mpi, folder, arguments):
    """One example under one MPI at all numbers of ranks. Yields (words, trouble or None)."""
    name = f"{example.source} {mpi.name}"
    flags = example.flags(mpi)
    if flags is None or (arguments.link and example.language not in ("c", "fortran")):
        return
    try:
        command = build(example, mpi, flags, folder, arguments)
    except Wrong as trouble:
        yield name, trouble
        return
    for ranks in arguments.ranks or (1, 2, 4):
        try:
            seconds = run(example, mpi, ranks, command, folder, arguments)
            yield f"{name} {ranks} ranks  {seconds:.1f} s", None
        except Wrong as trouble:
            yield f"{name} {ranks} ranks", trouble


def main():
    mpi_hosts.end_by_signals()
    arguments = parse_arguments()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tamis-examples-") as name:
        for mpi in mpi_hosts.installed_hosts(arguments.mpi):
            if arguments.tamis and not mpi.tamis_library(arguments.tamis).is_file():
                sys.exit(f"examples: {mpi.tamis_library(arguments.tamis)} is not built")
            for example in (example for example in LIST if arguments.only in example.source):
                for words, trouble in run_all(example, mpi, Path(name), arguments):
                    passed, failed = passed + (trouble is None), failed + (trouble is not None)
                    print(f"ok      {words}" if trouble is None else f"FAILED  {words}: {trouble}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
