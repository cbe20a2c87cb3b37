"""tamis explain: its texts are golden, one file of tests/golden/explain for each.

    tests/cli/test_explain.py --update      writes them anew; read what git diff says of them

The first line of a file is the command, the others are what it prints.
"""

import difflib
import json
import shlex
import sys
import tempfile
import time
import unittest
from pathlib import Path

from job_documents import good_collective
from support import ROOT, tamis

GOLDEN = ROOT / "tests" / "golden" / "explain"
INSTANT_S = 60  # on a busy machine; a walk over 10^10 pieces would take ten times as long


def golden_files():
    return sorted(GOLDEN.glob("*.txt"))


def told(command):
    """What the command prints; it is the whole of a golden file but for the first line."""
    answer = tamis(*shlex.split(command)[1:])
    return answer.stdout if answer.returncode == 0 else f"exit code {answer.returncode}\n{answer.stderr}"


def update():
    for path in golden_files():
        command = path.read_text().splitlines()[0]
        path.write_text(f"{command}\n{told(command)}")
        print(f"wrote {path.relative_to(ROOT)}")


class Golden(unittest.TestCase):
    def test_every_text_is_as_it_was(self):
        self.assertGreaterEqual(len(golden_files()), 10)
        for path in golden_files():
            with self.subTest(path.stem):
                command, *wanted = path.read_text().splitlines()
                got = told(command).splitlines()
                difference = "\n".join(difflib.unified_diff(wanted, got, f"golden/{path.name}", "now", lineterm=""))
                if difference:
                    self.fail(f"\n$ {command}\n{difference}\n--update accepts it")

    def test_the_page_shows_golden_texts(self):
        for name in ("explain.md", "realms.md"):
            page = (ROOT / "docs" / name).read_text()
            blocks = [block for block in page.split("```\n") if block.startswith("tamis explain --")]
            shown = [block for block in blocks if block.count("\n") > 1]
            self.assertGreaterEqual(len(shown), 3)
            for text in shown:
                self.assertIn(text, [path.read_text() for path in golden_files()])

    def test_the_page_on_realms_shows_what_a_program_of_the_tests_does(self):
        example = (ROOT / "docs" / "realms.md").read_text().split("```c\n")[1].split("```")[0]
        self.assertIn(example, (ROOT / "tests" / "abi" / "realms.c").read_text())


def decision(*words):
    answer = tamis("explain", "--json", *words)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)["decision"]


class Patterns(unittest.TestCase):
    """What a description means, told by the bytes and pieces of rank 0."""

    def shape(self, *pattern):
        alone = decision("--read", "--alone", *pattern)
        return alone["bytes"], alone["file_pieces"], alone["span"]

    def test_each_says_how_many_bytes_in_how_many_pieces_over_what_span(self):
        for pattern, shape in (
            ("contiguous bytes=4KiB", (4096, 1, 4096)),
            ("blocks piece=512 stride=4096 count=10", (5120, 10, 9 * 4096 + 512)),
            ("cyclic piece=8 bytes=1k", (1024, 128, 127 * 64 + 8)),
            ("block2d n=100 elem=8", (25 * 50 * 8, 25, (24 * 100 + 50) * 8)),
            ("block3d n=8x4x6 elem=4", (4 * 2 * 3 * 4, 8, ((3 * 4 + 1) * 6 + 3) * 4)),
            ("tile width=4 height=3 elem=2 columns=2 rows=4 overlap_x=1", (24, 3, (2 * 7 + 4) * 2)),
            # Pieces of two copies that touch count as two.
            ("list offsets=0,100 lengths=8,16 copies=2", (48, 4, 116 + 116)),
            ("dataloop vector(10, stride 16, contig(4))", (40, 10, 9 * 16 + 4)),
        ):
            with self.subTest(pattern):
                self.assertEqual(self.shape(pattern), shape)

    def test_shares_of_the_ranks_fit_together(self):
        for pattern in ("contiguous bytes=4KiB", "blocks piece=512 stride=4096 count=100",
                        "cyclic piece=8 bytes=1k", "block2d n=101 elem=8", "block3d n=7x11x5 elem=4"):
            with self.subTest(pattern):
                answer = tamis("explain", "--write", "--hint", "romio_cb_write=enable", pattern)
                self.assertIn("without holes", answer.stdout, answer.stderr)

    def test_words_may_stand_apart_and_between_options(self):
        apart = tamis("explain", "--write", "blocks", "piece=8", "stride=64", "count=9", "--alone")
        quoted = tamis("explain", "--alone", "--write", "blocks piece=8 stride=64 count=9")
        self.assertEqual(apart.stdout, quoted.stdout)
        self.assertIn("9 pieces of 8 bytes", apart.stdout)

    def test_neither_ranks_nor_pieces_are_walked_one_by_one_for_long(self):
        for words in (
            ("--ranks", "10000", "--nodes", "100", "--read", "block3d n=2000 elem=8"),
            ("--alone", "--write", "blocks piece=8 stride=16 count=10000000000"),
            ("--read", "cyclic piece=8 bytes=10000000000"),
            ("--write", "cyclic piece=8 bytes=10000000000"),
        ):
            with self.subTest(words):
                begun = time.monotonic()
                self.assertTrue(decision(*words)["reason"])
                self.assertLess(time.monotonic() - begun, INSTANT_S)


class Mistakes(unittest.TestCase):
    def test_each_is_told_in_a_line(self):
        for words, said in (
            ((), "a pattern is wanted"),
            (("stripes piece=8",), 'no pattern "stripes", only: contiguous'),
            (("contiguous",), "contiguous wants bytes="),
            (("contiguous bytes=4X",), '"4X" is no number of bytes'),
            (("contiguous bytes=0",), "bytes must be at least 1"),
            (("contiguous bytes=8 piece=8",), "contiguous knows no piece=, only: begin, bytes, rank_stride"),
            (("contiguous bytes=8 begin=-9",), "before the beginning of the file"),
            (("blocks piece=8 stride=8E count=1",), "no number of bytes"),
            (("blocks piece=1G stride=2G count=1000000000000",), "does not fit"),
            (("dataloop vector(2, stride 8",), "dataloop"),
            (("contiguous bytes=8", "--ranks", "0"), "ranks=0: wants 1 to"),
            (("contiguous bytes=8", "--nodes", "9"), "more nodes than ranks"),
            (("contiguous bytes=8", "--hint", "cb_nodes=many"), "hint cb_nodes=many: malformed"),
            (("contiguous bytes=8", "--costs", "read_ns=fast"), "read_ns=fast is no time"),
            (("contiguous bytes=8", "--profile", "/nowhere"), "/nowhere cannot be read"),
            (("contiguous bytes=8", "--filesystem", "ext5"), 'no costs of "ext5" are built in, only of: tmpfs, ext4'),
            (("contiguous bytes=8", "--atomic", "--no-locks"), "atomic mode needs byte-range locks"),
            (("contiguous bytes=8", "--memory", "tile"), 'no memory pattern "tile"'),
            (("contiguous bytes=8", "--realm", "cyclic piece=8"), 'no realm "cyclic", only: blocks, list, dataloop'),
            (("contiguous bytes=8", "--realm", "blocks piece=8 stride=4"), "meets itself"),
            (("contiguous bytes=8", "--realm", "blocks piece=8 stride=8 begin=-1"), "begins before the file"),
            (("contiguous bytes=8", "--ranks", "1", *["--realm", "blocks piece=8 stride=16"] * 2),
             "more realms than ranks"),
        ):
            with self.subTest(words):
                answer = tamis("explain", "--write", *words)
                self.assertEqual(answer.returncode, 2, answer.stdout)
                self.assertIn(said, answer.stderr)
                self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)


class Sources(unittest.TestCase):
    def test_a_file_name_brings_the_hints_of_the_environment(self):
        pattern = "cyclic piece=8 bytes=1M"
        hints = {"TAMIS_HINTS": "*.h5:romio_cb_write=disable"}
        self.assertIn("-> two-phase", tamis("explain", "--write", pattern, **hints).stdout)
        told_of = tamis("explain", "--write", "--file", "a.h5", pattern, **hints).stdout
        self.assertIn("-> every rank alone", told_of)
        self.assertIn("disabled by hint", told_of)

    def test_the_costs_are_those_of_ext4_unless_another_file_system_is_named(self):
        question = ("explain", "--write", "--alone", "blocks piece=64 stride=96 count=1000")
        unnamed, ext4, lustre = (
            tamis(*question, *words).stdout.splitlines()
            for words in ((), ("--filesystem", "ext4"), ("--filesystem", "lustre"))
        )
        self.assertEqual(unnamed[:-1], ext4[:-1])
        self.assertIn("(built in for ext4)", ext4[-1])
        self.assertIn("a write 50000 ns", lustre[-1])

    def test_costs_come_from_a_profile(self):
        with tempfile.TemporaryDirectory() as directory:
            profile = Path(directory) / "scratch"
            profile.write_text(
                "tamis-profile 1\nmount /scratch\nfilesystem ext4\ndate 2026-01-01T00:00:00Z\nread_ns 1000\n"
                "write_ns 2000\nread_byte_ns 0.5\nwrite_byte_ns 1.5\nlock_ns 3000\n"
            )
            answer = tamis("explain", "--write", "--alone", "--profile", profile, "contiguous bytes=1000")
        self.assertIn("-> direct, about 3 us", answer.stdout, answer.stderr)
        self.assertIn(f"(profile {profile})", answer.stdout)

    def test_a_job_tells_what_was_decided(self):
        with tempfile.TemporaryDirectory() as directory:
            job = Path(directory) / "job.json"
            document = good_collective()
            job.write_text(json.dumps(document))
            answer = tamis("explain", "--report", job)
            as_json = tamis("explain", "--report", job, "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for file in document["files"]:
            self.assertIn(file["name"], answer.stdout)
            for access in file["accesses"]:
                self.assertIn(access["text"].splitlines()[0], answer.stdout)
        self.assertEqual(len(json.loads(as_json.stdout)["files"]), len(document["files"]))

    def test_a_job_tells_what_other_ranks_have_kept_beside_it(self):
        with tempfile.TemporaryDirectory() as directory:
            job = Path(directory) / "job.json"
            document = good_collective()
            own = {**document, "rank": 3, "files": [{**document["files"][0], "name": "of-rank-3.bin", "path": "/r3"}]}
            job.write_text(json.dumps(document))
            Path(f"{job}.rank-3").write_text(json.dumps(own))
            answer = tamis("explain", "--report", job)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(document["files"][0]["name"], answer.stdout)
        self.assertIn("of-rank-3.bin", answer.stdout)


class Realms(unittest.TestCase):
    """A clustered access: nine tenths of its bytes lie in a twentieth of its part of the file."""

    CLUSTERED = ("--read", "--cores", "4", "--hint", "romio_cb_read=enable",
                 "list offsets=0,16M,32M,48M,64M,80M,96M,112M,128M,144M,160M "
                 "lengths=1M,11k,11k,11k,11k,11k,11k,11k,11k,11k,11k rank_stride=1M")

    def test_each_kind_says_who_has_what_and_how_evenly(self):
        for kind, words in (
            ("balanced", ()),
            ("even", ("--hint", "tamis_realms=even")),
            ("cyclic", ("--hint", "tamis_realms=cyclic")),
            ("persistent", ("--hint", "romio_cb_pfr=enable")),
            ("given", ("--hint", "tamis_realm_sizes=4M,4M,8M,24M")),
            ("given", ("--realm", "blocks piece=1M stride=2M", "--realm", "blocks piece=1M stride=2M begin=1M")),
        ):
            with self.subTest(kind):
                told_of = decision(*words, *self.CLUSTERED)
                self.assertEqual(told_of["realm_kind"], kind)
                realms = told_of["realms"]
                self.assertEqual(sum(realm["bytes"] for realm in realms), (167 << 20) + 11264)
                self.assertAlmostEqual(sum(realm["wanted"] for realm in realms), 8 * ((1 << 20) + 110 * 1024), delta=200)
                shares = [realm["wanted"] for realm in realms]
                self.assertEqual([told_of["wanted"]["least"], told_of["wanted"]["most"]], [min(shares), max(shares)])

    def test_balanced_ones_share_out_what_even_ones_leave_to_one(self):
        balanced = decision(*self.CLUSTERED)
        self.assertLess(balanced["wanted"]["times_equal_share"], 1.1)
        self.assertGreater(balanced["wanted_if_even"]["times_equal_share"], 3.5)
        even = decision("--hint", "tamis_realms=even", *self.CLUSTERED)
        self.assertEqual(even["wanted"], balanced["wanted_if_even"])

    def test_borders_say_who_wants_them_where_they_are(self):
        for hint, bytes_, source in (
            ("striping_unit=4M", 4 << 20, "stripes, by the hint striping_unit"),
            ("romio_cb_fr_alignment=3M", 3 << 20, "by the hint romio_cb_fr_alignment"),
            ("cb_nodes=4", 4096, "blocks of the storage"),
        ):
            told_of = decision("--hint", hint, "--hint", "tamis_realms=even", *self.CLUSTERED)
            self.assertEqual(told_of["alignment"], {"bytes": bytes_, "source": source})
            for realm in told_of["realms"]:
                self.assertEqual(realm["offset"] % bytes_, 0)

    def test_wrong_ones_are_refused_in_the_words_of_a_job(self):
        told_of = decision("--realm", "blocks piece=1M stride=2M", "--realm", "blocks piece=1M stride=2M begin=1048577",
                           *self.CLUSTERED)
        self.assertEqual(told_of["route"], "nothing")
        self.assertIn("ARG: the realms given leave a byte of the access to nobody at byte 1048576", told_of["error"])


class Methods(unittest.TestCase):
    def test_each_can_be_forced_alone_and_together(self):
        for direction in ("read", "write"):
            for method in ("list", "gather", "sieve"):
                words = (f"--{direction}", "--hint", f"tamis_method={method}", "blocks piece=64 stride=1024 count=100")
                with self.subTest(words):
                    self.assertEqual(decision("--alone", *words)["method"], method)
                    together = decision("--hint", f"romio_cb_{direction}=disable", *words)
                    self.assertEqual(together["own"]["method"], method)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
