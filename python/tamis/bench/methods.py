"""What each access method of paper 004 costs a client, by arithmetic, from a description of the access. Pure."""

from .paper004 import BUFFER_BYTES, LIST_REGIONS, METHODS, RUNS


def ceiling(number, step):
    return -(-number // step)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def check_runs(description):
    """The arithmetic here and the program's own must speak of the same access."""
    for client in description["per_rank"]:
        runs = list(runs_of(description, client["rank"]))
        here = (sum(length for _, length in runs), len(runs), runs[0][0], runs[-1][0] + runs[-1][1])
        there = tuple(client[name] for name in ("desired_bytes", "file_pieces", "first", "end"))
        if here != there:
            raise ValueError(f"{description['workload']}, client {client['rank']}: {here} here, {there} there")


def runs_of(description, rank):
    return RUNS[description["workload"]](rank, description["ranks"], description["parameters"])


def domain_of(description, rank):
    """Two-phase I/O: the clients' equal parts of what lies between the first and the last byte of all."""
    first = min(client["first"] for client in description["per_rank"])
    end = max(client["end"] for client in description["per_rank"])
    ranks = description["ranks"]
    return first + (end - first) * rank // ranks, first + (end - first) * (rank + 1) // ranks


def own_bytes(description, rank):
    """What a client wants of its own part of the file: all else comes from others, or goes to them."""
    begin, end = domain_of(description, rank)
    return sum(max(0, min(offset + length, end) - max(offset, begin)) for offset, length in runs_of(description, rank))


def quantities(desired, accessed, operations, resent=None):
    return {"desired": desired, "accessed": accessed, "operations": operations, "resent": resent}


def two_phase(description, desired):
    """All bytes between the first and the last one are wanted by somebody in these three workloads."""
    domains = [domain_of(description, client["rank"]) for client in description["per_rank"]]
    return quantities(
        desired, mean(end - begin for begin, end in domains),
        mean(ceiling(end - begin, BUFFER_BYTES) for begin, end in domains),
        mean(client["desired_bytes"] - own_bytes(description, client["rank"]) for client in description["per_rank"]))


def sieving(description, desired, direction):
    """From the first to the last byte a client wants, by the buffer; a write moves every buffer twice."""
    passes = 2 if direction == "write" else 1
    spans = [client["end"] - client["first"] for client in description["per_rank"]]
    return quantities(desired, passes * mean(spans), passes * mean(ceiling(span, BUFFER_BYTES) for span in spans))


def formulas(description, direction):
    """By method, per client, in bytes. REQUIRES: a description of one call."""
    desired = mean(client["desired_bytes"] for client in description["per_rank"])
    pieces = [client["pieces"] for client in description["per_rank"]]
    return dict(zip(METHODS, (
        quantities(desired, desired, mean(pieces)),
        sieving(description, desired, direction),
        two_phase(description, desired),
        quantities(desired, desired, mean(ceiling(count, LIST_REGIONS) for count in pieces)),
        quantities(desired, desired, 1),
    )))
