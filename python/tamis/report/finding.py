"""What a rule finds, and the phrases that findings share."""

import re
from dataclasses import dataclass

from ..units import duration, numbered, share
from .figures import Figures, ideal_ns

WORTHWHILE = 2.0  # times the least that the storage needs: below this pieces are no matter
MATTERS = 0.05  # of the file's time: ways below this give no advice
HDF5_FILES = re.compile(r"\.(h5|hdf5|hdf|he5)$")
NETCDF_FILES = re.compile(r"\.(nc|nc4)$")


@dataclass(frozen=True)
class Action:
    """Something to do; `code` is what to type, where there is something."""

    text: str
    code: str = ""


@dataclass(frozen=True)
class Finding:
    headline: str
    evidence: str
    actions: tuple
    ns: int = 0  # summed over ranks: the time it is about
    broken: bool = False  # not slow but wrong


def found(figures, headline, evidence, *actions):
    """A finding about the time of these figures."""
    return Finding(headline, evidence, actions, figures.total_ns)


def ways_of(study, direction, accept):
    """Figures over the ways that are accepted, where they matter in the file; else None."""
    ways = [way for way in study.ways if way.direction == direction and accept(way)]
    figures, whole = Figures(ways), study.all.total_ns
    return figures if ways and (whole == 0 or figures.total_ns >= MATTERS * whole) else None


def each_direction(study, accept):
    """(direction, figures) of the ways that are accepted, reads and writes apart, where they matter."""
    for direction in study.used_directions():
        figures = ways_of(study, direction, accept)
        if figures:
            yield direction, figures


def spends(figures, least, *phases):
    """Whether so much of the time goes to these phases."""
    return figures.total_ns > 0 and sum(figures.ns[phase] for phase in phases) >= least * figures.total_ns


def part(figures, *phases):
    """Their share of the time, printed."""
    return share(sum(figures.ns[phase] for phase in phases), figures.total_ns)


def called(direction, collective):
    """The call to name in advice; explicit offsets where nothing is said of a view."""
    return f"MPI_File_{direction}_at" + ("_all" if collective else "")


def with_hints(study, hints):
    """How the user of a run gives hints to this file, without touching the program."""
    name = study.file.name.rsplit("/", 1)[-1]
    pattern = name if re.fullmatch(r"[\w.+-]+", name) else "*"
    return f"TAMIS_HINTS='{pattern}:{hints}' tamis run -- ..."


def is_library_file(study):
    """Whether HDF5 or netCDF stands between the program and MPI-IO, by the name."""
    return any(kind.search(study.file.name) for kind in (HDF5_FILES, NETCDF_FILES))


def collective_calls(study, direction):
    """How collective calls are asked for in what may stand between a program and MPI-IO."""
    if HDF5_FILES.search(study.file.name):
        return "HDF5: H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE)\nh5py: with dataset.collective: ..."
    if NETCDF_FILES.search(study.file.name):
        return "netCDF-4: nc_var_par_access(file, variable, NC_COLLECTIVE)\nPnetCDF: the calls ending in _all"
    return f"mpi4py: file.{direction.capitalize()}_at_all(offset, buffer)"


def library_together(study, direction):
    """What to do where the calls are not the program's own but the library's."""
    text = (
        f"tell the library that all ranks {direction} together: it then makes one collective call of each "
        "transfer instead of one call for each piece"
    )
    return Action(text, collective_calls(study, direction))


def beyond_turns(study, least):
    """The share of all their time that ranks wait, if it is `least` of what they need not wait anyway, as ranks
    that take turns on the cores do."""
    idle = 1 - study.hands / study.file.ranks
    return idle + (1 - idle) * least


def turns(job):
    """[why ranks wait for each other whatever they do], where there are more of them than cores."""
    cores = job.cores * job.nodes
    return [f"{numbered(job.ranks, 'rank')} take turns on {numbered(cores, 'core')}"] if job.ranks > cores else []


def least_ns(study, figures, direction):
    """What the storage would need for the same bytes in large requests."""
    return ideal_ns(study.file.costs, direction, figures.bytes_wanted, study.hands)


def is_slow(study, figures, direction):
    """Whether there is something to gain: not where the storage could hardly do better."""
    return figures.slowest_ns >= WORTHWHILE * least_ns(study, figures, direction)


def model_gain(study, figures, direction):
    """What it took, and what the storage would need."""
    return (
        f"{figures.spent_on_slowest(study.file.opens)}; in large requests the same bytes need about "
        f"{duration(least_ns(study, figures, direction))} of the storage, by the cost model"
    )
