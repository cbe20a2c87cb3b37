"""tamis calibrate measures, stores a profile that opens take over, and leaves nothing else behind."""

import json
import os
import pty
import resource
import signal
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BUILD, TAMIS, clean_environment, tamis

PROBE = BUILD / "lib" / "tamis" / "tamis-probe"
SHORT = ("--seconds", "0.5", "--size", "8M")
FIGURES = ("read_ns", "write_ns", "read_byte_ns", "write_byte_ns", "lock_ns")


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name) / "data"
        self.place.mkdir()
        self.profiles = Path(directory.name) / "conf" / "profiles"

    def calibrate(self, *words, **environment):
        return tamis("calibrate", *words, **{"TAMIS_PROFILES": str(self.profiles), **environment})

    def stored(self):
        return sorted(self.profiles.iterdir()) if self.profiles.is_dir() else []

    def storage(self):
        answer = subprocess.run([PROBE, "storage", str(self.place)], stdout=subprocess.PIPE, check=True,
                                env=clean_environment(TAMIS_PROFILES=str(self.profiles)))
        return json.loads(answer.stdout)

    def assert_refused(self, answer, exit_code, *words):
        self.assertEqual(answer.returncode, exit_code, answer.stdout + answer.stderr)
        self.assertTrue(answer.stderr.startswith("tamis: "), answer.stderr)
        self.assertNotIn("Traceback", answer.stderr)
        for word in words:
            self.assertIn(word, answer.stderr)


class Measuring(Case):
    def test_the_profile_is_what_opens_take_over(self):
        self.assertEqual(self.storage()["costs"]["source"], "built-in")
        answer = self.calibrate(self.place, *SHORT)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        (profile,) = self.stored()
        text = dict(line.split(" ", 1) for line in profile.read_text().splitlines())
        self.assertEqual(text["tamis-profile"], "1")
        costs = self.storage()["costs"]
        self.assertEqual(costs["source"], str(profile))
        for key in ("read_ns", "write_ns", "lock_ns"):
            self.assertAlmostEqual(costs[key], float(text[key]))
        mean = (float(text["read_byte_ns"]) + float(text["write_byte_ns"])) / 2
        self.assertAlmostEqual(costs["byte_ns"], mean)

    def test_figures_are_those_of_a_real_machine(self):
        self.calibrate(self.place, *SHORT)
        text = dict(line.split(" ", 1) for line in self.stored()[0].read_text().splitlines())
        for key in FIGURES:
            self.assertGreater(float(text[key]), 0)
        self.assertLess(float(text["read_byte_ns"]), 1000)
        self.assertGreater(float(text["read_ns"]), 20)

    def test_what_was_measured_is_told_with_its_spread(self):
        answer = self.calibrate(self.place, *SHORT)
        self.assertRegex(answer.stdout, r"small reads: +512 B .* \(.* to .*; \d+ samples\)")
        self.assertRegex(answer.stdout, r"large reads: +.*iB .*iB/s\)")
        self.assertIn(str(self.stored()[0]), answer.stdout)

    def test_nothing_is_left_beside_the_profile(self):
        self.calibrate(self.place, *SHORT)
        self.assertEqual(list(self.place.iterdir()), [])
        (profile,) = self.stored()
        self.assertEqual(stat.S_IMODE(profile.stat().st_mode), 0o644)

    def test_a_broken_profile_is_replaced(self):
        self.calibrate(self.place, *SHORT)
        (profile,) = self.stored()
        profile.write_text("nonsense")
        self.assertIn("first line", self.storage()["profile"]["defect"])
        self.assertEqual(self.calibrate(self.place, *SHORT).returncode, 0)
        self.assertIsNone(self.storage()["profile"]["defect"])

    def test_time_is_bounded(self):
        start = time.monotonic()
        answer = self.calibrate(self.place, "--seconds", "0.3", "--size", "1T")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertLess(time.monotonic() - start, 30)

    def test_bytes_are_bounded_and_few_samples_are_said(self):
        answer = self.calibrate(self.place, "--size", "1M")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("few samples", answer.stdout)

    def test_a_terminal_gets_a_progress_bar(self):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb", buffering=0) as screen:
            process = subprocess.Popen([str(TAMIS), "calibrate", str(self.place), *SHORT], stdout=follower,
                                       env=clean_environment(TAMIS_PROFILES=str(self.profiles), TERM="xterm"))
            os.close(follower)
            shown = b""
            try:
                while chunk := screen.read(4096):
                    shown += chunk
            except OSError:  # the other side is closed
                pass
            self.assertEqual(process.wait(60), 0)
        self.assertRegex(shown.decode(errors="replace"), r"\r|\x1b\[")
        self.assertIn(b"small reads", shown)


class Interrupted(Case):
    def start(self):
        process = subprocess.Popen([str(TAMIS), "calibrate", str(self.place), "--seconds", "60", "--size", "900G"],
                                   env=clean_environment(TAMIS_PROFILES=str(self.profiles)), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn("costs of", process.stdout.readline())
        return process

    def children(self, process):
        return [int(pid) for pid in
                Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]

    def assert_gone(self, pids):
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            self.assertLess(time.monotonic(), deadline, "the measurement goes on")
            time.sleep(0.05)

    def test_signals_end_it_and_nothing_is_left(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                process = self.start()
                helpers = self.children(process)
                self.assertEqual(list(self.place.iterdir()), [], "the file has a name while measuring")
                process.send_signal(number)
                code = process.wait(60)
                self.assertEqual(code, -number if number == signal.SIGKILL else 128 + number)
                self.assert_gone(helpers)
                self.assertEqual((list(self.place.iterdir()), self.stored()), ([], []))


class Refusals(Case):
    def test_no_such_directory(self):
        self.assert_refused(self.calibrate("/nowhere/at/all", *SHORT), 1, "No such file or directory")

    def test_a_place_where_no_file_can_be_made(self):
        self.assert_refused(self.calibrate("/proc", *SHORT), 1, "cannot create a file in /proc")

    def test_no_place_for_profiles(self):
        answer = self.calibrate(self.place, *SHORT, TAMIS_PROFILES="/proc/tamis")
        self.assert_refused(answer, 1, "cannot store profiles in /proc/tamis", "TAMIS_PROFILES")
        answer = self.calibrate(self.place, *SHORT, TAMIS_PROFILES="")
        self.assert_refused(answer, 1, "no place for a profile")

    def test_a_home_that_cannot_be_written(self):
        environment = clean_environment(HOME="/proc")
        for name in ("TAMIS_PROFILES", "XDG_CONFIG_HOME"):
            environment.pop(name, None)
        answer = subprocess.run([str(TAMIS), "calibrate", str(self.place), *SHORT], env=environment, text=True,
                                check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assert_refused(answer, 1, "cannot store profiles in /proc/.config")

    def test_room_that_runs_out_while_measuring(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, 2**18))

        answer = subprocess.run([str(TAMIS), "calibrate", str(self.place), *SHORT], preexec_fn=limit, check=False,
                                env=clean_environment(TAMIS_PROFILES=str(self.profiles)), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assert_refused(answer, 1, "failed: NO_SPACE")
        self.assertEqual((list(self.place.iterdir()), self.stored()), ([], []))

    @unittest.skipUnless(os.geteuid() == 0, "changes the user")
    def test_a_directory_of_another_user(self):
        os.chmod(self.place, 0o700)
        answer = subprocess.run([PROBE, "costs", str(self.place), "1", "1000000"], user=65534, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("Permission denied", answer.stdout.decode())

    def test_words_that_make_no_sense(self):
        for words in (("--size", "much"), ("--size", "1k"), ("--size=-1G",), ("--size", "inf"),
                      ("--seconds", "0"), ("--seconds", "nan")):
            with self.subTest(words=words):
                self.assert_refused(self.calibrate(self.place, *words), 2, words[0].strip("-")[:4])

    def test_a_path_or_a_verb_is_wanted(self):
        self.assertEqual(self.calibrate().returncode, 2)
        self.assertEqual(self.calibrate(self.place, "--list").returncode, 2)

    def test_memory_is_not_measured(self):
        self.assert_refused(self.calibrate("memory:x", *SHORT), 1, "nothing to measure")


class Stored(Case):
    def test_profiles_are_listed_and_removed(self):
        self.assertEqual(self.calibrate("--list").stdout, f"no profiles in {self.profiles}\n")
        self.calibrate(self.place, *SHORT)
        listed = self.calibrate("--list")
        self.assertEqual(listed.returncode, 0)
        self.assertRegex(listed.stdout, r"^/.* \(\w+\), made today: read .* write .* lock .*\n$")
        answer = self.calibrate("--remove", self.place)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.stored(), [])
        self.assert_refused(self.calibrate("--remove", self.place), 1, "no profile for")

    def test_broken_ones_are_listed_with_the_reason(self):
        self.profiles.mkdir(parents=True)
        (self.profiles / "%2Fbroken.profile").write_text("tamis-profile 7\n")
        answer = self.calibrate("--list")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("%2Fbroken.profile: ignored: its first line is not", answer.stdout)

    def test_a_mount_that_is_gone_is_forgotten_by_its_name(self):
        self.calibrate(self.place, *SHORT)
        (own,) = self.stored()
        mount = next(line for line in own.read_text().splitlines() if line.startswith("mount "))
        other = self.profiles / "%2Fgone%2Fdisk.profile"
        other.write_text(own.read_text().replace(mount, "mount /gone/disk"))
        self.assertEqual(self.calibrate("--remove", "/gone/disk").returncode, 0)
        self.assertEqual(self.stored(), [own])


if __name__ == "__main__":
    unittest.main()
