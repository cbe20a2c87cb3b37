"""tamis report: figures against ones worked out by hand, advice where it is due and nowhere else, pages, errors."""

import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import job_documents as documents
from job_documents import KIB, MIB, MS
from support import ROOT, TAMIS, TIMEOUT_S, clean_environment, python_with_packages

sys.path.insert(0, str(ROOT / "python"))
from tamis import report as report_package  # noqa: E402
from tamis.errors import UserError  # noqa: E402
from tamis.report import compare, merge, rules, words  # noqa: E402
from tamis.report.document import Defect, as_job, load  # noqa: E402
from tamis.report.study import JobStudy  # noqa: E402

def study(document):
    return JobStudy(as_job(document, "job.json"))


def only_file(document):
    return study(document).files[0]


def advice_of(document):
    return {one.rule: one for file in study(document).files for one in file.advice}


class Figures(unittest.TestCase):
    def test_small_writes(self):
        file = only_file(documents.small_writes())
        self.assertEqual((file.all.requests, file.all.accessed, file.all.wasted), (40_000, 20_480_000, 0))
        self.assertEqual((file.all.mean_request, file.all.mean_call, file.all.pieces_per_call), (512, 512, 1))
        self.assertEqual(file.taken_ns, 420 * MS)
        # 19.53 MiB are 20 requests of at most a MiB at 700 ns, and 20,480,000 bytes at 0.15 ns.
        self.assertAlmostEqual(file.distance.ideal_ns, 20 * 700 + 20_480_000 * 0.15)
        self.assertAlmostEqual(file.distance.ratio, 420e6 / 3_086_000)

    def test_reads_go_on_side_by_side_in_the_ideal_and_writes_take_turns(self):
        for direction, cost, hands in (("read", 400, 2), ("write", 700, 1)):
            with self.subTest(direction=direction):
                file = only_file(documents.one_file([documents.spent(direction)]))
                self.assertAlmostEqual(file.distance.ideal_ns, (2000 * cost + 2000 * MIB * 0.15) / hands)

    def test_what_a_sieve_fetches_beyond_the_bytes_wanted_is_wasted(self):
        file = only_file(documents.job(documents.rewriting_log()))
        self.assertEqual(file.all.wasted, 2 * 960 * 512 * KIB - 48_000 * 96)
        self.assertEqual(file.all.bytes_rewritten, 960 * 512 * KIB)

    def test_ways_that_access_less_do_not_make_up_for_waste(self):
        beyond_the_end = documents.spent("read", requests=[("read", 1000, MIB)])
        wasteful = documents.spent("read", method="sieve", bytes_wanted=MIB, requests=[("read", 10, MIB)])
        self.assertEqual(only_file(documents.one_file([beyond_the_end, wasteful])).all.wasted, 9 * MIB)

    def test_directions_are_apart(self):
        file = only_file(documents.job(documents.checkpoint_file()))
        self.assertEqual(file.of("read").bytes_wanted, 62 * 2048 + 32 * MIB)
        self.assertEqual(file.of("write").bytes_wanted, 768 * MIB + 213 * 544)
        self.assertEqual(file.of("write").request_sizes, [0] * 6 + [213] + [0] * 10 + [768])

    def test_time_that_no_phase_accounts_for_is_other(self):
        way = documents.spent("write", ns={"pack": 5 * MS})
        way["ns"]["total"] += 7 * MS
        shares = dict(only_file(documents.one_file([way])).all.shares())
        self.assertEqual((shares["transfer"], shares["pack"], shares["other"]), (1000 * MS, 5 * MS, 7 * MS))

    def test_time_taken_is_no_longer_than_the_file_was_open(self):
        self.assertEqual(only_file(documents.one_file([documents.spent("write")], seconds=0.05)).taken_ns, 50 * MS)

    def test_file_per_process_spends_no_more_than_the_job_lasts(self):
        def written_by(rank):
            way = documents.spent("write", ns={"transfer": 900 * MS}, slowest_ns=900 * MS, bytes_wanted=64 * MIB)
            return documents.file(f"part{rank}", [way], ranks=1, seconds=0.95, pattern=documents.pattern(1, MIB))

        job = study(documents.job(*map(written_by, range(8)), seconds=1.0))
        self.assertEqual((job.taken_ns, job.is_exact), (1000 * MS, False))
        self.assertEqual([(file.taken_ns, file.is_exact) for file in job.files], [(900 * MS, True)] * 8)
        self.assertEqual((words.taken(job), words.taken(job.files[0])), ("at most 1 s", "900 ms"))
        # Eight files on two cores: four of them one after the other.
        self.assertAlmostEqual(job.distance.ideal_ns, 4 * job.files[0].distance.ideal_ns)

    def test_a_sum_of_what_may_be_different_ranks_is_a_bound(self):
        reads, writes = documents.spent("read", slowest_ns=300 * MS), documents.spent("write", slowest_ns=200 * MS)
        for ways, opens, told in (([writes], 1, "200 ms"), ([writes], 2, "at most 200 ms"),
                                  ([reads, writes], 1, "at most 500 ms")):
            document = documents.one_file(ways, opens=opens)
            self.assertEqual(words.taken(only_file(document)), told)
            self.assertEqual(words.taken(study(document)), told)

    def test_ranks_that_served_windows_are_told(self):
        way = documents.spent("write", True, "exchange", aggregators=3, windows=40)
        lines = words.side_lines(only_file(documents.one_file([way])))
        self.assertEqual(lines[0], "40 windows of collective write, two-phase: served by 3 ranks")

    def test_gaps_are_between_requests(self):
        lines = words.side_lines(only_file(documents.job(documents.rewriting_log())))
        self.assertIn("480 gaps between successive requests of an access, 422 KiB", lines)

    def test_files_that_take_longest_come_first(self):
        names = [file.file.name for file in study(documents.mixed_job()).files]
        self.assertEqual(names, ["out/checkpoint.h5", "tracks.bin", "run.cfg"])

    def test_an_estimate_is_called_one_and_a_profile_is_not(self):
        document = documents.small_writes()
        self.assertIn("An estimate", only_file(document).distance.basis)
        document["files"][0]["costs"]["source"] = "/home/me/.config/tamis/profiles/scratch"
        self.assertIn("were measured (/home/me/.config/tamis/profiles/scratch)", only_file(document).distance.basis)

    def test_a_file_without_accesses_has_figures_too(self):
        file = only_file(documents.one_file([]))
        self.assertEqual((file.all.requests, file.all.mean_request, file.distance.ratio), (0, 0, None))


class Comparisons(unittest.TestCase):
    def test_ratios_are_to_the_first_job(self):
        lines = {
            line.measure.name: line
            for line in compare.compare([study(documents.small_writes()), study(documents.good_collective())])
        }
        requests = lines["requests to the storage"]
        self.assertEqual((requests.values, requests.ratios), ((40_000, 20), (0.0005,)))
        self.assertEqual(requests.verdict(requests.ratios[0]), "better")
        self.assertEqual(lines["mean request"].verdict(lines["mean request"].ratios[0]), "better")
        self.assertEqual(lines["bytes wanted"].ratios, (1.0,))
        self.assertEqual(lines["bytes between ranks"].ratios, (None,))
        self.assertNotIn("locks", lines)

    def test_more_is_worse_where_less_is_better(self):
        lines = compare.compare([study(documents.good_collective()), study(documents.small_writes())])
        self.assertEqual(lines[0].verdict(lines[0].ratios[0]), "worse")

    def test_of_different_amounts_of_work_only_what_does_not_grow_is_judged(self):
        double = documents.small_writes()
        for counter in ("calls", "pieces", "writes", "bytes_wanted", "bytes_moved", "bytes_written"):
            double["files"][0]["ways"][0][counter] *= 2
        lines = compare.compare([study(documents.small_writes()), study(double)])
        verdicts = {line.measure.name: line.verdict(line.ratios[0]) for line in lines}
        self.assertEqual((verdicts["bytes accessed"], verdicts["requests to the storage"]), ("", ""))
        self.assertEqual(verdicts["over the storage's least"], "better")

    def test_files_match_by_name_and_lone_ones_whatever_their_names(self):
        both = [
            study(documents.mixed_job()),
            study(documents.job(documents.rewriting_log(), documents.file("new", []))),
        ]
        self.assertEqual([name for name, _ in compare.matched_files(both)], ["tracks.bin"])
        lone = [study(documents.small_writes()), study(documents.one_file([]))]
        self.assertEqual([name for name, _ in compare.matched_files(lone)], ["particles.dat / data.bin"])


class Advice(unittest.TestCase):
    def test_every_rule_speaks_of_a_job_made_for_it(self):
        self.assertEqual(set(documents.TROUBLED), {rule.name for rule in rules.RULES})
        for name, make in documents.TROUBLED.items():
            with self.subTest(rule=name):
                one = advice_of(make()).get(name)
                self.assertIsNotNone(one, sorted(advice_of(make())))
                self.assertTrue(one.headline and one.evidence and one.actions and one.file)

    def test_no_rule_speaks_of_a_clean_job(self):
        for clean in (
            documents.good_collective(),
            documents.one_file([documents.spent("write", True, "exchange")]),
            documents.one_file([documents.spent("read")]),
        ):
            self.assertEqual(list(advice_of(clean)), ["nothing"])

    def test_a_clean_job_is_told_that_nothing_is_wrong_and_why(self):
        one = advice_of(documents.good_collective())["nothing"]
        self.assertEqual((one.severity, one.headline), ("good", "nothing to mend"))
        self.assertIn("20 requests of 0.98 MiB on average, no bytes wasted, 1.94×", one.evidence)

    def test_advice_names_figure_call_and_file(self):
        one = advice_of(documents.small_writes())["independent_small"]
        self.assertEqual((one.headline, one.file), ("40,000 independent writes of 512 B", "particles.dat"))
        self.assertIn("420 ms on the slowest rank", one.evidence)
        self.assertIn("MPI_File_write_at_all", one.actions[0].text)

    def test_thresholds_are_where_they_say(self):
        def small(calls, size):
            way = documents.spent("write", calls=calls, pieces=calls, bytes_wanted=calls * size)
            return "independent_small" in advice_of(documents.one_file([way]))

        self.assertTrue(small(rules.MANY, rules.SMALL - 1))
        self.assertFalse(small(rules.MANY - 1, 512))
        self.assertFalse(small(rules.MANY, rules.SMALL))

    def test_what_hardly_takes_time_gives_no_advice(self):
        small = documents.small_writes()["files"][0]["ways"][0]
        large = documents.spent("write", True, "exchange", ns={"transfer": 100_000 * MS})
        self.assertEqual(list(advice_of(documents.one_file([large, small]))), ["nothing"])

    def test_pieces_are_no_matter_where_the_storage_could_hardly_do_better(self):
        document = documents.small_writes()
        document["files"][0]["ways"][0]["slowest_ns"] = 6 * MS  # of 3.086 ms at least
        self.assertEqual(list(advice_of(document)), ["nothing"])
        document["files"][0]["ways"][0]["slowest_ns"] = 6_200_000
        self.assertEqual(list(advice_of(document)), ["independent_small"])

    def test_all_is_minor_in_a_job_that_hardly_does_io(self):
        document = documents.small_writes()
        self.assertEqual(advice_of(document)["independent_small"].severity, "costly")
        document["seconds"] = 3600.0
        self.assertEqual(advice_of(document)["independent_small"].severity, "minor")

    def test_a_file_far_from_the_storage_is_not_said_to_be_well(self):
        way = documents.spent("write", True, "exchange", ns={"pack": 9000 * MS})
        one = advice_of(documents.one_file([way]))["nothing"]
        self.assertEqual(one.headline, "nothing to mend")  # 1.25 s of 316 ms
        one = advice_of(documents.one_file([{**way, "slowest_ns": 2000 * MS}]))["nothing"]
        self.assertEqual(one.headline, "nothing that a rule knows to mend")
        self.assertEqual(one.severity, "unclear")
        self.assertIn("6.33×", one.evidence)
        self.assertIn("most of the time in pack: 90 %", one.evidence)

    def test_a_single_rank_is_not_told_to_be_collective(self):
        document = documents.small_writes()
        document["files"][0]["ranks"] = 1
        document["files"][0]["pattern"] = documents.pattern(1, MIB)
        (action,) = advice_of(document)["independent_small"].actions
        self.assertNotIn("_all", action.text)

    def test_hdf5_files_are_told_in_the_words_of_hdf5(self):
        self.assertIn(
            "H5Pset_dxpl_mpio",
            str(advice_of(documents.mixed_job())["independent_strided"].actions)
            + str(advice_of(documents.job(documents.checkpoint_file()))["independent_strided"].actions),
        )
        self.assertNotIn("H5P", str(advice_of(documents.small_writes())["independent_small"].actions))

    def test_pieces_one_by_one_are_proposed_only_where_the_model_holds_them_faster(self):
        document = documents.job(documents.rewriting_log())
        self.assertIn("tracks.bin:romio_ds_write=disable", str(advice_of(document)["rewrites"].actions))
        document["files"][0]["costs"]["write_ns"] = 2 * MS  # a file system over a network
        self.assertNotIn("romio_ds_write", str(advice_of(document)["rewrites"].actions))

    def test_waiting_with_aggregators_enough_is_no_matter_of_aggregators(self):
        document = documents.TROUBLED["two_phase_waits"]()
        self.assertNotIn("cb_nodes", str(advice_of(document)["two_phase_waits"].actions))
        document["files"][0]["aggregators"] = [0]
        documents.set_hint(document["files"][0], "cb_nodes", 1, "TAMIS_HINTS")
        actions = str(advice_of(document)["two_phase_waits"].actions)
        self.assertIn("cb_nodes=1 from TAMIS_HINTS", actions)
        self.assertIn("data.bin:cb_nodes=8", actions)

    def test_ranks_that_take_turns_on_the_cores_must_wait(self):
        def advice(cores, wait):
            spent = {"wait": wait * MS}  # beside 1000 ms of transfers
            way = documents.spent("write", True, "exchange", bytes_wanted=100 * MIB, ns=spent)
            return advice_of(documents.job(documents.file("data.bin", [way], aggregators=[0, 1, 2, 3]), cores=cores))

        self.assertIn("two_phase_waits", advice(cores=4, wait=2400))  # 71 %, of which 50 % must be
        few = advice(cores=4, wait=2200)
        self.assertNotIn("two_phase_waits", few)
        self.assertIn("69 % of the time waiting for other ranks", few["nothing"].evidence)
        self.assertIn("8 ranks take turns on 4 cores", few["nothing"].evidence)

    def test_ranks_that_take_turns_on_the_cores_must_meet_late(self):
        def advice(cores, survey):
            way = documents.spent("write", True, "exchange", bytes_wanted=2000 * 800, ns={"survey": survey * MS})
            return advice_of(documents.job(documents.file("data.bin", [way]), cores=cores))

        self.assertIn("collective_talk", advice(cores=8, survey=700))  # beside 1000 ms of transfers: 41 %
        self.assertNotIn("collective_talk", advice(cores=4, survey=2200))  # 69 %, of which 50 % must be
        late = advice(cores=4, survey=2400)["collective_talk"]
        self.assertIn("waiting for ranks that come late included", late.evidence)

    def test_what_stands_between_program_and_calls_is_what_can_be_told(self):
        for name, words in (("a.h5", "H5Pset_dxpl_mpio"), ("a.nc", "nc_var_par_access"), ("a.dat", "mpi4py")):
            document = documents.small_writes()
            document["files"][0]["name"] = name
            actions = str(advice_of(document)["independent_small"].actions)
            self.assertIn(words, actions)
            self.assertEqual("MPI_File_set_view" in actions, name == "a.dat")

    def test_the_reason_for_going_alone_decides_what_to_do(self):
        for reason, todo in (
            ("collective buffering is disabled by hint", "romio_cb_write=automatic"),
            ("there are holes, and sieving is disabled by hint", "romio_ds_write=automatic"),
            ("atomic mode: every rank's access must appear whole", "MPI_File_set_atomicity"),
            ("there are holes, and the file cannot be read back under a lock", "MPI_MODE_RDWR"),
        ):
            with self.subTest(reason=reason):
                self.assertIn(todo, str(advice_of(documents.alone_because(reason))["collective_alone"].actions))
        self.assertNotIn(
            "collective_alone", advice_of(documents.alone_because("every rank alone is expected to be faster"))
        )

    def test_hints_are_for_a_pattern_that_needs_no_escapes(self):
        document = documents.job(documents.rewriting_log())
        document["files"][0]["name"] = "a:b,c'd.bin"
        self.assertIn("TAMIS_HINTS='*:romio_ds_write=disable'", advice_of(document)["rewrites"].actions[-1].code)

    def test_what_costs_most_comes_first_and_failures_before_it(self):
        document = documents.mixed_job()
        self.assertEqual(study(document).advice[0].file, "tracks.bin")
        document["files"][0]["ways"][1]["errors"] = 1
        self.assertEqual(study(document).advice[0].rule, "errors")

    def test_only_hints_of_the_table_are_named(self):
        known = set(re.findall(r"^\| `(\w+)`", (ROOT / "docs" / "hints.md").read_text(), re.M))
        said = " ".join(str(one) for make in documents.TROUBLED.values() for one in advice_of(make()).values())
        said += str(rules.ALONE_BECAUSE).replace("{}", "write")
        named = set(re.findall(r"\b(?:cb|romio|ind|striping|tamis)_[a-z_]+(?==)", said))
        self.assertGreater(len(named), 5)
        self.assertLessEqual(named, known)

    def test_the_page_of_the_docs_shows_every_rule(self):
        page = " ".join((ROOT / "docs" / "report.md").read_text().split())
        for rule in rules.RULES:
            self.assertIn(f"| `{rule.name}` | {rule.looks_for} |", page)


class Words(unittest.TestCase):
    def test_long_command_lines_have_short_titles(self):
        options = " --steps 100000 --output /scratch/somewhere/else/result.h5"
        for command, title in (
            ("./climate --steps 3", "./climate --steps 3"),
            ("/opt/x/bin/climate" + options, "climate"),
            ("/usr/bin/python3 tools/simulate.py" + options, "python3 simulate.py"),
            ("", ""),
        ):
            self.assertEqual(words.short_program(command), title)


class Merging(unittest.TestCase):
    """Documents as a library writes them: one per rank that was rank 0 of a file, an entry per open."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "job.json"

    def save(self, document, rank=0, **more):
        path = self.path if rank == 0 else self.path.with_name(f"job.json.rank-{rank}")
        path.write_text(json.dumps({**document, "rank": rank, **more}))

    def opened(self, ranks, column_bytes, **more):
        """An open in which rank r of `ranks` wrote 100 bytes into column r."""
        way = documents.spent("write", calls=ranks, bytes_wanted=100 * ranks, slowest_ns=5 * MS, memory=ranks)
        pattern = documents.pattern(ranks, column_bytes, written=lambda row, column: 100 * (row == column))
        line = documents.timeline(1000, written=lambda column: 7 * (column == 0))
        return documents.file("data.bin", [way], ranks=ranks, pattern=pattern, timeline=line, **more)

    def only_file(self):
        (file,) = merge.load_job(self.path).files
        return file

    def test_opens_one_after_the_other_add_up(self):
        self.save(
            documents.job(self.opened(8, 1000, began=1.0, seconds=0.5), self.opened(8, 4000, began=3, seconds=1))
        )
        file = self.only_file()
        self.assertEqual((file.opens, file.ranks, file.began, file.seconds), (2, 8, 1.0, 3.0))
        (way,) = file.ways
        self.assertEqual((way.calls, way.bytes_wanted, way.slowest_ns, way.memory), (16, 1600, 10 * MS, 8))
        self.assertEqual(way.request_sizes[17], 4000)
        self.assertEqual(way.ns["transfer"], 2000 * MS)
        self.assertEqual((file.pattern.rows, file.pattern.column_bytes), (8, 4000))
        self.assertEqual(file.pattern.written[5][:6], [0, 100, 0, 0, 0, 100])  # 5 x 1000 lies in 1 x 4000
        self.assertEqual(sum(file.timeline.written), 14)
        # 2 s and 64 bins of 1 us beyond: the second open begins in the last of 64 columns.
        self.assertEqual((file.timeline.written[0], file.timeline.written[63]), (7, 7))

    def test_opens_by_each_rank_alone_are_one_file_of_all_ranks(self):
        for rank in range(8):
            self.save(documents.job(self.opened(1, 1000)), rank)
        file = self.only_file()
        self.assertEqual((file.opens, file.ranks, file.pattern.rows), (8, 8, 8))
        self.assertEqual([row[0] for row in file.pattern.written], [100] * 8)
        self.assertEqual((file.ways[0].calls, file.ways[0].slowest_ns), (8, 5 * MS))  # at the same time

    def test_a_rank_may_have_taken_part_in_opens_of_two_writers(self):
        self.save(documents.job(self.opened(8, 1000)))
        self.save(documents.job(self.opened(2, 1000)), 3)
        self.save(documents.job(self.opened(2, 1000)), 6)
        (way,) = self.only_file().ways
        self.assertEqual(way.slowest_ns, 10 * MS)  # ranks 3 and 4, or 6 and 7, in two opens each

    def test_what_had_no_room_is_told(self):
        self.save(documents.job(self.opened(8, 1000, accesses_left_out=3), files_left_out=2))
        self.save(documents.job(self.opened(1, 1000, accesses_left_out=4), files_left_out=1), 1)
        job = merge.load_job(self.path)
        self.assertEqual((job.files_left_out, job.files[0].accesses_left_out), (3, 7))
        self.assertEqual(words.caveats(job), ["3 later opens of files had no room in the document"])

    def test_more_ranks_than_rows_are_grouped(self):
        for rank in range(100):
            self.save(documents.job(self.opened(1, 1000), ranks=100), rank)
        file = self.only_file()
        self.assertEqual((file.ranks, file.pattern.rows), (100, 64))
        self.assertEqual(sum(map(sum, file.pattern.written)), 100 * 100)

    def test_times_are_since_the_first_rank_began(self):
        self.save(documents.job(self.opened(1, 1000, began=0.5), began=1000.0, seconds=2))
        self.save(documents.job(self.opened(1, 1000, began=0.5), began=997.0, seconds=9), 3)
        job = merge.load_job(self.path)
        self.assertEqual((job.began, job.seconds, job.files[0].began), (997.0, 9.0, 0.5))
        self.assertEqual(job.files[0].seconds, 7.0)  # from 0.5 to 3.5 + 4

    def test_documents_of_an_earlier_run_are_left_out(self):
        self.save(documents.job(self.opened(8, 1000)))
        self.save(documents.job(self.opened(1, 1000), began=1_000_000.0), 1)
        self.save(documents.job(self.opened(1, 1000), program="./another"), 2)
        self.assertEqual(self.only_file().opens, 1)

    def test_rank_0_need_not_have_opened_anything(self):
        self.save(documents.job(self.opened(1, 1000)), 5)
        self.assertEqual(self.only_file().name, "data.bin")

    def test_one_incomplete_part_makes_the_job_incomplete(self):
        self.save(documents.job(self.opened(8, 1000)))
        self.save(documents.job(self.opened(1, 1000), incomplete=True), 1)
        self.assertTrue(merge.load_job(self.path).incomplete)

    def test_a_part_that_is_broken_is_named(self):
        self.save(documents.job(self.opened(8, 1000)))
        self.path.with_name("job.json.rank-4").write_text("{")
        with self.assertRaisesRegex(UserError, "rank-4: ends in the middle"):
            merge.load_job(self.path)

    def test_alike_accesses_are_told_once(self):
        access = documents.access("write", True, "two-phase")
        self.save(documents.job(self.opened(8, 1000, accesses=[access]), self.opened(8, 1000, accesses=[access])))
        (one,) = self.only_file().accesses
        self.assertEqual(one.calls, 200)

    def test_what_only_some_libraries_say_may_be_missing(self):
        document = documents.mixed_job()
        for file in document["files"]:
            del file["filesystem"], file["hint_sources"]
        self.assertEqual(study(document).files[0].changed_hints(), [])


class BadDocuments(unittest.TestCase):
    def defect(self, change):
        document = documents.small_writes()
        change(document)
        with self.assertRaises(Defect) as caught:
            as_job(document, "job.json")
        return str(caught.exception)

    def test_each_defect_is_told_with_its_place(self):
        def way(document):
            return document["files"][0]["ways"][0]

        cases = (
            (lambda d: d.update(format=2), "has format 2; this tamis reads format 1"),
            (lambda d: d.pop("format"), 'no "format"'),
            (lambda d: d.pop("ranks"), 'the document lacks "ranks"'),
            (lambda d: d.update(ranks=0), "ranks is 0"),
            (lambda d: d.update(files={}), "files is no list"),
            (lambda d: d.update(incomplete=1), "incomplete is neither true nor false"),
            (lambda d: d.update(began=float("inf")), "began is inf"),
            (lambda d: way(d).pop("calls"), 'files[0].ways[0] lacks "calls"'),
            (lambda d: way(d).update(calls=True), "files[0].ways[0].calls is no integer"),
            (lambda d: way(d).update(calls=-1), "files[0].ways[0].calls is negative"),
            (lambda d: way(d).update(direction="up"), "files[0].ways[0].direction is none of read, write"),
            (lambda d: way(d)["ns"].pop("lock"), 'files[0].ways[0].ns lacks "lock"'),
            (lambda d: way(d)["request_sizes"].pop(), "files[0].ways[0].request_sizes has 17 entries, not 18"),
            (lambda d: d["files"][0]["pattern"]["written"].pop(), "files[0].pattern.written has 7 rows, not 8"),
            (lambda d: d["files"][0]["pattern"]["read"][3].pop(), "files[0].pattern.read has a row"),
            (lambda d: d["files"][0]["timeline"]["read"].pop(), "files[0].timeline.read is not of 64 columns"),
            (lambda d: d["files"][0]["hints"].update(cb_nodes=4), "files[0].hints.cb_nodes is no text"),
            (lambda d: d["files"].append(7), "files[1] is no object"),
        )
        for change, words in cases:
            with self.subTest(words=words):
                self.assertIn(words, self.defect(change))

    def test_keys_that_are_not_known_are_left_alone(self):
        document = documents.small_writes()
        document["weather"] = document["files"][0]["ways"][0]["mood"] = "fine"
        as_job(document, "job.json")

    def test_every_missing_key_is_a_defect_and_nothing_worse(self):
        def places(node, path=()):
            entries = (
                node.items() if isinstance(node, dict) else enumerate(node[:1]) if isinstance(node, list) else ()
            )
            for key, child in entries:
                yield (*path, key)
                yield from places(child, (*path, key))

        whole = documents.good_collective()
        for path in [
            path for path in places(whole) if isinstance(path[-1], str) and "hint" not in path[-2:-1] + path[-3:-2]
        ]:
            document = copy.deepcopy(whole)
            parent = document
            for key in path[:-1]:
                parent = parent[key]
            del parent[path[-1]]
            with self.subTest(path=path):
                if {"hints", "hint_sources"} & set(path[:-1]) or path[-1] in ("filesystem", "hint_sources"):
                    as_job(document, "")
                else:
                    self.assertRaises(Defect, as_job, document, "")

    def test_a_document_cut_anywhere_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            whole, path = json.dumps(documents.small_writes()), Path(directory) / "job.json"
            for length in range(1, len(whole), 97):
                path.write_text(whole[:length])
                with self.assertRaises(UserError) as caught:
                    load(path)
                self.assertNotIn("\n", str(caught.exception))


class Nesting(HTMLParser):
    """Notes what a page refers to, its ids, and whether its elements are closed."""

    VOID = {"meta", "br", "link", "img", "hr", "input"}

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.references, self.tags = [], [], [], set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        self.references += [value for name, value in attributes if name in ("href", "src", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in ("p", "li", "td", "th", "tr", "dt", "dd"):
            self.open.pop()
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = python_with_packages()

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)

    def save(self, name, document):
        path = self.path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    def tamis(self, *words, python=None, **environment):
        return subprocess.run(
            [python or self.python, str(TAMIS), *map(str, words)],
            text=True,
            encoding="utf-8",
            env=clean_environment(PYTHONIOENCODING="utf-8", COLUMNS="110", **environment),
            timeout=TIMEOUT_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )

    def report(self, *words):
        answer = self.tamis("report", *words)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return answer.stdout

    def page(self, *words):
        target = self.path / "out.html"
        self.report(*words, "--html", target)
        return target.read_text(encoding="utf-8")

    def test_text_tells_files_ways_figures_and_advice(self):
        text = self.report(self.save("job.json", documents.mixed_job()))
        for words in (
            "python3 simulate.py --grid 512",
            "8 ranks on 1 node",
            "out/checkpoint.h5",
            "tracks.bin",
            "collective write, two-phase",
            "independent read, sieve",
            "256 MiB",
            "transfer 58 %",
            "480 MiB read only to be written back, for 4.39 MiB wanted",
            "An estimate",
            "TAMIS_HINTS='tracks.bin:romio_ds_write=disable'",
            "nothing that a rule knows to mend",
        ):
            self.assertIn(words, text)
        self.assertRegex(text, r"7 │ {56}█{8}│")  # who read what
        self.assertNotIn("\x1b", text)

    def test_incomplete_jobs_are_said_to_be(self):
        job = self.save("job.json", documents.incomplete_job())
        self.assertIn("incomplete: the counters of some ranks could not be had", self.report(job))
        self.assertIn("<b>Incomplete:</b>", self.page(job))

    def test_two_jobs_stand_side_by_side(self):
        jobs = self.save("before.json", documents.small_writes()), self.save(
            "after.json", documents.good_collective()
        )
        self.assertRegex(self.report(*jobs), r"requests to the storage +40,000 +20 +1/2,000")
        page = self.page(*jobs)
        self.assertIn("2 jobs side by side", page)
        self.assertIn('<td class="better">1/2,000</td>', page)

    def test_a_page_needs_nothing_else(self):
        for jobs in (
            [documents.mixed_job()],
            [documents.small_writes(), documents.good_collective(), documents.mixed_job()],
            [documents.one_file([])],
        ):
            page = self.page(*(self.save(f"{number}.json", job) for number, job in enumerate(jobs)))
            self.assertNotRegex(page, r"https?:|<script|@import|url\((?!#)")
            seen = Nesting(page)
            self.assertEqual(seen.open, [])
            self.assertEqual(len(seen.ids), len(set(seen.ids)))
            for reference in seen.references:
                self.assertRegex(reference, "^(#|data:image/png;base64,)")
                self.assertTrue(reference[0] != "#" or reference[1:] in seen.ids, reference)

    def test_a_page_shows_pictures_in_its_own_colours(self):
        page = self.page(self.save("job.json", documents.mixed_job()))
        for title in (
            "Who touched which part of the file",
            "Where the time went",
            "Sizes of the requests to the storage",
            "Over time",
        ):
            self.assertEqual(page.count(f"<figcaption>{title}"), 3)
        self.assertIn("prefers-color-scheme: dark", page)
        self.assertIn("fill: var(--ink)", page)
        self.assertNotIn("#010203", page)

    def test_names_are_shown_as_they_are(self):
        document = documents.small_writes()
        document["program"] = document["files"][0]["name"] = "<script>[bold]$x^$&\x1b[31m"
        job = self.save("job.json", document)
        self.assertIn("<script>[bold]$x^$&?[31m", self.report(job))
        self.assertIn("&lt;script&gt;[bold]$x^$&amp;?[31m", self.page(job))
        self.report(job, "--png", self.path / "pictures")

    def test_pictures_are_written_as_png(self):
        pictures = self.path / "deep" / "pictures"
        self.assertEqual(self.report(self.save("job.json", documents.mixed_job()), "--png", pictures), "")
        names = sorted(path.name for path in pictures.iterdir())
        self.assertEqual(len(names), 12)
        self.assertEqual(names[0], "01-checkpoint.h5-pattern.png")
        for path in pictures.iterdir():
            self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(path.stat().st_size, 5000)

    def test_a_job_of_very_many_files_is_told_in_bounds(self):
        files = [
            documents.file(f"part{number}", [documents.spent("write", slowest_ns=(number + 1) * MS)])
            for number in range(40)
        ]
        job = self.save("job.json", documents.job(*files))
        self.assertIn("and 28 more files", self.report(job))
        page = self.page(job)
        self.assertEqual(page.count('<section class="file"'), 12)
        self.assertIn(">part0<", page)

    def test_an_old_terminal_gets_question_marks_and_no_traceback(self):
        job = self.save("job.json", documents.small_writes())
        answer = subprocess.run(
            [self.python, str(TAMIS), "report", str(job)],
            timeout=TIMEOUT_S,
            check=False,
            env=clean_environment(PYTHONIOENCODING="ascii"),
            capture_output=True,
        )
        self.assertEqual((answer.returncode, answer.stderr), (0, b""))

    def test_bad_documents_end_in_one_line_and_code_2(self):
        whole = json.dumps(documents.small_writes())
        cases = (
            ("not json at all", "is no JSON document: Expecting value in line 1, column 1"),
            ("", "is no JSON document"),
            (whole[: len(whole) // 2], "truncated"),
            ("[]", "is no job document"),
            ('{"format": 9}', "has format 9"),
            (json.dumps(documents.job()), "no files"),
            ("[" * 200_000, "nested too deeply"),
        )
        for text, words in cases:
            with self.subTest(words=words):
                answer = self.tamis("report", self.save("job.json", text), "--html", self.path / "never.html")
                self.assertEqual((answer.returncode, answer.stdout), (2, ""))
                self.assertRegex(answer.stderr, r"^tamis: [^\n]*job\.json: [^\n]*\n$")
                self.assertIn(words, answer.stderr)
        self.assertFalse((self.path / "never.html").exists())

    def test_files_that_cannot_be_read_or_written_end_in_one_line_and_code_2(self):
        job = self.save("job.json", documents.small_writes())
        (self.path / "bytes.json").write_bytes(b"\xff\xfe{}")
        for words in (
            ["absent.json"],
            [self.path],
            [self.path / "bytes.json"],
            [job, "--html", self.path],
            [job, "--png", job],
        ):
            with self.subTest(words=words):
                answer = self.tamis("report", *words)
                self.assertEqual(answer.returncode, 2)
                self.assertRegex(answer.stderr, r"^tamis: [^\n]*\n$")


class Packages(unittest.TestCase):
    def test_a_missing_package_is_named(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaises(UserError) as caught:
                report_package.report(["job.json"], html="out.html", text=True)
        for words in ("python3-rich", "python3-jinja2", "python3-matplotlib", "apt-get install", sys.executable):
            self.assertIn(words, str(caught.exception))

    def test_only_what_a_form_needs_is_needed(self):
        self.assertEqual(report_package.needed_modules(html=None, png=None, text=True), ["rich"])
        self.assertEqual(report_package.needed_modules(html=None, png="x", text=False), ["matplotlib"])

    def test_the_command_starts_without_them(self):
        code = (
            "import sys\nfor name in ('rich', 'jinja2', 'matplotlib'): sys.modules[name] = None\n"
            "from tamis.main import make_parser\nimport tamis.report.study\n"
        )
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            timeout=TIMEOUT_S,
            env=clean_environment(PYTHONPATH=str(ROOT / "python")),
        )


if __name__ == "__main__":
    unittest.main()
