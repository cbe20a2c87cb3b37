"""tamis run --stats --explain --report --trace: what ranks did is what the words and documents say."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BUILD, TAMIS, python_with_packages, tamis

MPIS = [mpi for mpi in ("mpich", "openmpi")
        if shutil.which(f"mpiexec.{mpi}") and (BUILD / "lib" / f"libtamis-{mpi}.so").is_file()]
RANKS = 3
PIECES, PIECE = 500, 16
ROUNDED_US = 0.002
BUILT_IN_COSTS = ("tmpfs", "ext4", "ext3", "ext2", "xfs", "nfs", "nfs4", "lustre", "gpfs")

# Every rank writes its pieces, which take turns, in one collective call; rank 1 also has a file of its own.
PROGRAM = f"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {{
  char* bytes = calloc({PIECES}, {PIECE});
  char own[4000];
  MPI_File file;
  MPI_Datatype pieces;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector({PIECES}, {PIECE}, {PIECE} * ranks, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, rank * {PIECE}, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, bytes, {PIECES} * {PIECE}, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  snprintf(own, sizeof own, "%s.own", argv[1]);
  if (rank == 1) {{
    MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 100, bytes, 50, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }}
  MPI_Type_free(&pieces);
  MPI_Finalize();
  return 0;
}}
"""


def filesystem_by_df(path):
    answer = subprocess.run(["df", "--output=fstype", str(path)], check=True, text=True, stdout=subprocess.PIPE)
    return answer.stdout.split()[-1]


@unittest.skipUnless(MPIS, "no MPI is built")
class Seeing(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def run_program(self, mpi, *options):
        source = self.directory / "program.c"
        source.write_text(PROGRAM)
        program = self.directory / f"program.{mpi}"
        subprocess.run([f"mpicc.{mpi}", str(source), "-o", str(program)], check=True)
        answer = tamis("run", *options, "--", f"mpiexec.{mpi}", "-n", str(RANKS), str(program),
                       str(self.directory / "data"), TAMIS_HINTS="*:cb_nodes=1")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer

    def test_the_document_tells_what_all_ranks_did(self):
        for mpi in MPIS:
            report = self.directory / f"{mpi}.json"
            report.write_text("an older job")
            self.run_program(mpi, "--report", str(report))
            job = json.loads(report.read_text())
            self.assertEqual((job["format"], job["mpi"], job["ranks"]), (1, mpi, RANKS))
            (file,) = job["files"]
            self.assertEqual(file["name"], str(self.directory / "data"))
            self.assertEqual(file["filesystem"], filesystem_by_df(self.directory / "data"))
            (way,) = file["ways"]
            self.assertEqual((way["direction"], way["collective"]), ("write", True))
            self.assertEqual(way["calls"], RANKS)
            self.assertEqual(way["bytes_wanted"], RANKS * PIECES * PIECE)
            self.assertEqual(way["bytes_moved"], RANKS * PIECES * PIECE)
            self.assertEqual(way["bytes_written"], RANKS * PIECES * PIECE)
            self.assertEqual(way["pieces"], RANKS * PIECES)
            self.assertEqual(sum(way["read_sizes"]), way["reads"])
            self.assertEqual(sum(way["write_sizes"]), way["writes"])
            self.assertEqual(way["request_sizes"], [sum(both) for both in zip(way["read_sizes"], way["write_sizes"])])
            self.assertEqual((way["aggregators"], file["aggregators"]), (1, [0]))
            self.assertEqual((file["accesses_left_out"], job["files_left_out"]), (0, 0))
            self.assertEqual(sum(map(sum, file["pattern"]["written"])), RANKS * PIECES * PIECE)
            self.assertEqual(len(file["pattern"]["written"]), RANKS)
            self.assertEqual(file["hint_sources"]["cb_nodes"], "TAMIS_HINTS")
            self.assertEqual(file["hint_sources"]["romio_ds_read"], "default")

    def test_a_file_of_another_rank_alone_has_a_document_beside(self):
        for mpi in MPIS:
            report = self.directory / f"{mpi}.json"
            self.run_program(mpi, "--report", str(report))
            part = json.loads(Path(f"{report}.rank-1").read_text())
            (file,) = part["files"]
            self.assertEqual(file["ranks"], 1)
            self.assertEqual([way["bytes_written"] for way in file["ways"]], [50])
            self.assertFalse(Path(f"{report}.rank-2").exists())

    def test_a_report_can_be_made_of_it(self):
        for mpi in MPIS:
            report, page = self.directory / f"{mpi}.json", self.directory / f"{mpi}.html"
            self.run_program(mpi, "--report", str(report))
            answer = tamis(TAMIS, "report", report, "--html", page, "--text", command=python_with_packages(),
                           COLUMNS="160", PYTHONIOENCODING="utf-8")
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            place = f"posix on {filesystem_by_df(self.directory)}"
            for words in (f"{self.directory}/data\n", f"{RANKS} ranks, RDWR|CREATE, {place}", "collective write, two-phase",
                          f"{self.directory}/data.own\n", f"1 rank, WRONLY|CREATE, {place}", "independent write, direct"):
                self.assertIn(words, answer.stdout)
            self.assertRegex(answer.stdout, rf"two-phase +{RANKS} +23.4 KiB +23.4 KiB +0 B +1 +23.4 KiB")
            self.assertIn("<figcaption>Who touched which part of the file", page.read_text(encoding="utf-8"))

    def test_the_timeline_has_every_rank(self):
        for mpi in MPIS:
            trace = self.directory / f"{mpi}.trace.json"
            self.run_program(mpi, "--trace", str(trace))
            document = json.loads(trace.read_text())
            events = [event for event in document["traceEvents"] if event["ph"] == "X"]
            self.assertEqual({event["tid"] for event in events}, set(range(RANKS)))
            self.assertEqual(document["otherData"]["events_left_out"], 0)
            for event in events:
                self.assertGreaterEqual(event["ts"], 0)
                self.assertGreaterEqual(event["dur"], 0)
            for name in ("storage write", "write_all"):
                written = sum(event["args"]["bytes"] for event in events if event["name"] == name)
                self.assertEqual(written, RANKS * PIECES * PIECE)

    def test_the_timeline_has_the_calls_around_what_they_are_made_of(self):
        for mpi in MPIS:
            trace = self.directory / f"{mpi}.trace.json"
            self.run_program(mpi, "--trace", str(trace))
            events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
            calls = {event["tid"]: event for event in events if event["cat"] == "call"}
            self.assertEqual([call["name"] for call in calls.values()], ["write_all"] * RANKS)
            for event in events:
                call = calls[event["tid"]]
                self.assertGreaterEqual(event["ts"], call["ts"])
                self.assertLessEqual(event["ts"] + event["dur"], call["ts"] + call["dur"] + ROUNDED_US)

    def test_words_are_said_only_where_asked_for(self):
        for mpi in MPIS:
            self.assertNotIn("tamis:", self.run_program(mpi).stderr)
            told = self.run_program(mpi, "--stats").stderr
            self.assertIn("write_all by", told)
            self.assertIn(f"{RANKS} calls", told)
            self.assertIn("1 of 1 aggregators moved windows", told)
            self.assertNotIn("-> ", told)
            told = self.run_program(mpi, "--explain").stderr
            self.assertIn("-> ", told)
            self.assertNotIn(f"{RANKS} calls", told)

    def explained(self, *words):
        answer = tamis("explain", "--write", "--ranks", str(RANKS), "--hint", "cb_nodes=1", *words)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.split("\nassumed:")[0]

    def test_what_a_job_says_of_a_decision_is_what_explain_says_without_one(self):
        filesystem = filesystem_by_df(self.directory)
        for mpi in MPIS:
            report = self.directory / f"{mpi}.json"
            told = self.run_program(mpi, "--explain", "--report", str(report)).stderr
            job = json.loads(report.read_text())
            (file,) = job["files"]
            costs = ",".join(f"{key}={file['costs'][key]}" for key in ("read_ns", "write_ns", "byte_ns", "lock_ns"))
            together = ("--cores", str(job["cores"]), "blocks", f"piece={PIECE}", f"stride={RANKS * PIECE}",
                        f"count={PIECES}")
            alone = ("--alone", "contiguous", "begin=100", "bytes=50")
            for place in (("--filesystem", filesystem if filesystem in BUILT_IN_COSTS else "other"), ("--costs", costs)):
                words = self.explained(*place, *together)
                self.assertEqual([access["text"] for access in file["accesses"]], words.split("\nso rank 0, for one:\n"))
                for access in file["accesses"]:
                    self.assertIn(f"tamis: {self.directory}/data: {access['text']}\n", told)
                self.assertIn(f"tamis: {self.directory}/data.own: {self.explained(*place, *alone)}\n", told)

    def test_a_place_where_nothing_can_be_written_is_refused_before_the_start(self):
        for place in (self.directory, self.directory / "missing" / "job.json"):
            answer = tamis("run", "--report", str(place), "--", "true")
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn(str(place), answer.stderr)
            self.assertTrue(answer.stderr.startswith("tamis: "))


if __name__ == "__main__":
    unittest.main()
