"""Why a figure of the formulas is not the paper's, and one of the library not the formulas': a sentence each."""

from .paper004 import METHODS, QUANTITIES

# Paper and formula differ: by workload, method and quantity.
PAPER = {
    ("tile", "two-phase", "resent"):
        "the paper's 1.50 is two thirds of a tile, as if a client's part of the frame held a third of its tile's rows "
        "(256 of 768); a sixth of the frame is 234.7 rows, so 69.4 % of a tile come from others.",
    ("block3d", "data sieving", "accessed"):
        "the paper's figure is the size of all planes a client takes part in; from its first to its last byte it is "
        "less than one plane (1.37 MB) shorter.",
    ("block3d", "list I/O", "operations"):
        "a client's rows over 64, rounded up, is what the formula gives (and the paper, for 64 clients); the paper "
        "counts one request more here and does not say for what.",
}
SILENT = {
    ("flash", "data sieving"):
        "the paper has no figures, since PVFS had no locks and so no sieving writes; the formula counts every buffer "
        "twice, read and written back.",
}
ALWAYS = {
    ("flash", "two-phase", "resent"):
        "the paper prints a formula in the number of clients n, whose factor is not legible in the text at hand; "
        "(n-1)/n is taken, as a client keeps the nth part it writes itself: 3.75 for two.",
}


def whole(number):
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def sieving(_quantity, formula, counted):
    if counted["methods"] != ["sieve"]:
        return f"the library refused to sieve here and took {' and '.join(counted['methods'])}."
    if counted["accessed"] < formula["accessed"]:
        return ("the library's windows begin and end at wanted bytes, so that what lies between two windows is left "
                "out, and a write reads back no window that it fills.")
    return (f"the library cuts {whole(counted['windows'])} windows a client where the arithmetic cuts "
            f"{whole(formula['operations'])}.")


def two_phase(quantity, formula, counted):
    if quantity == "operations":
        return (f"the library's windows are {whole(counted['window_bytes'] / 1024)} KiB, several in flight within the "
                "buffer of 4 MB, and each is a request of its own.")
    if quantity == "resent":
        return ("the library cuts the file between aggregators at multiples of its own unit, not into exactly equal "
                "parts, so that another share of a client's bytes is its own.")
    return "the library's aggregators access only what somebody wants, whole windows where that is everything."


def listed(_quantity, formula, counted):
    if "gather" in counted["methods"]:
        return ("without sieving the library packs small pieces of memory and makes a request of each run of the file "
                f"or buffer; list I/O over single pieces would be {whole(formula['operations'])} lists.")
    return "the library's lists end where its buffer does, too."


def posix(_quantity, _formula, counted):
    return f"the library took {' and '.join(counted['methods'])} for single calls."


LIBRARY = dict(zip(METHODS, (posix, sieving, two_phase, listed)))


def of_lists(counted):
    """What was counted where the library's operations are lists."""
    if counted["methods"] == ["list"]:
        yield (f"list I/O: Tamis's operations are the lists it hands its driver; POSIX has no call for a list, so the "
               f"driver made {whole(round(counted['system_calls'], 1))} system calls of them.")


def of_paper(table, method, texts):
    """`texts`: quantity -> (printed, formula) as printed, with the paper's digits."""
    if (table.workload, method) in SILENT:
        yield f"{method}: {SILENT[table.workload, method]}"
        return
    for quantity in QUANTITIES:
        printed, formula = texts[quantity]
        key = (table.workload, method, quantity)
        if key in ALWAYS:
            yield f"{method}, {quantity}: {ALWAYS[key]}"
        if printed is not None and printed != formula:
            yield f"{method}, {quantity}: paper {printed}, formula {formula}: {PAPER.get(key, 'not explained.')}"


def of_library(method, formula, counted, texts):
    """`texts`: quantity -> (formula, counted) as printed."""
    told = {}
    for quantity in QUANTITIES:
        by_formula, by_library = texts[quantity]
        if by_library is not None and by_formula is not None and by_formula != by_library:
            sentence = LIBRARY[method](quantity, formula, counted)
            told.setdefault(sentence, []).append(f"{quantity} {by_library} for {by_formula}")
    for sentence, figures in told.items():
        yield f"{method}: Tamis has {', '.join(figures)}: {sentence}"
