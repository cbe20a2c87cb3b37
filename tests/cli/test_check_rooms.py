"""tools/check_rooms.py finds planted violations and accepts the house as it is."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHECKER = ROOT / "tools" / "check_rooms.py"


def check(root):
    return subprocess.run([sys.executable, str(CHECKER), "--root", str(root)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class CheckRooms(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = Path(self.directory.name)

    def plant(self, name, text):
        path = self.root / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_found(self, place, words):
        answer = check(self.root)
        self.assertEqual(answer.returncode, 1, answer.stdout)
        self.assertIn(place, answer.stdout)
        self.assertIn(words, answer.stdout)

    def assert_clean(self):
        answer = check(self.root)
        self.assertEqual(answer.returncode, 0, answer.stdout)

    def test_includes_down_the_table_are_allowed(self):
        self.plant("plan/a.cpp", '#include <vector>\n#include "layout/layout.hpp"\n'
                                 '#include "drivers/driver.hpp"\n#include "plan/a.hpp"\n')
        self.assert_clean()

    def test_an_include_up_the_table_is_found_with_its_line(self):
        self.plant("layout/a.cpp", '#include <vector>\n#include "plan/hints.hpp"\n')
        self.assert_found("src/layout/a.cpp:2:", "layout/ must not include plan/hints.hpp")

    def test_only_the_interface_of_the_drivers_is_for_planning(self):
        self.plant("plan/a.cpp", '#include "drivers/posix/posix.hpp"\n')
        self.assert_found("src/plan/a.cpp:1:", "drivers/posix/posix.hpp")

    def test_mpi_h_outside_its_rooms_is_found(self):
        self.plant("mpi/a.cpp", "#include <mpi.h>\n")
        self.plant("engine/a.cpp", "#include <mpi.h>\n")
        answer = check(self.root)
        self.assertIn("src/engine/a.cpp:1:", answer.stdout)
        self.assertNotIn("src/mpi/", answer.stdout)

    def test_system_calls_outside_the_drivers_are_found(self):
        self.plant("file/a.cpp", "#include <fcntl.h>\n")
        self.plant("drivers/posix/a.cpp", "#include <fcntl.h>\n#include <sys/stat.h>\n")
        answer = check(self.root)
        self.assertIn("src/file/a.cpp:1:", answer.stdout)
        self.assertNotIn("src/drivers/", answer.stdout)

    def test_the_environment_is_read_in_one_place(self):
        self.plant("file/hint_sources.cpp", 'auto a = std::getenv("A");\n')
        self.plant("file/b.cpp", '\nauto a = std::getenv("A");\n')
        answer = check(self.root)
        self.assertIn("src/file/b.cpp:2:", answer.stdout)
        self.assertNotIn("src/file/hint_sources", answer.stdout)

    def test_a_library_that_prints_or_ends_is_found(self):
        self.plant("base/a.cpp", 'void f() {\n  printf("x");\n}\nvoid g() { std::abort(); }\n')
        self.assert_found("src/base/a.cpp:2:", "printf:")
        self.assert_found("src/base/a.cpp:4:", "abort:")

    def test_every_way_to_print_or_end_is_found(self):
        ways = ("abort()", "std::abort()", "::abort()", "exit(1)", "std::exit(1)", "_exit(1)", "_Exit(1)",
                "quick_exit(1)", "std::terminate()", "MPI_Abort(comm, 1)", "__builtin_trap()",
                "__builtin_abort()", '__assert_fail("", "", 1, "")', "raise(SIGABRT)",
                "kill(getpid(), SIGKILL)", 'printf("x")', 'std::fprintf(stderr, "x")', "vfprintf(f, x, a)",
                'dprintf(2, "x")', 'puts("x")', 'fputs("x", stderr)', "putchar(1)", "fputc(1, stderr)",
                "fwrite(a, 1, 1, stderr)", 'perror("x")', 'errx(1, "x")', 'warn("x")', 'syslog(1, "x")',
                'fmt::print("x")', 'std::println("x")', 'std::cerr << "x"', "std::cout << 1")
        rooms = ("layout", "engine", "drivers/posix", "mpi", "abi", "dispatch")
        for room in rooms:
            self.plant(f"{room}/a.cpp", "".join(f"void f() {{ {way}; }}\n" for way in ways))
        found = check(self.root).stdout
        for room in rooms:
            for line, way in enumerate(ways, 1):
                with self.subTest(room=room, way=way):
                    self.assertRegex(found, f"src/{room}/a.cpp:{line}: .* never prints, aborts or exits")

    def test_names_that_only_resemble_an_ending_are_none(self):
        self.plant("base/a.cpp", "void f() {\n  on_exit(1); file.puts(1); a->abort(); snprintf(b, 1, c);\n"
                                 "  raise(file, code); assert(a); fmt::format_to(b, c); exits = 1;\n}\n")
        self.assert_clean()

    def test_the_log_sink_is_one_call_in_one_file(self):
        self.plant("abi/library.cpp", 'void say() {\n  std::fprintf(stderr, "a");\n}\n')
        self.assert_clean()
        self.plant("abi/library.cpp", 'void say() {\n  std::fprintf(stderr, "a");\n  fprintf(stderr, "b");\n}\n')
        self.assert_found("src/abi/library.cpp:3:", "fprintf:")

    def test_words_in_comments_and_strings_are_no_calls(self):
        self.plant("base/a.cpp", '// abort() and getenv("X")\nconst char* a = "exit(1)";\n'
                                 "const int b = 1'000;\nconst char c = '\"';\n")
        self.assert_clean()

    def test_a_long_function_is_found_and_a_long_table_is_none(self):
        body = "  work();\n" * 59
        self.plant("base/fits.cpp", "void f() {\n" + "  work();\n" * 58 + "}\n")
        self.plant("base/table.cpp", "constexpr int kTable[] = {\n" + "  1,\n" * 80 + "};\n")
        self.assert_clean()
        self.plant("base/a.cpp", "namespace tamis {\n\nint Deep::f(int a) const {\n" + body + "}\n}\n")
        self.assert_found("src/base/a.cpp:3:", "a function of 61 lines")

    def test_a_long_method_inside_a_class_is_found(self):
        body = "    if (a) { work(); }\n" * 60
        self.plant("base/a.hpp", "#pragma once\nclass A : public B {\n  void f() override {\n" + body
                   + "  }\n};\n")
        self.assert_found("src/base/a.hpp:3:", "a function of 62 lines")

    def test_a_long_file_is_found(self):
        self.plant("base/a.cpp", "int a;\n" * 501)
        self.assert_found("src/base/a.cpp:1:", "501 lines")

    def test_a_header_without_guard_is_found(self):
        self.plant("base/a.hpp", "int a;\n")
        self.assert_found("src/base/a.hpp:1:", "#pragma once")

    def test_a_room_nobody_knows_is_found(self):
        self.plant("attic/a.cpp", "int a;\n")
        self.assert_found("src/attic/a.cpp:1:", "attic/ is no room")

    def test_an_empty_tree_is_no_success(self):
        answer = check(self.root)
        self.assertEqual(answer.returncode, 1)


if __name__ == "__main__":
    unittest.main()
