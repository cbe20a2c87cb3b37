"""What is measured: each function runs one program over its cases and returns records (dictionaries)."""

import statistics

LEVELS = "p,0,2,3"  # in one job; level 1 has jobs of its own, on a smaller array where ranks > cores


def dist3d(runner, mpis, place, ranks, plan):
    """Every level, write and read. The host's MPI-IO and Tamis take turns, round after round."""
    samples, endings = {}, {}
    for _ in range(plan.rounds):
        for mpi in mpis:
            for variant in mpi.variants:
                key = (mpi.name, variant.name)
                if endings.get(key) == "timeout":
                    continue
                for levels, n in ((LEVELS, plan.n), ("1", plan.n_level1(ranks))):
                    arguments = ["--path", str(place / "bench.dat"), "--n", str(n), "--levels",
                                 levels, "--reps", str(plan.reps), "--budget", str(plan.level_seconds)]
                    lines, ending = runner.run(mpi, variant, ranks, "dist3d", arguments)
                    if ending != "ok":
                        endings[key if levels != "1" else (*key, "level 1")] = ending
                    for line in lines:
                        if "summary" not in line:
                            case = (*key, line["level"], line["op"], line["n"])
                            samples.setdefault(case, []).append(line["bytes"] / line["seconds"] / 2**20)
    records = [
        {"program": "dist3d", "ranks": ranks, "mpi": mpi, "variant": variant, "level": level, "op": op,
         "n": n, **spread(values)}
        for (mpi, variant, level, op, n), values in samples.items()
    ]
    for key, ending in endings.items():
        records.append({"program": "dist3d", "ranks": ranks, "mpi": key[0], "variant": key[1],
                        "ending": ending, "what": " ".join(key[2:])})
    return records


def spread(values):
    """Median, extremes and number of MiB/s."""
    return {"mib_per_s": statistics.median(values), "least": min(values), "most": max(values),
            "samples": len(values)}


def contig(runner, mpis, place, plan):
    """4 KiB accesses against bare pwrite and pread in the same process."""
    records = []
    for mpi in mpis:
        for _ in range(plan.rounds):
            for variant in mpi.variants:
                arguments = ["--path", str(place / "bench.dat"), "--blocks", str(plan.contig_blocks)]
                lines, ending = runner.run(mpi, variant, 1, "contig", arguments)
                records += labelled(lines, mpi, variant, ending, "contig")
    return records


def bigvector(runner, mpis, place, plan):
    """A view of 10^8 blocks, and of 10^6 so that something can be said of those that fail at the other."""
    records = []
    for blocks in (1_000_000, 100_000_000):
        for mpi in mpis:
            for variant in mpi.variants:
                if blocks > 1_000_000 and plan.short and variant.name != "Tamis":
                    continue
                arguments = ["--path", str(place / "bench.dat"), "--blocks", str(blocks)]
                if blocks == 1_000_000:
                    arguments += ["--access", "524288"]
                lines, ending = runner.run(mpi, variant, 1, "bigvector", arguments)
                records += labelled(lines, mpi, variant, ending, "bigvector")
    return records


def memory(runner, mpis, place, plan):
    """Resident memory beside the user's buffers, by size and by hint."""
    records = []
    sizes = "4,16" if plan.short else "4,16,64"
    for mpi in mpis:
        for variant in mpi.variants:
            arguments = ["--path", str(place / "bench.dat"), "--sizes", sizes, "--buffers", "1,4,16"]
            lines, ending = runner.run(mpi, variant, 4, "memory", arguments)
            records += labelled(lines, mpi, variant, ending, "memory")
    return records


def labelled(lines, mpi, variant, ending, program):
    found = [{**line, "mpi": mpi.name, "variant": variant.name} for line in lines]
    if ending != "ok":
        found.append({"program": program, "mpi": mpi.name, "variant": variant.name, "ending": ending,
                      "what": ""})
    return found
