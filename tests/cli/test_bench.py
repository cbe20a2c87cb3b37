"""tamis bench: turns, records, words for failures, figures, the tables of paper 004; and a run from end to end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import job_documents as documents
from support import BUILD, ROOT, TAMIS, clean_environment, tamis, write_script

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "python"))

from tamis.bench import (aims, cases, cells, counted, differences, jobs, methods, paper004, paper_plots,  # noqa: E402
                         plots, results, show, tables)
from tamis.bench.cases import Case  # noqa: E402
from tamis.bench.implementations import Implementation, Mpi  # noqa: E402
from tamis.bench.records import Records, open_records  # noqa: E402
from tamis.errors import UserError  # noqa: E402
from tamis.report import merge  # noqa: E402

MPIS = [mpi for mpi in ("mpich", "openmpi")
        if shutil.which(f"mpiexec.{mpi}") and (BUILD / "lib" / f"libtamis-{mpi}.so").is_file()]
MIB = 2**20


class Directory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)


def mpi_of(name, *implementations):
    return Mpi(name, "mpiexec", "mpicc", "1.0", Path("."), [Implementation(one) for one in implementations])


class Turns(unittest.TestCase):
    MPIS = [mpi_of("mpich", "ROMIO", "Tamis"), mpi_of("openmpi", "OMPIO", "ROMIO", "Tamis")]
    ENTRANTS = {("mpich", "ROMIO"), ("mpich", "Tamis"),
                ("openmpi", "OMPIO"), ("openmpi", "ROMIO"), ("openmpi", "Tamis")}

    def turns(self, rounds, *found):
        groups = cells.groups_of(found, lambda case: (4,), ["a", "b"])
        return list(cells.turns_of(groups, self.MPIS, rounds))

    def names(self, turn):
        return [(cell.mpi.name, cell.implementation.name) for cell in turn]

    def test_in_every_turn_everybody_comes_once_and_all_measure_the_same(self):
        turns = self.turns(3, Case("dist3d"), Case("tile"))
        self.assertEqual(len(turns), 3 * 2 * 2)
        for turn in turns:
            self.assertEqual(len(turn), len(self.ENTRANTS))
            self.assertEqual(set(self.names(turn)), self.ENTRANTS)
            self.assertEqual(len({(cell.group, cell.round) for cell in turn}), 1)

    def test_who_is_first_changes_from_round_to_round(self):
        turns = self.turns(5, Case("dist3d"))
        firsts = [self.names(turn)[0] for turn in turns if turn[0].group.directory == "a"]
        self.assertEqual(set(firsts), self.ENTRANTS)

    def test_the_order_goes_round_in_a_ring(self):
        orders = [self.names(turn) for turn in self.turns(2, Case("dist3d"))]
        for order in orders:
            start = order.index(("mpich", "ROMIO"))
            self.assertEqual(order[start:] + order[:start], orders[0])

    def test_what_is_measured_once_comes_in_one_round_and_one_directory(self):
        turns = self.turns(3, Case("memory", once=True))
        self.assertEqual([(turn[0].group.directory, turn[0].round) for turn in turns], [("a", 0)])

    def test_btio_gets_square_numbers_and_each_only_once(self):
        self.assertEqual(cases.ranks_of(Case("btio"), "short", (1, 4, 5, 8, 16)), (1, 4, 9, 16))

    def test_who_names_no_ranks_gets_many_of_them_for_a_part_of_the_workloads(self):
        self.assertEqual(cases.ranks_of(Case("dist3d"), "standard", ()), (2, 4, 8, 16))
        self.assertEqual(cases.ranks_of(Case("flash"), "standard", ()), (2, 4, 8))
        self.assertEqual(cases.ranks_of(Case("flash"), "standard", (16,)), (16,))
        self.assertEqual(cases.ranks_of(Case("memory"), "standard", ()), (4,))
        self.assertEqual(cases.ranks_of(Case("hpio", most_ranks=4), "standard", ()), (2, 4))

    def test_a_variant_takes_its_turn_beside_tamis_where_its_case_wants_it(self):
        case = Case("timesteps", variants=(cases.WRITE_BEHIND,))
        for turn in self.turns(2, case):
            behind = [(mpi, "Tamis, write-behind") for mpi in ("mpich", "openmpi")]
            self.assertEqual(sorted(self.names(turn)), sorted([*self.ENTRANTS, *behind]))
            own = next(cell for cell in turn if cell.implementation.variant)
            self.assertEqual((own.levels("0123"), own.ops), (["3"], ("write",)))
            self.assertEqual(own.levels("02"), [])
            self.assertEqual(own.implementation.hints, "*:tamis_write_behind=64M")
        self.assertEqual(len(self.turns(1, Case("dist3d"))[0]), len(self.ENTRANTS))

    def test_the_program_is_asked_for_what_the_case_says(self):
        size = cells.Size(reps=2, budget=1, timeout=9, scale=0.25, paper=True, levels="23")
        self.assertEqual(" ".join(size.arguments(Case("hpio", (("size", 64),)))),
                         "--workload hpio --reps 2 --budget 1 --scale 0.25 --paper --size 64")
        self.assertEqual(size.arguments(Case("contig", (("blocks", 4), ("listed", "")))), ["--blocks", "4", "--listed"])


class Words(unittest.TestCase):
    KNOWN = {"hpio": {"reads_only": False, "parameters": [{"name": "size"}, {"name": "type"}]},
             "tile": {"reads_only": True, "parameters": [{"name": "frames"}]}}

    def test_a_word_may_carry_parameters(self):
        found = cases.cases_of(["hpio:size=64:type=enumerated"], "short", self.KNOWN)
        self.assertEqual([case.name for case in found], ["hpio size=64 type=enumerated"])

    def test_a_bare_word_brings_its_curve_along(self):
        found = cases.cases_of(["hpio"], "short", self.KNOWN)
        self.assertEqual([case.name for case in found][:2], ["hpio", "hpio type=succinct size=8"])
        self.assertEqual({case.curve for case in found}, {"", "size"})

    def test_curves_can_be_left_out_or_had_alone(self):
        for kinds, curves in ((("rows",), {""}), (("curves",), {"size"})):
            self.assertEqual({case.curve for case in cases.cases_of(["hpio"], "short", self.KNOWN, kinds)}, curves)

    def test_noncontig_has_all_its_layouts_and_equal_vectors_along_its_curves(self):
        known = {"noncontig": {"reads_only": False, "parameters": []}}
        found = [dict(case.parameters) for case in cases.cases_of(["noncontig"], "standard", known)]
        gaps = {(one.get("memory", cases.GAPS), one.get("file", cases.GAPS)) for one in found}
        self.assertEqual(len(gaps), 4)
        curve = [one for one in found if "elmtcount" in one]
        self.assertEqual(len(curve), 3 * 4)
        self.assertEqual({one["elmtcount"] * one["veclen"] for one in curve}, {1024})

    def test_types_of_regions_are_compared_with_a_vector(self):
        for name in ("standard", "paper"):
            kinds = {dict(case.parameters).get("type") for case in cases.cases_of(["hpio"], name, self.KNOWN)}
            self.assertLessEqual({"succinct", "vector", "enumerated"}, kinds)

    def test_a_tile_is_only_read(self):
        self.assertEqual(cases.cases_of(["tile"], "short", self.KNOWN)[0].ops, ("read",))

    def test_mistakes_are_named(self):
        for word, reason in (("nowhere", "no workload nowhere"), ("hpio:colour=1", "hpio takes size, type"),
                             ("hpio:size", "NAME=VALUE")):
            with self.assertRaisesRegex(UserError, reason):
                cases.cases_of([word], "short", self.KNOWN)


def sample(level, op, rep, seconds=0.1, size=MIB):
    return {"level": level, "op": op, "rep": rep, "seconds": seconds, "bytes": size}


class Failures(unittest.TestCase):
    def test_the_end_of_a_job_has_a_word(self):
        wrong = {"level": "3", "op": "write", "verified": False, "what": "a byte", "at": 7, "got": 1, "want": 2}
        for expected, arguments in (
            (jobs.OK, ([], 0, "", False)),
            (jobs.WRONG, ([wrong], 1, "workloads: whatever", False)),
            (jobs.HANGS, ([], -15, "", True)),
            (jobs.UNFIT, ([], 2, "workloads: btio wants a square number", False)),
            (jobs.REFUSES, ([], 1, "bench: open: no space left", False)),
            (jobs.FAILS, ([], 1, "bench: failed: memory for the buffers (x)", False)),
            (jobs.CRASHES, ([], 139, "Segmentation fault", False)),
        ):
            with self.subTest(expected):
                self.assertEqual(jobs.judge(*arguments)[0], expected)

    def test_wrong_bytes_say_where(self):
        wrong = {"verified": False, "what": "a byte of the file", "at": 7, "got": 1, "want": 2}
        self.assertEqual(jobs.judge([wrong], 1, "", False)[1], "a byte of the file at 7: 1, not 2")

    def test_the_level_at_fault_is_the_one_after_the_last_sample(self):
        ops = ("write", "read")
        done = []
        for at in (("p", "write"), ("p", "read"), ("0", "write"), ("0", "read")):
            self.assertEqual(cells.culprit(done, "p0", ops, 9), at)
            done.append(sample("posix" if at[0] == "p" else at[0], at[1], 0))
        self.assertEqual(cells.culprit(done, "p0", ops, 9), ("p", "write"))

    def test_a_level_that_has_had_its_time_is_not_at_fault(self):
        done = [sample("0", "read", 0, seconds=5), sample("2", "read", 0)]
        self.assertEqual(cells.culprit(done, "02", ("read",), 1), ("2", "read"))

    def test_lines_that_are_cut_off_are_left_out(self):
        self.assertEqual(jobs.json_lines('{"a":1}\nnoise\n{"b":'), [{"a": 1}])


class OnDisk(Directory):
    def test_records_come_back_and_half_a_line_is_forgotten(self):
        path = self.directory / "records.jsonl"
        log = open_records(path, False)
        log.add({"kind": "cell", "key": "one"})
        log.add({"kind": "cell", "key": "two"})
        path.write_text(path.read_text()[:-8])
        log = Records(path)
        self.assertEqual(list(log.by_key), ["one"])
        log.add({"kind": "cell", "key": "three"})
        self.assertEqual(list(Records(path).by_key), ["one", "three"])

    def test_what_is_there_is_never_mixed_by_accident(self):
        path = self.directory / "records.jsonl"
        open_records(path, False).add({"kind": "session"})
        with self.assertRaisesRegex(UserError, "--resume"):
            open_records(path, False)
        self.assertEqual(len(open_records(path, True).all), 1)


def record(implementation, number, speeds, faults=(), **more):
    """`speeds`: (level, op) -> MiB/s of one access of a second's part."""
    lines = [sample(level, op, 0, seconds=1 / speed) for (level, op), speed in speeds.items()]
    return {"kind": "cell", "key": f"{implementation} {number}", "case": "dist3d", "workload": "dist3d",
            "parameters": {}, "curve": "", "ranks": 4, "directory": "d", "file_system": "tmpfs", "mpi": "mpich",
            "implementation": implementation, "round": number, "lines": lines,
            "faults": [dict(zip(("level", "op", "word", "detail"), fault)) for fault in faults], **more}


class Figures(unittest.TestCase):
    def row(self, records, level="3", op="write"):
        return next(row for row in results.rows_of(records) if (row["level"], row["op"]) == (level, op))

    def test_medians_quartiles_and_extremes(self):
        figure = results.spread([1.0, 5.0, 2.0, 4.0, 3.0])
        self.assertEqual([figure[name] for name in ("least", "q1", "mib_per_s", "q3", "most")], [1, 2, 3, 4, 5])

    def test_ratios_to_the_better_peer_its_best_level_and_posix(self):
        records = []
        for number, ours in enumerate((30, 40, 60)):
            records.append(record("Tamis", number, {("3", "write"): ours, ("posix", "write"): 80}))
            records.append(record("ROMIO", number, {("3", "write"): 10, ("0", "write"): 50, ("posix", "write"): 80}))
            records.append(record("OMPIO", number, {("3", "write"): 20, ("posix", "write"): 80}))
        row = self.row(records)
        self.assertEqual((row["better_peer"], row["ratio"], row["peer_ahead"]), ("OMPIO", 2.0, False))
        self.assertEqual((row["ratio_least"], row["ratio_most"], row["rounds"]), (1.5, 3.0, 3))
        self.assertEqual((row["best_level"], row["ratio_best_level"]), ("ROMIO level 0", 0.8))
        self.assertEqual(row["ratio_posix"], 0.5)

    def test_each_round_is_compared_with_itself(self):
        """The machine is four times slower in rounds 1 and 3: of all accesses together ROMIO's are the faster."""
        records = []
        for number, (ours, theirs) in enumerate(((110, 100), (22, 20), (110, 100), (22, 20))):
            records.append(record("Tamis", number, {("3", "write"): ours}))
            records.append(record("ROMIO", number, {("3", "write"): theirs}))
        del records[0], records[-1]  # Tamis has no round 0, ROMIO no round 3
        row = self.row(records)
        self.assertLess(row["tamis"]["mib_per_s"], row["peers"]["ROMIO"]["mib_per_s"])
        self.assertEqual((row["ratio"], row["rounds"], row["peer_ahead"]), (1.1, 2, False))
        self.assertEqual((row["ratio_least"], row["ratio_most"]), (1.1, 1.1))

    def test_of_two_rounds_neither_side_is_favoured(self):
        """Four times as fast in one round and four times as slow in the other."""
        records = []
        for number, (ours, theirs) in enumerate(((40, 10), (10, 40))):
            records += [record("Tamis", number, {("3", "write"): ours}), record("ROMIO", number, {("3", "write"): theirs})]
        self.assertEqual((self.row(records)["ratio"], self.row(records)["peer_ahead"]), (1.0, False))

    def test_the_better_peer_is_the_one_that_is_ahead_round_by_round(self):
        """OMPIO's one good round makes it no better: ROMIO is ahead in all of its own."""
        records = [record("Tamis", number, {("3", "write"): 20}) for number in range(3)]
        records += [record("ROMIO", number, {("3", "write"): 25}) for number in range(3)]
        records += [record("OMPIO", number, {("3", "write"): speed}) for number, speed in enumerate((10, 90, 10))]
        row = self.row(records)
        self.assertEqual((row["better_peer"], row["ratio"], row["peer_ahead"]), ("ROMIO", 0.8, True))

    def test_a_row_says_in_how_many_rounds_it_was_measured(self):
        records = [record(name, number, {("3", "write"): 9}) for name in ("Tamis", "ROMIO") for number in range(2)]
        headings, table = show.table_of(results.rows_of(records))
        self.assertEqual(table[0][headings.index("rounds")], 2)

    def test_a_peer_that_moves_wrong_bytes_is_shown_and_not_raced(self):
        records = [record("Tamis", 0, {("3", "write"): 30}),
                   record("ROMIO", 0, {("3", "write"): 90}, [("3", "write", jobs.WRONG, "")]),
                   record("OMPIO", 0, {("3", "write"): 20})]
        row = self.row(records)
        self.assertEqual((row["better_peer"], row["ratio"]), ("OMPIO", 1.5))
        self.assertIn("wrong bytes", show.figure(row["peers"]["ROMIO"]))

    def test_rows_in_which_a_peer_is_ahead_are_marked_and_there(self):
        records = [record("Tamis", 0, {("3", "write"): 10, ("2", "write"): 30}),
                   record("ROMIO", 0, {("3", "write"): 20, ("2", "write"): 20})]
        rows = results.rows_of(records)
        self.assertEqual({row["level"]: row["peer_ahead"] for row in rows}, {"2": False, "3": True})
        _, table = show.table_of(rows)
        self.assertEqual([cells[-1] for cells in table[:2]], ["", show.BEHIND])
        self.assertEqual(len(show.behind_table(rows, {"d": "tmpfs"})[1]), 1)

    def test_where_ours_fails_a_peer_is_ahead(self):
        records = [record("Tamis", 0, {}, [("3", "write", jobs.HANGS, "")]), record("ROMIO", 0, {("3", "write"): 20})]
        row = self.row(records)
        self.assertTrue(row["peer_ahead"])
        self.assertEqual(show.figure(row["tamis"]), "hangs")

    def test_what_nobody_can_do_is_nobodys_fault(self):
        records = [record("Tamis", 0, {}, [("p", "write", jobs.UNFIT, "a square number")])]
        self.assertEqual(results.rows_of(records), [])

    @staticmethod
    def compared(ratio, level="3", ranks=4, partial=False):
        return {"mpi": "mpich", "ranks": ranks, "level": level, "ratio": ratio, "partial": partial,
                "peer_ahead": bool(ratio and ratio < 1)}

    def test_means_are_geometric_and_of_like_with_like(self):
        summary = results.summary_of([self.compared(4.0), self.compared(0.25), self.compared(None),
                                      self.compared(9.0, level="2"), self.compared(5.0, ranks=8)])
        self.assertEqual((summary["rows"], summary["compared"], summary["peer_ahead"]), (5, 4, 1))
        means = {(mean["mpi"], mean["ranks"], mean["level"]): (mean["geometric_mean_ratio"], mean["rows"])
                 for mean in summary["means"]}
        self.assertEqual(means, {("mpich", 4, "2"): (9.0, 1), ("mpich", 4, "3"): (1.0, 2), ("mpich", 8, "3"): (5.0, 1)})
        self.assertEqual(show.means_table(summary)[1],
                         [["mpich, 4 ranks", "9.00x (1)", "1.00x (2)"], ["mpich, 8 ranks", "-", "5.00x (1)"]])

    def test_a_variant_is_compared_with_tamis_and_is_no_peer(self):
        records = []
        for number, (speed, behind) in enumerate(((10, 60), (20, 100), (10, 70))):
            records += [record("Tamis", number, {("3", "write"): speed}), record("ROMIO", number, {("3", "write"): 5}),
                        record("Tamis, write-behind", number, {("3", "write"): behind})]
        row = self.row(records)
        self.assertEqual(set(row["peers"]), {"ROMIO"})
        self.assertEqual(row["variants"]["write-behind"]["ratio"], 6.0)
        self.assertIn("6.00x", show.variants_table([row], {"d": "tmpfs"})[1][0])

    def test_rows_with_calls_left_out_are_in_no_mean(self):
        records = [record("Tamis", 0, {("0", "write"): 30, ("3", "write"): 30}),
                   record("ROMIO", 0, {("0", "write"): 10, ("3", "write"): 10})]
        records[1]["lines"].append({"summary": True, "level": "0", "op": "write", "partial": True})
        summary = results.summary_of(results.rows_of(records))
        self.assertEqual((summary["compared"], summary["partial"]), (2, 1))
        self.assertEqual([(mean["level"], mean["rows"]) for mean in summary["means"]], [("3", 1)])
        self.assertIn("1 row with calls left out (~): in no mean", show.summary_line(summary))


class Aims(unittest.TestCase):
    """What a line says is counted from rows whose every figure is known."""

    @staticmethod
    def row(level="3", **more):
        return {"case": "dist3d", "workload": "dist3d", "parameters": {}, "curve": "", "ranks": 4, "directory": "d",
                "file_system": "tmpfs", "mpi": "mpich", "op": "write", "level": level, "ratio": 4.0, "partial": False,
                "ratio_best_level": 2.0, "ratio_posix": 0.9, "piece_bytes": 512, "variants": {},
                "tamis": {"mib_per_s": 600.0}, **more}

    def rows(self, **more):
        return [self.row(level, **more) for level in "023"]

    def aim(self, start, rows, gauges=()):
        return next(one for one in aims.aims_of(rows, gauges) if one["what"].startswith(start))

    def test_the_best_level_counts_where_all_levels_were_measured(self):
        rows = self.rows() + self.rows(op="read", ratio_best_level=0.5)
        rows += [self.row(case="noncontig", ratio_best_level=0.1), *self.rows(case="hpio 8", curve="size")]
        found = self.aim("level 3 to the peers' best", rows)
        self.assertEqual((found["met"], found["reached"]), (False, "1 of 2 rows, geometric mean 1.00x"))
        self.assertEqual([(one["case"], one["op"], one["ratio"]) for one in found["short"]], [("dist3d", "read", 0.5)])
        self.assertEqual(len(list(show.short_tables([found], {"d": "tmpfs"}))), 1)

    def test_means_by_ranks_with_the_square_number_nearby(self):
        rows = [self.row(ranks=8, ratio=20.0), self.row(ranks=9, ratio=5.0, mpi="openmpi"),
                self.row(ranks=2, ratio=4.0)]
        self.assertTrue(self.aim("level 3 to the better peer's level 3, 8 ranks", rows)["met"])
        self.assertFalse(self.aim("level 3 to the better peer's level 3, 2 ranks", rows)["met"])
        self.assertIsNone(self.aim("level 3 to the better peer's level 3, 16 ranks", rows)["met"])
        self.assertIn("10.00x of 2 rows (mpich 20.00x, openmpi 5.00x)",
                      self.aim("level 3 to the better peer's level 3, 8 ranks", rows)["reached"])

    def test_small_pieces_are_not_held_against_the_limit(self):
        rows = [self.row(), self.row(piece_bytes=511, ratio_posix=0.1), self.row(piece_bytes=None, ratio_posix=0.1)]
        self.assertTrue(self.aim("level 3, pieces of 512", rows)["met"])
        self.assertFalse(self.aim("level 3, pieces of 512", [self.row(ratio_posix=0.79)])["met"])

    def test_cyclic_pieces_have_eight_bytes_and_no_gaps(self):
        cyclic = {"workload": "hpio", "ranks": 2, "parameters": {"size": 8, "spacing": 0}}
        gaps = {**cyclic, "parameters": {"size": 8, "spacing": 128}, "tamis": {"mib_per_s": 1.0}}
        found = self.aim("level 3, cyclic", [self.row(**cyclic), self.row(**gaps), self.row(tamis={"mib_per_s": 1.0})])
        self.assertEqual((found["met"], found["reached"]), (True, "mpich write 600"))

    def test_write_behind_is_to_pay_in_every_row(self):
        rows = [self.row(variants={"write-behind": {"ratio": ratio}}) for ratio in (6.0, 4.0)]
        self.assertTrue(self.aim("time steps", rows[:1])["met"])
        self.assertFalse(self.aim("time steps", rows)["met"])

    def test_what_gauges_say(self):
        gauges = [{"program": "nothing", "implementation": "Tamis", "mpi": "mpich", "ranks": 2, "ratio": 1.5},
                  {"program": "nothing", "implementation": "ROMIO", "mpi": "mpich", "ranks": 2, "ratio": 9.0},
                  {"program": "memory", "implementation": "Tamis", "heap_peak": 2048, "pieces": 1000000}]
        self.assertEqual(self.aim("a collective call", [], gauges)["reached"], "mpich 1.50 (2)")
        self.assertEqual(self.aim("views and plans", [], gauges)["reached"], "2 KiB at most, up to 1,000,000 pieces")
        self.assertEqual({one["met"] for one in aims.aims_of([], [])}, {None})


class Pictures(Directory):
    def test_bars_and_curves_are_drawn_as_png_and_svg(self):
        if plots.pyplot() is None:
            self.skipTest("python3-matplotlib is not there")
        records = [record("Tamis", 0, {("3", "write"): 30, ("3", "read"): 30}),
                   record("ROMIO", 0, {("3", "write"): 20})]
        for size in (8, 64):
            records.append(record("Tamis", 0, {("3", "write"): size}, case=f"hpio size={size}", workload="hpio",
                                  parameters={"type": "succinct", "size": size}, curve="size"))
            records.append(record("Tamis", 0, {("3", "write"): size}, case=f"noncontig {size}", workload="noncontig",
                                  parameters={"file": "contiguous", "elmtcount": size, "veclen": 1024 // size},
                                  curve="elmtcount"))
        found = {"rows": results.rows_of(records)}
        made = plots.draw_all(found, {"d": "tmpfs"}, self.directory)
        self.assertEqual([title for _, title in made], ["HPIO by region size, level 3 (figure 4 of 001)", "dist3d",
                                                        "hpio type=succinct, by size",
                                                        "noncontig file=contiguous, by elmtcount"])
        for name, _ in made:
            for ending in ("png", "svg"):
                self.assertGreater((self.directory / f"{name}.{ending}").stat().st_size, 1000)


class PapersFigures(unittest.TestCase):
    """What is drawn, without drawing it."""

    def pictures(self, records):
        return {one.name: one for one in paper_plots.pictures_of(results.rows_of(records), {"d": "tmpfs"})}

    def test_regions_by_type_and_peers_once(self):
        records = []
        for kind, speed in (("succinct", 9), ("vector", 8)):
            for size in (64, 8):
                more = {"case": f"{kind} {size}", "workload": "hpio", "curve": "size",
                        "parameters": {"type": kind, "size": size}}
                records += [record("Tamis", 0, {("3", "write"): speed * size, ("posix", "write"): 900}, **more),
                            record("ROMIO", 0, {("3", "write"): size}, **more)]
        panel, = self.pictures(records)["figure-4"].panels[0]
        self.assertEqual({one.label: one.points for one in panel.lines},
                         {"Tamis, succinct type": ((8, 72), (64, 576)), "Tamis, vector type": ((8, 64), (64, 512)),
                          "ROMIO": ((8, 8), (64, 64)), "POSIX limit": ((8, 900), (64, 900))})

    def test_sieving_or_not_by_extent_and_fill(self):
        records = []
        for extent in (4096, 65536):
            for fill in (10, 50):
                more = {"case": f"{extent} {fill}", "workload": "fill", "curve": "fill",
                        "parameters": {"extent": extent, "fill": fill}}
                records += [record("Tamis", 0, {("3", "write"): fill}, **more),
                            record("Tamis, never sieving", 0, {("3", "write"): fill / 2}, **more)]
        picture = self.pictures(records)["figure-5-1"]
        self.assertEqual([panel.title for panel in picture.panels[0]], ["write, extent 4096", "write, extent 65536"])
        self.assertEqual([(one.label, one.points) for one in picture.panels[0][0].lines],
                         [("Tamis", ((10, 10), (50, 50))), ("Tamis, never sieving", ((10, 5), (50, 25)))])

    def test_over_the_number_of_ranks(self):
        records = [record(name, 0, {("3", "write"): ranks * speed}, ranks=ranks, workload="timesteps", case="timesteps")
                   for ranks in (2, 4) for name, speed in (("Tamis", 5), ("Tamis, write-behind", 9), ("ROMIO", 1))]
        found = self.pictures(records + [record("Tamis", 0, {("3", "write"): 1}, case="only at 4")])
        self.assertEqual(set(found), {"figure-7", "ranks-write"})
        for picture in found.values():
            panels = [panel for row in picture.panels for panel in row]
            self.assertEqual(len(panels), 1)
            self.assertEqual([(one.label, one.points) for panel in panels for one in panel.lines],
                             [("Tamis", ((2, 10), (4, 20))), ("Tamis, write-behind", ((2, 18), (4, 36))),
                              ("ROMIO", ((2, 2), (4, 4)))])


PARAMETERS = {
    "tile": {"frames": 1, "width": 1024, "height": 768, "overlap_x": 270, "overlap_y": 128, "pixel": 3},
    "block3d": {"n": 600},
    "flash": {"blocks": 80, "cells": 8, "guard": 4, "variables": 24},
}


def described(table):
    """What `workloads --describe` says, made of the runs alone; in memory FLASH has pieces of eight bytes."""
    description = {"workload": table.workload, "ranks": table.clients, "parameters": PARAMETERS[table.workload],
                   "per_rank": []}
    for rank in range(table.clients):
        runs = list(methods.runs_of(description, rank))
        size = sum(length for _, length in runs)
        description["per_rank"].append({
            "rank": rank, "desired_bytes": size, "file_pieces": len(runs), "first": runs[0][0],
            "end": runs[-1][0] + runs[-1][1], "pieces": size // 8 if table.workload == "flash" else len(runs)})
    return description


def counted_way(**more):
    way = documents.way("write", True, "two_phase", "exchange", calls=2, bytes_wanted=600, windows=2,
                        requests=[("write", 2, 300)], bytes_resent=400, bytes_messages=100, **more)
    return {**way, "lists": 3}


class Counted(Directory):
    def test_messages_between_nodes_are_among_the_bytes_resent(self):
        path = self.directory / "job.json"
        path.write_text(json.dumps(documents.job(documents.file("x", [counted_way()], ranks=2), ranks=2)))
        found = counted.sums_of(merge.load_job(path), 2)
        self.assertEqual((found["resent"], found["desired"], found["accessed"]), (200, 300, 300))

    def test_what_another_rank_wrote_of_the_job_is_counted_along(self):
        whole = documents.job(documents.file("x", [counted_way()], ranks=1), ranks=2)
        for name, rank in (("job.json", 0), ("job.json.rank-1", 1)):
            (self.directory / name).write_text(json.dumps({**whole, "rank": rank}))
        found = counted.sums_of(merge.load_job(self.directory / "job.json"), 2)
        self.assertEqual((found["desired"], found["requests"]), (600, 2))


class Paper004(unittest.TestCase):
    def rows(self, table):
        formula = methods.formulas(described(table), table.direction)
        return {method: tables.Row(table, method, formula[method], None, True) for method in paper004.METHODS}

    def test_the_formulas_give_the_papers_figures_but_for_those_that_are_explained(self):
        differing = set()
        for table in paper004.TABLES:
            for method, row in self.rows(table).items():
                for note in row.notes(table, True):
                    self.assertNotIn("not explained", note, (table.workload, table.clients))
                for quantity in paper004.QUANTITIES:
                    if row.printed[quantity] not in (None, row.by_formula[quantity]):
                        differing.add((table.workload, table.clients, method, quantity))
        self.assertEqual(differing, {
            ("tile", 6, "two-phase", "resent"),
            ("block3d", 8, "data sieving", "accessed"), ("block3d", 27, "data sieving", "accessed"),
            ("block3d", 64, "data sieving", "accessed"),
            ("block3d", 8, "list I/O", "operations"), ("block3d", 27, "list I/O", "operations")})

    def test_resent_is_what_lies_outside_ones_own_part(self):
        description = {"workload": "flash", "ranks": 2, "parameters": {"blocks": 1, "cells": 1, "variables": 2},
                       "per_rank": [{"rank": 0, "desired_bytes": 16, "first": 0, "end": 24, "pieces": 2},
                                    {"rank": 1, "desired_bytes": 16, "first": 8, "end": 32, "pieces": 2}]}
        found = methods.formulas(description, "write")
        self.assertEqual([methods.own_bytes(description, rank) for rank in (0, 1)], [8, 8])
        self.assertEqual(found["two-phase"], {"desired": 16, "accessed": 16, "operations": 1, "resent": 8})
        self.assertEqual((found["data sieving"]["accessed"], found["data sieving"]["operations"]), (48, 2))

    def test_list_requests_hold_64_regions(self):
        table = paper004.TABLES[0]
        self.assertEqual(methods.formulas(described(table), "read")["list I/O"]["operations"], 12)

    def test_a_description_of_another_access_is_refused(self):
        description = described(paper004.TABLES[0])
        methods.check_runs(description)
        description["per_rank"][3]["first"] += 1
        with self.assertRaisesRegex(ValueError, "client 3"):
            methods.check_runs(description)

    def test_every_difference_of_the_library_is_told_with_both_figures(self):
        formula = methods.quantities(10, 10, 12)
        counted = {"accessed": 10, "methods": ["list"], "windows": 0, "window_bytes": MIB}
        texts = {"desired": ("1", "1"), "accessed": ("1", "1"), "operations": ("12", "768"), "resent": (None, None)}
        notes = list(differences.of_library("list I/O", formula, counted, texts))
        self.assertEqual(len(notes), 1)
        self.assertIn("operations 768 for 12", notes[0])


FAKE_LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then echo "HYDRA build details:"; echo "    Version: 4.9"; exit 0; fi
shift 2
echo run >> "$0.log"
exec "$@"
"""
# Tamis moves 20 MiB/s and ROMIO 10; ROMIO moves wrong bytes at level 3 and waits for ever at level 1.
FAKE_WORKLOADS = r'''import json, os, sys, time
words = sys.argv[1:]
if "--list" in words:
    print(json.dumps([{"name": "dist3d", "sentence": "-", "paper": "000", "reads_only": False, "parameters": []}]))
    sys.exit(0)
ours = "libtamis" in os.environ.get("LD_PRELOAD", "")
options = dict(zip(words[::2], words[1::2]))
for level in options["--levels"].split(","):
    for op in options["--ops"].split(","):
        head = {"workload": "dist3d", "level": "posix" if level == "p" else level, "op": op, "ranks": 2}
        if not ours and level == "1" and op == "write":
            sys.stdout.flush()
            time.sleep(60)
        if not ours and level == "3" and op == "write":
            print(json.dumps({**head, "verified": False, "what": "a byte", "at": 5, "got": 0, "want": 9}))
            sys.exit(1)
        print(json.dumps({**head, "bytes": 1 << 20, "rep": 0, "seconds": 0.05 if ours else 0.1}))
'''


def readable(path):
    """Empty for what is gone or not ours."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


class WithFakes(Directory):
    """The whole command on a launcher and a program whose every figure is known."""

    def setUp(self):
        super().setUp()
        prefix = self.directory / "prefix"
        for place in ("bin", "lib/tamis", "bench", "path", "files"):
            (prefix / place).mkdir(parents=True)
        os.symlink(ROOT / "python", prefix / "lib" / "tamis" / "python")
        shutil.copy(ROOT / "cli" / "tamis", prefix / "bin" / "tamis")
        (prefix / "lib" / "libtamis-mpich.so").write_bytes(b"")
        write_script(prefix / "bench" / "workloads.mpich", f"#!{sys.executable}\n{FAKE_WORKLOADS}")
        self.launcher = write_script(prefix / "path" / "mpiexec.mpich", FAKE_LAUNCHER)
        self.prefix = prefix
        self.out = self.directory / "out"

    def bench(self, *words, expected=0):
        answer = tamis("bench", *words, command=self.prefix / "bin" / "tamis", cwd=self.directory,
                       PATH=f"{self.prefix / 'path'}:{os.environ['PATH']}")
        self.assertEqual(answer.returncode, expected, answer.stdout + answer.stderr)
        return answer

    def measure(self, *more):
        return self.bench("dist3d", "--mpi", "mpich", "--ranks", 2, "--rounds", 2, "--reps", 1, "--timeout", 6,
                          "--dirs", self.prefix / "files", "--out", self.out, *more)

    def jobs_started(self):
        log = Path(f"{self.launcher}.log")
        return len(log.read_text().splitlines()) if log.is_file() else 0

    def results(self):
        return json.loads((self.out / "results.json").read_text())

    def test_figures_faults_and_the_document(self):
        answer = self.measure()
        found = self.results()
        self.check_document(found)
        rows = {(row["op"], row["level"]): row for row in found["rows"]}
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows["read", "2"]["tamis"]["mib_per_s"], 20)
        self.assertEqual(rows["read", "2"]["ratio"], 2.0)
        self.assertEqual(rows["write", "3"]["peers"]["ROMIO"]["fault"], jobs.WRONG)
        self.assertEqual(rows["write", "1"]["peers"]["ROMIO"]["fault"], jobs.HANGS)
        # A fault costs its own level and direction only.
        for place in (("read", "1"), ("read", "3"), ("write", "0"), ("write", "2")):
            self.assertEqual(rows[place]["peers"]["ROMIO"]["samples"], 2, place)
        for words in ("wrong bytes", "hangs", "a byte at 5: 0, not 9", "2.00x"):
            self.assertIn(words, answer.stdout)
        self.assertEqual(list((self.prefix / "files").iterdir()), [])
        # Nobody waits twice for what hangs.
        self.assertEqual([fault["rounds"] for fault in found["faults"] if fault["word"] == jobs.HANGS], [[0]])

    def check_document(self, found):
        kinds = {"format": int, "machine": dict, "commands": list, "loads": list, "summary": dict, "aims": list,
                 "rows": list, "gauges": list, "faults": list}
        self.assertEqual({name: type(value) for name, value in found.items()}, kinds)
        for name in ("date", "cores", "cpu", "memory_bytes", "kernel", "file_systems", "mpis", "tamis", "commit"):
            self.assertIn(name, found["machine"])
        self.assertEqual(found["machine"]["mpis"], {"mpich": "4.9"})
        for row in found["rows"]:
            self.assertEqual(set(row), {*results.HEAD, "op", "level", "posix", "piece_bytes", "variants", "tamis",
                                        "peers", "better_peer", "ratio", "ratio_least", "ratio_most", "rounds", "best_level", "ratio_best_level",
                                        "ratio_posix", "peer_ahead", "partial"})

    def test_a_run_that_was_killed_goes_on_where_it_was(self):
        self.measure("--levels", "023")
        whole = self.results()["rows"]
        path = self.out / "records.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        cells_at = [i for i, line in enumerate(lines) if '"kind": "cell"' in line]
        path.write_text("".join(lines[:cells_at[-1]]) + lines[cells_at[-1]][:50])
        missing = json.loads(lines[cells_at[-1]])
        before = self.jobs_started()
        self.measure("--levels", "023", "--resume")
        again = Records(path).by_key
        self.assertEqual(len(again), len(cells_at))
        self.assertIn(missing["key"], again)
        self.assertEqual(self.results()["rows"], whole)
        self.assertLessEqual(self.jobs_started() - before, 3)  # one cell, with what its faults leave over
        before = self.jobs_started()
        self.measure("--levels", "023", "--resume")
        self.assertEqual(self.jobs_started(), before)

    def test_a_signal_leaves_no_rank_and_no_file_behind(self):
        """The first job that hangs is ended with the command."""
        command = [self.prefix / "bin" / "tamis", "bench", "dist3d", "--mpi", "mpich", "--ranks", 2, "--levels", 1,
                   "--timeout", 100, "--dirs", self.prefix / "files", "--out", self.out]
        environment = clean_environment(PATH=f"{self.prefix / 'path'}:{os.environ['PATH']}", TAMIS_TEST=str(self.out))
        process = subprocess.Popen(list(map(str, command)), env=environment, cwd=self.directory, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not self.jobs_started():
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume", errors)
        self.assertEqual(list((self.prefix / "files").iterdir()), [])
        mark = f"TAMIS_TEST={self.out}".encode()
        self.assertEqual([path for path in Path("/proc").glob("[0-9]*/environ") if mark in readable(path)], [])

    def test_a_run_of_another_size_is_not_mixed_in(self):
        self.measure("--levels", "2", "--seconds", 0.001)
        answer = self.bench("dist3d", "--mpi", "mpich", "--reps", 1, "--scale", 3, "--dirs", self.prefix / "files",
                            "--out", self.out, "--resume", expected=2)
        self.assertIn("scale 0.25 there, 3.0 here", answer.stderr)

    def test_a_directory_in_use_is_refused(self):
        self.out.mkdir()
        (self.out / "records.jsonl").write_text("")
        answer = self.bench("dist3d", "--mpi", "mpich", "--out", self.out, "--dirs", self.prefix / "files", expected=2)
        self.assertIn("--resume", answer.stderr)
        self.assertEqual(self.jobs_started(), 0)

    def test_the_time_in_all_ends_a_run_that_can_go_on(self):
        answer = self.measure("--levels", "2", "--seconds", 0.001)
        self.assertIn("2 cells left: --resume", answer.stdout)
        self.measure("--levels", "2", "--resume")
        self.assertEqual(self.jobs_started(), 4)

    def test_the_page_has_machine_command_and_every_row(self):
        self.measure("--levels", "23")
        page = self.directory / "docs" / "results.md"
        self.bench("--page", page, self.out)
        text = page.read_text()
        for words in ("# Benchmarks of ", "tamis bench dist3d --mpi mpich", "## Where a peer is ahead", "mpich 4.9",
                      "wrong bytes", "| write level 3 |", "| read POSIX limit |"):
            self.assertIn(words, text)
        self.assertNotIn("--out", text)

    def test_mistakes_are_told(self):
        for words, reason in ((("nowhere", "--mpi", "mpich"), "no workload nowhere"),
                              (("--page", "x.md"), "one directory"), (("--resume",), "--out"),
                              (("--mpi", "intel"), "no intel found"),
                              (("--mpi", "mpich", "--dirs", "/nowhere", "dist3d"), "/nowhere")):
            answer = self.bench(*words, expected=2)
            self.assertIn(reason, answer.stderr)
            self.assertNotIn("Traceback", answer.stderr)


@unittest.skipUnless(MPIS, "needs an MPI and the built library")
class WithRanks(Directory):
    """Real ranks, sizes so small that times mean nothing: none is looked at."""

    def bench(self, *words):
        answer = tamis("bench", *words, command=TAMIS, cwd=self.directory)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return answer

    def test_a_workload_is_measured_under_everybody(self):
        self.bench("hpio:size=16", "--scale", 0.01, "--ranks", 2, "--rounds", 1, "--reps", 1, "--dirs", self.directory,
                   "--out", self.directory / "out")
        found = json.loads((self.directory / "out" / "results.json").read_text())
        ours = [fault for fault in found["faults"] if fault["implementation"] == "Tamis"]
        self.assertEqual(ours, [])
        self.assertEqual({row["mpi"] for row in found["rows"]}, set(MPIS))
        for row in found["rows"]:
            self.assertEqual(row["tamis"]["samples"], 1)
            self.assertGreater(row["posix"]["samples"], 1)

    def test_the_tables_stand_beside_the_librarys_own_counters(self):
        answer = self.bench("--tables", "flash", "--scale", 0.05, "--mpi", MPIS[0], "--dirs", self.directory,
                            "--out", self.directory / "out")
        found = json.loads((self.directory / "out" / "tables.json").read_text())["tables"][0]
        rows = {row["method"]: row for row in found["rows"]}
        for method in ("POSIX I/O", "data sieving", "two-phase", "list I/O"):
            self.assertEqual(rows[method]["tamis"]["desired"], rows[method]["formula"]["desired"], method)
        self.assertEqual(rows["POSIX I/O"]["tamis"]["operations"], rows["POSIX I/O"]["formula"]["operations"])
        self.assertEqual(rows["two-phase"]["tamis"]["accessed"], rows["two-phase"]["formula"]["accessed"])
        self.assertEqual(rows["two-phase"]["tamis"]["methods"], ["exchange"])
        self.assertEqual(rows["data sieving"]["tamis"]["methods"], ["sieve"])
        self.assertNotIn("not explained", answer.stdout)


if __name__ == "__main__":
    unittest.main()
