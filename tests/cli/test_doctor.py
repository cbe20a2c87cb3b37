"""tamis doctor: every finding has a real cause that the test brings about."""

import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import BUILD, ROOT, TAMIS, clean_environment, write_script

sys.path.insert(0, str(ROOT / "python"))
from tamis import doctor, library, ranks

MPIS = [mpi for mpi in ("mpich", "openmpi")
        if shutil.which(f"mpiexec.{mpi}") and (BUILD / "lib" / f"libtamis-{mpi}.so").is_file()]
HELPERS = BUILD / "lib" / "tamis"


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.place = self.directory / "data"
        self.place.mkdir()
        self.profiles = self.directory / "profiles"

    def doctor(self, *words, limits=(), command=TAMIS, **environment):
        """Returns (exit code, {"group/name": check})."""
        def lower():
            for which, most in limits:
                resource.setrlimit(which, (most, resource.getrlimit(which)[1]))

        environment = clean_environment(**{"TAMIS_PROFILES": str(self.profiles), **environment})
        answer = subprocess.run([str(command), "doctor", "--json", *map(str, words)], env=environment, text=True,
                                preexec_fn=lower, check=False, timeout=200, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.assertEqual(answer.stderr, "")
        document = json.loads(answer.stdout)
        self.assertEqual(document["state"], max((check["state"] for check in document["checks"]),
                                                key=doctor.STATES.index))
        return answer.returncode, {f"{check['group']}/{check['name']}": check for check in document["checks"]}

    def quick(self, *words, **more):
        return self.doctor("--quick", *(words or (self.place,)), **more)

    def assert_found(self, checks, name, state, *words):
        self.assertEqual(checks[name]["state"], state, checks[name])
        for word in words:
            self.assertIn(word, checks[name]["finding"])
        if state != "ok":
            self.assertTrue(checks[name]["advice"], f"{name} does not say what to do")


class Healthy(Case):
    def test_two_ranks_are_served_under_every_mpi(self):
        code, checks = self.doctor(self.place)
        self.assertEqual(code, 0, checks)
        for mpi in MPIS:
            self.assert_found(checks, f"mpi/preload under {mpi}", "ok", "through Tamis")
            self.assert_found(checks, f"library/{mpi}", "ok", f"libtamis-{mpi}.so")
        self.assertEqual(list(self.place.iterdir()), [], "something is left")

    def test_what_the_user_wants_to_see_of_jobs_is_left_alone(self):
        report = self.directory / "job.json"
        report.write_text("mine")
        self.doctor(self.place, TAMIS_REPORT=str(report), TAMIS_STATS="1")
        self.assertEqual(report.read_text(), "mine")

    def test_the_storage_is_described(self):
        code, checks = self.quick()
        self.assertEqual(code, 0)
        self.assert_found(checks, "storage/driver", "ok", "posix", str(self.place))
        self.assert_found(checks, "storage/locks", "ok", "keep another one out")
        self.assert_found(checks, "storage/preallocation", "ok")
        self.assert_found(checks, "storage/free space", "ok", "are free")
        self.assertIn("storage/direct I/O", checks)
        self.assert_found(checks, "storage/profile", "ok", "none", "tamis calibrate")
        self.assert_found(checks, "memory/shared memory", "ok")
        self.assert_found(checks, "limits/file size", "ok")
        self.assertEqual(list(self.place.iterdir()), [], "something is left")

    def test_people_get_a_line_for_each_check(self):
        answer = subprocess.run([str(TAMIS), "doctor", "--quick", str(self.place)], text=True, check=False,
                                env=clean_environment(TAMIS_PROFILES=""), stdout=subprocess.PIPE)
        self.assertEqual(answer.returncode, 0)
        self.assertRegex(answer.stdout, r"(?m)^storage:$")
        self.assertRegex(answer.stdout, r"(?m)^ok +locks: ")

    def test_memory_names_have_no_storage(self):
        code, checks = self.quick("memory:x")
        self.assertEqual(code, 0)
        self.assert_found(checks, "storage/driver", "ok", "memory", "MPI_COMM_SELF")


class Storage(Case):
    def test_no_such_directory_is_a_problem(self):
        code, checks = self.quick("/nowhere/at/all")
        self.assertEqual(code, 1)
        self.assert_found(checks, "storage/path", "problem", "No such file or directory")

    def test_a_place_where_no_file_can_be_made_is_a_problem(self):
        code, checks = self.quick("/proc")
        self.assertEqual(code, 1)
        self.assert_found(checks, "storage/create", "problem", "/proc")

    def test_a_path_through_a_file_is_a_problem(self):
        (self.place / "file").write_text("x")
        code, checks = self.quick(self.place / "file" / "below")
        self.assertEqual(code, 1)
        self.assertIn("storage/path", checks)

    def test_little_space_is_a_warning_and_none_a_problem(self):
        space = {"bytes": 2**40, "free_bytes": 2**20, "files": 10, "free_files": 5}
        states = []
        for change in ({}, {"free_bytes": 0}, {"free_files": 0}, {"free_bytes": 2**39}):
            (check,) = doctor.check_space({"space": {**space, **change}})
            states.append(check.state)
        self.assertEqual(states, ["warning", "problem", "problem", "ok"])

    def test_stripes_are_read_from_a_layout(self):
        layout = struct.pack("<II16sIHH", 0x0BD10BD0, 1, b"\0" * 16, 2**20, 4, 0)
        self.assertEqual(doctor.stripes_in(layout), (2**20, 4))
        self.assertIsNone(doctor.stripes_in(struct.pack("<I", 0x0BD60BD0) + layout[4:]))
        self.assertIsNone(doctor.stripes_in(layout[:20]))


class Limits(Case):
    def test_a_limit_on_file_sizes_is_a_warning_and_hurts_shared_memory(self):
        code, checks = self.quick(limits=((resource.RLIMIT_FSIZE, 2**20),))
        self.assertEqual(code, 0, checks)
        self.assert_found(checks, "limits/file size", "warning", "beyond 1 MiB")
        self.assert_found(checks, "memory/shared memory", "warning", "File too large")

    def test_warnings_count_where_the_user_says_so(self):
        limits = ((resource.RLIMIT_FSIZE, 2**20),)
        self.assertEqual(self.quick("--strict", self.place, limits=limits)[0], 1)

    def test_no_bytes_at_all_are_a_problem(self):
        code, checks = self.quick(limits=((resource.RLIMIT_FSIZE, 0),))
        self.assertEqual(code, 1)
        self.assert_found(checks, "storage/write", "problem", "NO_SPACE")

    def test_few_open_files_are_a_warning(self):
        code, checks = self.quick(limits=((resource.RLIMIT_NOFILE, 64),))
        self.assertEqual(code, 0)
        self.assert_found(checks, "limits/open files", "warning", "64")


class Profiles(Case):
    def setUp(self):
        super().setUp()
        answer = subprocess.run([str(TAMIS), "calibrate", str(self.place), "--seconds", "0.3", "--size", "4M"],
                                env=clean_environment(TAMIS_PROFILES=str(self.profiles)), check=True,
                                stdout=subprocess.DEVNULL)
        self.assertEqual(answer.returncode, 0)
        (self.profile,) = self.profiles.iterdir()

    def change(self, before, after):
        text = self.profile.read_text()
        self.profile.write_text("".join(after + "\n" if line.startswith(before) else line
                                        for line in text.splitlines(keepends=True)))

    def test_one_in_use_is_named_with_its_age(self):
        _, checks = self.quick()
        self.assert_found(checks, "storage/profile", "ok", str(self.profile), "made today")

    def test_an_old_one_is_a_warning(self):
        self.change("date ", "date 2001-01-01T00:00:00Z")
        _, checks = self.quick()
        self.assert_found(checks, "storage/profile", "warning", "days old")

    def test_a_broken_one_is_a_warning_with_the_reason(self):
        self.change("read_ns ", "read_ns -1")
        code, checks = self.quick()
        self.assertEqual(code, 0)
        self.assert_found(checks, "storage/profile", "warning", "read_ns is not between")
        self.assertIn("tamis calibrate", checks["storage/profile"]["advice"])

    def test_one_for_another_file_system_is_a_warning(self):
        self.change("filesystem ", "filesystem otherfs")
        _, checks = self.quick()
        self.assert_found(checks, "storage/profile", "warning", "made for otherfs")


class Hints(Case):
    def test_hints_in_force_say_where_they_come_from(self):
        site = self.directory / "site"
        site.write_text("striping_unit 1M\ncb_nodes 2\n")
        _, checks = self.quick(self.place / "a.h5", ROMIO_HINTS=str(site), TAMIS_HINTS="*.h5:cb_nodes=7")
        self.assert_found(checks, "hints/striping_unit", "ok", "1048576, from ROMIO_HINTS")
        self.assert_found(checks, "hints/cb_nodes", "ok", "7, from TAMIS_HINTS")

    def test_ignored_hints_are_warnings_with_reason_and_source(self):
        code, checks = self.quick(self.place / "a.h5", TAMIS_HINTS="*.h5:magic=1:cb_nodes=many")
        self.assertEqual(code, 0)
        self.assert_found(checks, "hints/magic", "warning", "magic=1 from TAMIS_HINTS is ignored: unknown")
        self.assert_found(checks, "hints/cb_nodes", "warning", "malformed")

    def test_without_any_all_are_the_defaults(self):
        _, checks = self.quick()
        self.assert_found(checks, "hints/in force", "ok")


class Launchers(Case):
    def path_with(self, script):
        folder = self.directory / "bin"
        folder.mkdir()
        write_script(folder / "mpiexec.hydra", script)
        os.symlink(sys.executable, folder / "python3")
        for tool in ("env", "sh", "cat"):
            os.symlink(shutil.which(tool), folder / tool)
        return str(folder)

    @unittest.skipUnless("mpich" in MPIS, "MPICH is not served")
    def test_a_launcher_that_takes_the_preload_away_is_found_out(self):
        real = shutil.which("mpiexec.mpich")
        path = self.path_with("#!/bin/sh\n[ \"$1\" = --version ] && echo HYDRA 4.0 && exit\n"
                              f"unset LD_PRELOAD\nexec {real} \"$@\"\n")
        code, checks = self.doctor(self.place, PATH=path)
        self.assertEqual(code, 1)
        self.assert_found(checks, "mpi/preload under mpich", "problem", "on the I/O of MPICH")

    @unittest.skipUnless("mpich" in MPIS, "MPICH is not served")
    def test_ranks_do_without_shared_memory_that_a_limit_forbids(self):
        path = self.path_with(f"#!/bin/sh\nexec {shutil.which('mpiexec.mpich')} \"$@\"\n")
        code, checks = self.doctor(self.place, PATH=path, limits=((resource.RLIMIT_FSIZE, 2**23),))
        self.assertEqual(code, 0, checks)
        self.assert_found(checks, "memory/shared memory", "warning")
        self.assert_found(checks, "mpi/preload under mpich", "ok", "through Tamis")

    @unittest.skipUnless("mpich" in MPIS, "MPICH is not served")
    def test_ranks_that_fail_are_a_problem(self):
        path = self.path_with("#!/bin/sh\n[ \"$1\" = --version ] && echo HYDRA 4.0 && exit\n"
                              "echo no more nodes\nexit 9\n")
        code, checks = self.doctor(self.place, PATH=path)
        self.assertEqual(code, 1)
        self.assert_found(checks, "mpi/preload under mpich", "problem", "exit code 9: no more nodes")

    def test_a_launcher_that_cannot_be_served_is_a_warning(self):
        path = self.path_with("#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS, HYDRA'\n")
        code, checks = self.quick(PATH=path)
        self.assertEqual(code, 0)
        self.assert_found(checks, f"mpi/launcher {path}/mpiexec.hydra", "warning", "Intel MPI")
        self.assert_found(checks, "mpi/launchers", "warning", "no launcher of an MPI that is served")

    @unittest.skipUnless("mpich" in MPIS, "MPICH is not served")
    def test_ranks_that_do_not_end_are_ended(self):
        mark = self.directory / "pid"
        launcher = write_script(self.directory / "mpiexec.mpich",
                                f"#!/bin/sh\ntrap '' TERM\necho $$ > {mark}\nsleep 1000 &\nwait\nsleep 1000\n")
        found = ranks.Found(str(launcher), "mpich")
        start = time.monotonic()
        outcome = ranks.try_ranks(library.Library(BUILD), found, self.place / "file", timeout_s=2)
        self.assertIn("no end after 2 s", outcome.failure)
        self.assertLess(time.monotonic() - start, 60)
        self.assertFalse(Path(f"/proc/{mark.read_text().strip()}").exists())


class Unbuilt(Case):
    def prefix(self, *helpers):
        prefix = self.directory / "prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib" / "tamis").mkdir(parents=True)
        os.symlink(ROOT / "python", prefix / "lib" / "tamis" / "python")
        for helper in helpers:
            os.symlink(HELPERS / helper, prefix / "lib" / "tamis" / helper)
        shutil.copy(ROOT / "cli" / "tamis", prefix / "bin" / "tamis")
        return prefix / "bin" / "tamis"

    def test_without_libraries_there_is_a_problem(self):
        code, checks = self.quick(command=self.prefix("tamis-probe", "tamis-hints"))
        self.assertEqual(code, 1)
        self.assert_found(checks, "library/built", "problem", "no library to preload")

    def test_without_helpers_the_command_itself_cannot_run(self):
        answer = subprocess.run([str(self.prefix()), "doctor"], env=clean_environment(), check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("make build", answer.stderr)


if __name__ == "__main__":
    unittest.main()
