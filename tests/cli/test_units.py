"""Figures as people write and read them, against ones worked out by hand."""

import sys
import unittest

from support import ROOT

sys.path.insert(0, str(ROOT / "python"))
from tamis import units  # noqa: E402
from tamis.errors import UserError  # noqa: E402


class Units(unittest.TestCase):
    def test_sizes(self):
        for number, text in (
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (2**20, "1 MiB"),
            (1000 * 1024, "0.98 MiB"),
            (5 << 60, "5 EiB"),
        ):
            self.assertEqual(units.size(number), text)

    def test_durations_counts_and_ratios(self):
        self.assertEqual(
            [units.duration(ns) for ns in (0, 0.4, 300, 1500, 12.5e6, 1e9, 900e9)],
            ["0 s", "0.4 ns", "300 ns", "1.5 µs", "12.5 ms", "1 s", "15 min"],
        )
        self.assertEqual(
            [units.count(number) for number in (7, 40_000, 12_500_000)], ["7", "40,000", "12.5 million"]
        )
        self.assertEqual(
            [units.times(ratio) for ratio in (None, 0, 0.0005, 0.0223, 1.94, 2000)],
            ["–", "0×", "1/2,000", "0.022×", "1.94×", "2,000×"],
        )

    def test_sizes_that_people_write(self):
        for text, number in (("7", 7), ("1k", 1024), ("64M", 2**26), ("1GiB", 2**30), ("0.5g", 2**29)):
            self.assertEqual(units.parse_size(text), number)
        for text in ("", "much", "1 x", "k"):
            self.assertRaises(UserError, units.parse_size, text)

    def test_rates_and_ages(self):
        self.assertEqual(units.rate(3 * 2**20, 2e9), "1.5 MiB/s")
        self.assertEqual(units.age("yesterday"), "of unknown age")
        self.assertEqual(units.age("2999-01-01T00:00:00Z"), "from the future")


if __name__ == "__main__":
    unittest.main()
