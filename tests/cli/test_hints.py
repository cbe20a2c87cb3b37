"""tamis hints shows the library's table and says which hints are ignored."""

import tempfile
import unittest
from pathlib import Path

from support import tamis


class Hints(unittest.TestCase):
    def test_the_table_names_every_hint_with_its_value(self):
        answer = tamis("hints")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for word in ("cb_buffer_size", "16777216", "romio_ds_write", "tamis_pretend_nodes"):
            self.assertIn(word, answer.stdout)

    def test_good_hints_pass_the_check(self):
        answer = tamis("hints", "--check", "cb_nodes=4", "romio_cb_write=enable", "cb_buffer_size=4M")
        self.assertEqual((answer.returncode, answer.stdout), (0, "all taken\n"))

    def test_bad_hints_are_named_with_the_reason(self):
        answer = tamis("hints", "--check", "cb_nodes=four", "cb_knots=4", "cb_nodes")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("cb_nodes=four: malformed: wants 0 to", answer.stdout)
        self.assertIn("cb_knots=4: unknown", answer.stdout)
        self.assertIn("cb_nodes: malformed: wants key=value", answer.stdout)

    def test_a_file_gets_the_hints_of_the_patterns_that_fit_its_name(self):
        patterns = "*.h5:cb_nodes=7,*.nc:cb_nodes=9"
        answer = tamis("hints", "--file", "dir/out.h5", TAMIS_HINTS=patterns)
        self.assertRegex(answer.stdout, r"cb_nodes +7\*[\s\S]*?From\s+TAMIS_HINTS\.")

    def test_mistakes_in_the_environment_are_said(self):
        answer = tamis("hints", TAMIS_HINTS="*.h5:cb_nodes=many,oops")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("cb_nodes=many", answer.stdout)
        self.assertIn("oops", answer.stdout)

    def test_the_site_file_counts_and_its_mistakes_are_said(self):
        with tempfile.TemporaryDirectory() as directory:
            site = Path(directory) / "romio-hints"
            site.write_text("# site\nstriping_unit 1M\nmagic 1\n")
            answer = tamis("hints", ROMIO_HINTS=str(site))
        self.assertRegex(answer.stdout, r"striping_unit +1048576\*")
        self.assertIn("ignored: magic=1: unknown (from ROMIO_HINTS)", answer.stdout)

    def test_a_site_file_that_is_not_there_is_said(self):
        answer = tamis("hints", ROMIO_HINTS="/nowhere/at/all")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("/nowhere/at/all", answer.stdout)


class Version(unittest.TestCase):
    def test_the_version_is_that_of_the_header(self):
        header = Path(__file__).resolve().parents[2] / "include" / "tamis" / "version.h"
        version = header.read_text().split('TAMIS_VERSION "')[1].split('"')[0]
        answer = tamis("version")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(answer.stdout.startswith(f"tamis {version} for "), answer.stdout)


if __name__ == "__main__":
    unittest.main()
