"""What runs ranks for the tests and the demo (tools/mpi_hosts.py) leaves none behind, however it ends."""

import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import BUILD, ROOT, clean_environment

sys.path.insert(0, str(ROOT / "tools"))
import mpi_hosts

RANKS = 2
# Runs ranks that note their number in a folder and then ignore what they are told.
RUNNER = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
import mpi_hosts
mpi_hosts.end_by_signals()
mpi, folder, timeout = sys.argv[1:]
host, = mpi_hosts.installed_hosts([mpi])
rank = f"trap '' TERM INT; touch {{folder}}/$$; while true; do sleep 1; done"
outcome = mpi_hosts.run(host.mpiexec({RANKS}, ["sh", "-c", rank]), float(timeout))
print("timed out" if outcome.timed_out else outcome)
"""


class RanksEnd(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def wait_for(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)

    def start(self, *command):
        child = subprocess.Popen([sys.executable, *map(str, command)], env=clean_environment(), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def ranks(self, mpi):
        return [int(file.name) for file in (self.directory / mpi).iterdir()]

    def start_ranks(self, mpi, timeout_s):
        (self.directory / mpi).mkdir()
        child = self.start("-c", RUNNER, mpi, self.directory / mpi, timeout_s)
        self.wait_for(lambda: len(self.ranks(mpi)) == RANKS, "no ranks were started")
        return child

    def assert_ended(self, family):
        self.wait_for(lambda: not any(mpi_hosts.birth(pid) == born for pid, born in family.items()),
                      "left behind: " + " ".join(map(str, family)))

    def check_signal(self, number):
        for host in mpi_hosts.installed_hosts():
            with self.subTest(mpi=host.name):
                child = self.start_ranks(host.name, 60)
                family = mpi_hosts.descendants(child.pid)
                self.assertLessEqual(set(self.ranks(host.name)), set(family))
                child.send_signal(number)
                child.wait(timeout=60)
                self.assertNotEqual(child.returncode, 0)
                self.assert_ended(family)

    def test_when_it_is_told_to_end(self):
        self.check_signal(signal.SIGTERM)

    def test_when_it_is_interrupted(self):
        self.check_signal(signal.SIGINT)

    def test_when_the_ranks_run_into_their_timeout(self):
        for host in mpi_hosts.installed_hosts():
            with self.subTest(mpi=host.name):
                child = self.start_ranks(host.name, 5)
                family = mpi_hosts.descendants(child.pid)
                self.assertEqual(child.communicate(timeout=60)[0], "timed out\n")
                self.assert_ended(family)

    def test_when_the_conformance_tests_are_told_to_end(self):
        for host in mpi_hosts.installed_hosts():
            if not host.has_python:
                continue
            with self.subTest(mpi=host.name):
                child = self.start(ROOT / "tests" / "conformance" / "mpi4py_io.py", "--mpi", host.name,
                                   "--ranks", RANKS, "--tamis", BUILD / "lib")
                self.wait_for(lambda: len(self.python_ranks(child)) >= RANKS, "no ranks were started")
                family = mpi_hosts.descendants(child.pid)
                child.terminate()
                child.wait(timeout=60)
                self.assertEqual(child.returncode, 128 + signal.SIGTERM)
                self.assert_ended(family)

    def python_ranks(self, child):
        self.assertIsNone(child.poll(), "it ended before its time")
        return [pid for pid in mpi_hosts.descendants(child.pid) if self.is_rank(pid)]

    def is_rank(self, pid):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return words[0].endswith(b"/python") and any(word.endswith(b"/mpi4py_rank.py") for word in words) \
            and b"-" not in words


if __name__ == "__main__":
    unittest.main()
