"""The rules of advice: what each looks for, from which figure on, and what to do then.

A rule is a function of a FileStudy that yields findings. RULES at the end is the table; docs/report.md
shows it. Thresholds stand here, what all rules heed in finding.py. Hints are those of docs/hints.md.
"""

from dataclasses import dataclass

from ..units import count, duration, numbered, share, size, times
from .figures import Figures
from .finding import (
    Action,
    Finding,
    beyond_turns,
    called,
    collective_calls,
    each_direction,
    found,
    is_library_file,
    is_slow,
    library_together,
    model_gain,
    part,
    spends,
    ways_of,
    with_hints,
)

SMALL = 64 << 10  # bytes: calls and pieces below this cost more by their number than by their bytes
MANY = 1000  # calls or pieces of a kind in a file
PIECES_PER_CALL = 4  # from here on an access is strided
REWRITE_SHARE = 0.25  # bytes read to be written back, per byte wanted
READ_WASTE = 2.0  # bytes read per byte wanted
LOCK_SHARE = 0.15  # of the time of the ways concerned, as all shares of time below
WAIT_SHARE = 0.40  # this and TALK_SHARE beyond_turns()
TALK_SHARE = 0.40  # survey and agree
ANNOUNCE_SHARE = 0.15
PACK_SHARE = 0.50
TINY_PIECE = 64  # bytes: packing pieces below this is slower than copying
SMALL_WINDOW = 256 << 10  # bytes of an aggregator's window
UNEVEN = 2.0  # the slowest rank over the mean rank
ONE_RANK_SHARE = 0.90  # of the bytes of a file
ONE_RANK_BYTES = 16 << 20
MANY_OPENS = 16


@dataclass(frozen=True)
class Rule:
    name: str
    looks_for: str
    find: object


def is_strided(way):
    return way.pieces >= PIECES_PER_CALL * way.calls


def is_two_phase(way):
    return way.collective and way.route == "two_phase"


def independent_small(study):
    for direction, figures in each_direction(study, lambda way: not way.collective and not is_strided(way)):
        if figures.calls < MANY or figures.mean_call >= SMALL or not is_slow(study, figures, direction):
            continue
        together = f"let all ranks call {called(direction, True)}, which puts their pieces together"
        view = (
            "or describe what a rank moves in one step by MPI_File_set_view and a datatype, then one "
            f"MPI_File_{direction}_all"
        )
        alone = f"use larger calls: collect the bytes of many in a buffer, then one {called(direction, False)}"
        actions = [Action(together, collective_calls(study, direction)), Action(view)]
        if is_library_file(study):
            actions = [library_together(study, direction)]
        yield found(
            figures,
            f"{count(figures.calls)} independent {direction}s of {size(figures.mean_call)}",
            model_gain(study, figures, direction),
            *(actions if study.file.ranks > 1 else [Action(alone)]),
        )


def independent_strided(study):
    for direction, figures in each_direction(study, lambda way: not way.collective and is_strided(way)):
        if study.file.ranks == 1 or figures.pieces < MANY or figures.mean_piece >= SMALL:
            continue
        if not is_slow(study, figures, direction):
            continue
        together = (
            f"keep the view (MPI_File_set_view) and let all ranks call MPI_File_{direction}_all: where their "
            "pieces interleave, aggregators move large windows instead"
        )
        action = Action(together, collective_calls(study, direction))
        pieces = f"{count(figures.pieces)} pieces of {size(figures.mean_piece)}"
        yield found(
            figures,
            f"independent {direction}s of scattered data: {pieces} in {numbered(figures.calls, 'call')}",
            model_gain(study, figures, direction),
            library_together(study, direction) if is_library_file(study) else action,
        )


def singly(study, figures, direction):
    """Piece by piece instead of by windows, where the cost model holds that faster; else no action."""
    costs, hint = study.file.costs, f"romio_ds_{direction}"
    request_ns = costs.write_ns if direction == "write" else costs.read_ns
    singly_ns = figures.pieces * request_ns + figures.bytes_wanted * costs.byte_ns
    spent_ns = figures.ns["transfer"] + figures.ns["lock"]
    if singly_ns >= spent_ns or study.file.hints.get(hint) == "disable":
        return []
    text = (
        f"or have the pieces moved one by one, about {duration(singly_ns)} in all by the cost model, where "
        f"this took {duration(spent_ns)} in transfers and locks"
    )
    return [Action(text, with_hints(study, f"{hint}=disable"))]


def rewrites(study):
    figures = ways_of(study, "write", lambda way: way.rewrites > 0)
    if not figures or figures.bytes_rewritten < REWRITE_SHARE * figures.bytes_wanted:
        return
    larger = (
        "or write larger pieces: lay data out so that what one rank (or, in a collective call, all ranks "
        "together) writes has no holes"
    )
    yield found(
        figures,
        f"{size(figures.bytes_rewritten)} read only to be written back, for {size(figures.bytes_wanted)} wanted",
        f"{numbered(figures.rewrites, 'read-modify-write')} over holes between pieces of "
        f"{size(figures.mean_piece)}; {numbered(figures.locks, 'lock')}",
        Action("write the holes, too, where they are yours: contiguous data needs no reading back"),
        Action(larger),
        *singly(study, figures, "write"),
    )


def read_waste(study):
    figures = ways_of(study, "read", lambda way: way.bytes_read > way.bytes_wanted)
    if not figures or figures.bytes_read < READ_WASTE * figures.bytes_wanted or figures.pieces < MANY:
        return
    actions = [Action("read what lies between as well if it is needed later, in one larger call")]
    if study.file.ranks > 1 and not all(way.collective for way in figures.ways):
        together = "or let all ranks call MPI_File_read_all: each window is then read once, for everybody"
        actions.append(Action(together, collective_calls(study, "read")))
    yield found(
        figures,
        f"{size(figures.bytes_read)} read for {size(figures.bytes_wanted)} wanted",
        f"{times(figures.bytes_read / max(1, figures.bytes_wanted))} as much, for holes between pieces of "
        f"{size(figures.mean_piece)}",
        *actions,
        *singly(study, figures, "read"),
    )


def lock_waiting(study):
    figures = ways_of(study, "write", lambda way: way.locks > 0)
    if not figures or not spends(figures, LOCK_SHARE, "lock"):
        return
    actions = [Action("write without holes: only read-modify-writes need locks")]
    if any(not way.collective for way in figures.ways) and study.file.ranks > 1:
        together = "or use MPI_File_write_at_all: one lock for the whole call instead of one per window"
        actions.append(Action(together, collective_calls(study, "write")))
    promise = "if nobody but this open file writes it meanwhile (a promise: a wrong one loses bytes)"
    yield found(
        figures,
        f"{part(figures, 'lock')} of the time went to locks",
        f"{numbered(figures.locks, 'lock')}, {duration(figures.ns['lock'])} over all ranks, "
        f"{duration(figures.ns['lock'] / figures.locks)} each",
        *actions,
        Action(promise, with_hints(study, "tamis_locks=disable")),
    )


def more_aggregators(study):
    """An action where fewer ranks aggregate than could be busy at once; else None."""
    if len(study.file.aggregators) >= study.hands:
        return None
    hints, sources = study.file.hints, study.file.hint_sources
    told = [
        f"{hint}={hints.get(hint)} from {sources[hint]}"
        for hint in ("cb_nodes", "cb_config_list")
        if sources.get(hint, "default") != "default"
    ]
    why = f" ({', '.join(told)})" if told else ""
    return Action(f"let {count(study.hands)} ranks aggregate{why}", with_hints(study, f"cb_nodes={study.hands}"))


def two_phase_waits(study):
    for direction, figures in each_direction(study, is_two_phase):
        more = more_aggregators(study)
        if not spends(figures, WAIT_SHARE if more else beyond_turns(study, WAIT_SHARE), "wait"):
            continue
        late = (
            "there are aggregators enough, so ranks wait because others come late or bring more: give ranks "
            "equal shares, and look for what keeps some busy before the call"
        )
        without = Action(
            "if ranks' data do not interleave, try without aggregators",
            with_hints(study, f"romio_cb_{direction}=disable"),
        )
        yield found(
            figures,
            f"collective {direction}s waited {part(figures, 'wait')} of their time for other ranks",
            f"{duration(figures.ns['wait'])} of {duration(figures.total_ns)} over all ranks; "
            f"{numbered(len(study.file.aggregators), 'aggregator')} for {numbered(study.file.ranks, 'rank')}",
            *([more] if more else [Action(late), without]),
        )


def small_windows(study):
    figures = Figures(filter(is_two_phase, study.ways))
    source = study.file.hint_sources.get("cb_buffer_size", "default")
    if not figures.calls or source == "default" or not 0 < study.file.window_bytes < SMALL_WINDOW:
        return
    yield found(
        figures,
        f"aggregators move windows of only {size(study.file.window_bytes)}",
        f"cb_buffer_size={study.file.hints.get('cb_buffer_size')} from {source}; "
        f"{numbered(figures.windows, 'window')}, {numbered(figures.requests, 'request')}",
        Action("drop that hint, or set it higher", with_hints(study, "cb_buffer_size=16M")),
    )


def collective_talk(study):
    for direction, figures in each_direction(study, lambda way: way.collective):
        talk = ("survey", "agree")
        if figures.calls < MANY or figures.mean_call >= SMALL:
            continue
        if not spends(figures, beyond_turns(study, TALK_SHARE), *talk):
            continue
        alone = f"if each rank's data is one contiguous piece anyway, {called(direction, False)} needs no agreement"
        yield found(
            figures,
            f"collective {direction}s of {size(figures.mean_call)} per rank spend {part(figures, *talk)} of "
            "their time before and after the data",
            f"{numbered(figures.calls, 'call')} over all ranks; "
            f"{duration(sum(figures.ns[phase] for phase in talk))} to tell each other what comes and how it ended, "
            "waiting for ranks that come late included",
            Action("move more per call: several variables or time steps in one, with a datatype that spans them"),
            Action(alone),
            Action("or ranks come to the call at different times: look for what keeps some busy before it"),
        )


# What the library says of a collective access that every rank moved alone; what to do; a hint for that.
ALONE_BECAUSE = (
    ("collective buffering is disabled by hint", "a hint forbids aggregators", "romio_cb_{}=automatic"),
    (
        "sieving is disabled by hint",
        "together the ranks leave holes, and romio_ds_write=disable forbids to read and write them back: fill "
        "the holes, or allow it",
        "romio_ds_write=automatic",
    ),
    (
        "cannot be read back",
        "together the ranks leave holes, and the file may not be read to keep what is in them: fill the holes, or "
        "grant the right to read it (chmod u+r), without which MPI_MODE_RDWR would not open it either",
        "",
    ),
    (
        "gives no locks",
        "together the ranks leave holes, and this storage gives no locks under which to keep what is in them: fill "
        "the holes, use a file system with locks (tamis doctor tells), or promise that nobody else writes the file",
        "tamis_locks=disable",
    ),
    (
        "another open of the file",
        "together the ranks leave holes, and another open of the file may be writing into them: have it open in one "
        "MPI_File_open at a time",
        "",
    ),
    (
        "atomic mode",
        "the file is in atomic mode: MPI_File_set_atomicity(file, 0), and MPI_File_sync where order matters",
        "",
    ),
    ("holes are too large", "the holes are too large for windows: lay a call's data out closer together", ""),
    ("ranks disagree on the direction", "some ranks read while others write in one collective call: part them", ""),
    ("no rank may aggregate", "cb_config_list lets no rank aggregate", r"cb_config_list=*\:*"),
)


def collective_alone(study):
    for direction, figures in each_direction(study, lambda way: way.collective and way.route == "alone"):
        if study.file.ranks == 1 or figures.pieces < MANY or figures.mean_piece >= SMALL:
            continue
        accesses = [one for one in study.file.accesses if one.collective and one.direction == direction]
        said = " ".join(one.text for one in accesses)
        reasons = [
            Action(todo, with_hints(study, hint.format(direction)) if hint else "")
            for phrase, todo, hint in ALONE_BECAUSE
            if phrase in said
        ]
        pieces = f"{count(figures.pieces)} pieces of {size(figures.mean_piece)}"
        if reasons and is_slow(study, figures, direction):
            yield found(
                figures,
                f"collective {direction}s, yet every rank moved its own {pieces}",
                model_gain(study, figures, direction),
                *reasons,
            )


def unsorted(study):
    said = {access.direction for access in study.file.accesses if "back and forth" in access.text}
    for direction, figures in each_direction(study, lambda way: way.method in ("list", "gather")):
        if direction not in said or figures.pieces < MANY:
            continue
        yield found(
            figures,
            f"the view goes back and forth in the file ({direction}s)",
            f"{count(figures.pieces)} pieces of {size(figures.mean_piece)}, one request each: neither windows "
            "nor aggregators can serve such a view",
            Action(
                "sort the displacements of the filetype ascending, and permute the memory type alike: the same "
                "bytes reach the same places"
            ),
        )


def tiny_pieces(study):
    for direction, figures in each_direction(study, lambda way: way.pieces > 0):
        if figures.pieces < MANY or figures.mean_piece >= TINY_PIECE or not spends(figures, PACK_SHARE, "pack"):
            continue
        yield found(
            figures,
            f"copying pieces of {size(figures.mean_piece)} takes {part(figures, 'pack')} of the time "
            f"({direction}s)",
            f"{count(figures.pieces)} pieces, {duration(figures.ns['pack'] / figures.pieces)} each",
            Action(
                "let neighbours in the file belong to one rank: blocks instead of single elements, all variables "
                "of a cell together, or the fastest dimension undivided"
            ),
        )


def announcing(study):
    figures = Figures(way for way in study.ways if way.collective)
    if not spends(figures, ANNOUNCE_SHARE, "announce"):
        return
    yield found(
        figures,
        f"{part(figures, 'announce')} of the time went to describing views to other nodes",
        f"{size(figures.bytes_announced)} of descriptions for {size(figures.bytes_wanted)} of data",
        Action("set a view once and use it for many calls: a view that is known is not described again"),
        Action(
            "build filetypes from MPI_Type_vector or MPI_Type_create_subarray rather than from lists of "
            "displacements: they are described in a few bytes"
        ),
    )


def one_rank(study):
    pattern, ranks = study.file.pattern, study.file.ranks
    for direction, table in (("read", pattern.read), ("write", pattern.written)):
        of_rows = [sum(row) for row in table]
        total, most = sum(of_rows), max(of_rows)
        if pattern.rows == 1 or total < ONE_RANK_BYTES or most < ONE_RANK_SHARE * total:
            continue
        row = of_rows.index(most)
        first, last = row * ranks // pattern.rows, (row + 1) * ranks // pattern.rows - 1
        who, moves = (f"rank {first}", "moves") if first >= last else (f"ranks {first} to {last}", "move")
        instead = f"gathering to {who}" if direction == "write" else f"scattering from {who}"
        yield found(
            study.of(direction),
            f"{who} of {ranks} {moves} {share(most, total)} of the bytes ({direction}s)",
            f"{size(most)} of {size(total)}",
            Action(
                f"let every rank {direction} its own part with {called(direction, True)}, instead of {instead}",
                collective_calls(study, direction),
            ),
        )


def uneven_ranks(study):
    if study.file.ranks == 1 or any(one_rank(study)):
        return
    for direction, figures in each_direction(study, lambda way: not way.collective):
        mean_ns = figures.total_ns / study.file.ranks
        slowest_ns = max(way.slowest_ns for way in figures.ways)
        if figures.calls < study.file.ranks or not mean_ns or slowest_ns < UNEVEN * mean_ns:
            continue
        bound = "" if study.file.opens == 1 else "up to "
        yield found(
            figures,
            f"the slowest rank spends {bound}{times(slowest_ns / mean_ns)} the mean rank's time in independent "
            f"{direction}s",
            f"{bound}{duration(slowest_ns)} against {duration(mean_ns)}",
            Action(
                "give ranks equal shares of the file, or let the collective call share the work out: "
                + called(direction, True)
            ),
        )


def many_opens(study):
    if study.file.opens < MANY_OPENS:
        return
    keep = (
        "keep the file open over the whole run: every MPI_File_open asks the storage's metadata server and "
        "makes all ranks meet; MPI_File_sync brings bytes to storage without closing"
    )
    per_open = size(study.all.bytes_wanted / study.file.opens)
    yield Finding(
        f"opened {count(study.file.opens)} times",
        f"by {numbered(study.file.ranks, 'rank')}; {per_open} moved per open",
        (Action(keep),),
    )


def errors(study):
    if not study.all.errors:
        return
    look = Action(
        "look at the return codes: files have MPI_ERRORS_RETURN by default, so that a program that does not look "
        "goes on without its bytes",
        "MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL)",
    )
    headline = f"{numbered(study.all.errors, 'call')} failed"
    yield Finding(headline, f"of {count(study.all.calls)}", (look,), broken=True)


BEYOND_TURNS = "beyond what ranks that share cores must wait"
PIECES = f"≥ {count(MANY)} pieces"
SMALL_PIECES = f"{PIECES} of < {size(SMALL)}"

RULES = (
    Rule("errors", "any call that failed", errors),
    Rule(
        "independent_small", f"≥ {count(MANY)} independent calls of < {size(SMALL)} on average", independent_small
    ),
    Rule(
        "independent_strided",
        f"independent calls of ≥ {PIECES_PER_CALL} pieces each, {SMALL_PIECES}, by several ranks",
        independent_strided,
    ),
    Rule("rewrites", f"≥ {REWRITE_SHARE} bytes read to be written back per byte wanted", rewrites),
    Rule("read_waste", f"≥ {READ_WASTE:g} bytes read per byte wanted, in {PIECES}", read_waste),
    Rule("lock_waiting", f"≥ {share(LOCK_SHARE, 1)} of writing time in locks", lock_waiting),
    Rule(
        "two_phase_waits",
        f"≥ {share(WAIT_SHARE, 1)} of two-phase time waiting for others, {BEYOND_TURNS}",
        two_phase_waits,
    ),
    Rule("small_windows", f"two-phase windows of < {size(SMALL_WINDOW)} because of cb_buffer_size", small_windows),
    Rule(
        "collective_talk",
        f"≥ {count(MANY)} collective calls of < {size(SMALL)} per rank, ≥ {share(TALK_SHARE, 1)} of their time in "
        f"survey and agree, {BEYOND_TURNS}",
        collective_talk,
    ),
    Rule(
        "collective_alone",
        f"collective calls that went alone, for a reason that can be mended, in {SMALL_PIECES}",
        collective_alone,
    ),
    Rule("unsorted", f"a view that goes back and forth, in {PIECES}", unsorted),
    Rule(
        "tiny_pieces",
        f"pieces of < {size(TINY_PIECE)}, ≥ {share(PACK_SHARE, 1)} of the time in packing",
        tiny_pieces,
    ),
    Rule(
        "announcing",
        f"≥ {share(ANNOUNCE_SHARE, 1)} of collective time in announcing views to other nodes",
        announcing,
    ),
    Rule(
        "one_rank",
        f"≥ {share(ONE_RANK_SHARE, 1)} of ≥ {size(ONE_RANK_BYTES)} moved by one rank or group of ranks",
        one_rank,
    ),
    Rule("uneven_ranks", f"the slowest rank ≥ {UNEVEN:g} times the mean in independent calls", uneven_ranks),
    Rule("many_opens", f"≥ {MANY_OPENS} opens of a file", many_opens),
)
