"""tamis run: reaches the ranks, stays out of the way, and names static mistakes."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BUILD, ROOT, TAMIS, clean_environment, tamis, write_script

MPIS = [mpi for mpi in ("mpich", "openmpi")
        if shutil.which(f"mpiexec.{mpi}") and (BUILD / "lib" / f"libtamis-{mpi}.so").is_file()]
PRELOAD = str(BUILD / "lib" / "libtamis.so")

# Says whose MPI-IO the program got: only Tamis has its own hints.
PROBE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Info info;
  char value[64];
  int is_tamis = 0, rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_File_get_info(file, &info);
  MPI_Info_get(info, "tamis_locks", 63, value, &is_tamis);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  if (rank == 0) puts(is_tamis ? "served by tamis" : "served by the MPI");
  MPI_Finalize();
  return 0;
}
"""


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def compiled(self, text, compiler, *options, name="program"):
        source = self.directory / f"{name}.c"
        source.write_text(text)
        program = self.directory / name
        subprocess.run([compiler, str(source), "-o", str(program), *options], check=True)
        return program

    def assert_refused(self, answer, exit_code, *words):
        self.assertEqual(answer.returncode, exit_code, answer.stderr)
        self.assertTrue(answer.stderr.startswith("tamis: "), answer.stderr)
        self.assertNotIn("Traceback", answer.stderr)
        for word in words:
            self.assertIn(word, answer.stderr)


class RealLaunchers(Case):
    def test_a_program_is_served_by_tamis_under_every_mpi(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                program = self.compiled(PROBE, f"mpicc.{mpi}", name=f"probe.{mpi}")
                answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "2", program,
                               self.directory / "file")
                self.assertEqual((answer.returncode, answer.stdout), (0, "served by tamis\n"),
                                 answer.stderr)

    def test_a_program_without_launcher_is_served(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                program = self.compiled(PROBE, f"mpicc.{mpi}", name=f"probe.{mpi}")
                answer = tamis("run", "--", program, self.directory / "file")
                self.assertEqual((answer.returncode, answer.stdout), (0, "served by tamis\n"),
                                 answer.stderr)

    def test_every_rank_gets_the_preload(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                # MPICH's launcher breaks down where a process is gone before it has written to it.
                answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "2", "sh", "-c",
                               "echo $LD_PRELOAD; sleep 0.3")
                self.assertEqual(answer.stdout, f"{PRELOAD}\n" * 2, answer.stderr)

    def test_programs_side_by_side_all_get_the_preload(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "1", "sh", "-c",
                               "echo $LD_PRELOAD", ":", "-n", "1", "sh", "-c", "echo $LD_PRELOAD")
                self.assertEqual(answer.stdout, f"{PRELOAD}\n" * 2, answer.stderr)

    def test_exit_codes_pass_through(self):
        for mpi in MPIS:
            for code in (0, 1, 7, 42):
                with self.subTest(mpi=mpi, code=code):
                    answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "1", "sh", "-c",
                                   f"exit {code}")
                    self.assertEqual(answer.returncode, code, answer.stderr)

    def test_the_same_answer_as_without_tamis_when_a_rank_dies(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                command = [f"mpiexec.{mpi}", "-n", "1", "sh", "-c", "kill -KILL $$"]
                bare = subprocess.run(command, env=clean_environment(), check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                answer = tamis("run", "--", *command)
                self.assertEqual(answer.returncode, bare.returncode)
                self.assertNotEqual(answer.returncode, 0)

    def test_a_termination_signal_ends_the_ranks(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.check_signal_ends_ranks(mpi)

    def check_signal_ends_ranks(self, mpi):
        """The launchers differ in what they answer to the signal; MPICH's own answer is 0 or the rank's
        15, whichever it notices first, so that two runs may differ."""
        answers = []
        for before in ([], [str(TAMIS), "run", "--"]):
            mark = self.directory / f"pid.{mpi}.{len(before)}"
            process = subprocess.Popen(
                [*before, f"mpiexec.{mpi}", "-n", "1", "sh", "-c",
                 f"echo $$ > {mark}.new && mv {mark}.new {mark} && exec sleep 50"],
                env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_for(mark.exists)
            process.send_signal(signal.SIGTERM)
            answers.append(process.wait(timeout=90))
            rank = int(mark.read_text())
            self.wait_for(lambda: not Path(f"/proc/{rank}").exists())
        self.assertIn(answers[1], {answers[0], 0, signal.SIGTERM, 128 + signal.SIGTERM})

    def wait_for(self, condition, timeout_s=90):
        deadline = time.monotonic() + timeout_s
        while not condition():
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            time.sleep(0.02)


class WithoutLauncher(Case):
    def test_the_command_gets_its_words_untouched(self):
        answer = tamis("run", "--", "printf", "%s|", "--", "-n", "a b", "")
        self.assertEqual((answer.returncode, answer.stdout), (0, "--|-n|a b||"))

    def test_dashes_may_be_left_out(self):
        self.assertEqual(tamis("run", "sh", "-c", "exit 5").returncode, 5)

    def test_an_existing_preload_is_kept_behind_ours(self):
        answer = tamis("run", "--", "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libm.so.6")
        self.assertEqual(answer.stdout, f"{PRELOAD}:libm.so.6\n")

    def test_death_by_a_signal_is_128_and_the_signal_to_a_shell(self):
        answer = subprocess.run(["sh", "-c", f"{TAMIS} run -- sh -c 'kill -TERM $$'; echo $?"],
                                env=clean_environment(), stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(answer.stdout, f"{128 + signal.SIGTERM}\n")

    def test_python_programs_run(self):
        answer = tamis("run", "--", "python3", "-c", "print(6 * 7)")
        self.assertEqual((answer.returncode, answer.stdout), (0, "42\n"))


class StaticMistakes(Case):
    def test_no_command(self):
        self.assert_refused(tamis("run"), 2, "tamis run -- mpiexec")
        self.assert_refused(tamis("run", "--"), 2, "tamis run -- mpiexec")

    def test_no_such_launcher(self):
        self.assert_refused(tamis("run", "--", "mpiexec.nowhere", "-n", "2", "x"), 127,
                            "no such launcher: mpiexec.nowhere")

    def test_no_such_program(self):
        self.assert_refused(tamis("run", "--", "./nowhere"), 127, "no such program: ./nowhere")

    def test_no_such_program_behind_a_launcher(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "2", "./nowhere", "-n")
                self.assert_refused(answer, 127, "no such program: ./nowhere")

    def test_a_file_that_is_no_program(self):
        path = self.directory / "data"
        path.write_text("x")
        self.assert_refused(tamis("run", "--", path), 126, "cannot be executed")

    def test_a_statically_linked_program(self):
        program = self.compiled("int main(void) { return 0; }", "gcc", "-static")
        self.assert_refused(tamis("run", "--", program), 2, "statically linked")
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                answer = tamis("run", "--", f"mpiexec.{mpi}", "-n", "1", program)
                self.assert_refused(answer, 2, "statically linked")

    def test_an_mpi_that_cannot_be_served(self):
        launcher = write_script(self.directory / "mpiexec.hydra",
                                "#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS, HYDRA'\n")
        self.assert_refused(tamis("run", "--", launcher, "-n", "2", "true"), 2, "Intel MPI",
                            "cannot serve")

    def test_a_launcher_that_does_not_tell_its_mpi(self):
        launcher = write_script(self.directory / "mpirun", "#!/bin/sh\necho strange 1.0\n")
        self.assert_refused(tamis("run", "--", launcher, "-n", "2", "true"), 2, "strange 1.0",
                            "--mpi")

    def test_such_a_launcher_runs_once_its_mpi_is_said(self):
        launcher = write_script(self.directory / "mpirun", '#!/bin/sh\nshift 2\nexec "$@"\n')
        answer = tamis("run", "--mpi", "mpich", "--", launcher, "-n", "1", "echo", "ran")
        self.assertEqual((answer.returncode, answer.stdout), (0, "ran\n"), answer.stderr)

    def test_a_batch_launcher_runs_and_it_is_said_that_the_mpi_is_open(self):
        launcher = write_script(self.directory / "srun", '#!/bin/sh\nshift 2\nexec "$@"\n')
        answer = tamis("run", "--", launcher, "-n", "1", "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual((answer.returncode, answer.stdout), (0, f"{PRELOAD}\n"))
        self.assertIn("does not say which MPI", answer.stderr)

    def test_a_library_that_is_not_built(self):
        command = self.prefix("empty")
        self.assert_refused(tamis("run", "--", "true", command=command), 2, "libtamis.so",
                            "make build")

    def test_a_library_that_is_built_for_other_mpis_only(self):
        command = self.prefix("half")
        (command.parent.parent / "lib" / "libtamis.so").write_bytes(b"")
        answer = tamis("run", "--mpi", "openmpi", "--", "sh", "-c", "true", command=command)
        self.assert_refused(answer, 2, "libtamis-openmpi.so")

    def test_a_prefix_the_loader_cannot_take(self):
        command = self.prefix("with blank")
        for name in ("libtamis.so", "libtamis-mpich.so"):
            (command.parent.parent / "lib" / name).write_bytes(b"")
        self.assert_refused(tamis("run", "--", "true", command=command), 2, "no blanks")

    def prefix(self, name):
        """A place with the command but without the libraries."""
        prefix = self.directory / name
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib" / "tamis").mkdir(parents=True)
        os.symlink(ROOT / "python", prefix / "lib" / "tamis" / "python")
        shutil.copy(ROOT / "cli" / "tamis", prefix / "bin" / "tamis")
        return prefix / "bin" / "tamis"


if __name__ == "__main__":
    unittest.main()
