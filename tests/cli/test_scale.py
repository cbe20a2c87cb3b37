#!/usr/bin/env python3
"""tamis scale: the simulation's tables."""

import unittest

from support import tamis


class Scale(unittest.TestCase):
    def test_a_small_run_prints_both_tables_of_a_workload(self):
        answer = tamis("scale", "--ranks", "64,256", "hpio")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        rows = [line for line in answer.stdout.splitlines() if line.startswith("| 256 |")]
        self.assertEqual(len(rows), 4, answer.stdout)
        self.assertNotIn("failed", answer.stdout)

    def test_an_unknown_workload_is_refused(self):
        answer = tamis("scale", "hpi")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("hpi", answer.stderr)


if __name__ == "__main__":
    unittest.main()
