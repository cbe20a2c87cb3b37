"""One rank of mpi4py's own tests, logged so that a hang or a crash can be told from a failure.

usage: mpiexec -n N python mpi4py_rank.py TESTFOLDER LOGFOLDER [NAME...]

Runs the named tests (module.Class.test), in the order given, the same on every rank. Each rank appends to
LOGFOLDER/<rank>: "start NAME" before a test, then "pass NAME", "skip NAME" or "fail NAME REASON". Without names it
prints the names of all tests that concern files.

A name that ends in @offsets stands for the same test with its ordered calls carried out through explicit offsets
(write_at_all, read_at_all): the tests of views use ordered calls for no reason of their own.
"""
import os
import sys
import unittest

FILE_MODULES = ("test_file", "test_io")
# Tests of files that stand in modules about something else.
FILE_CLASSES = ("test_errhandler.TestErrhandlerFile", "test_handle.TestHandleFile", "test_subclass.TestMyFile")


def test_names(folder):
    """Every test of the modules and classes above, base classes left out as unittest does."""
    loader = unittest.TestLoader()
    found = loader.loadTestsFromNames([*FILE_MODULES, *present_classes()])
    return sorted({case.id() for case in flatten(found)})


def present_classes():
    for name in FILE_CLASSES:
        module, kind = name.split(".")
        if hasattr(__import__(module), kind):
            yield name


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def by_offsets(module):
    """Makes the files that the module's tests open do their ordered calls through explicit offsets. In a test of views
    all ranks give as many elements to an ordered call, so each knows its offset without asking the others."""
    from mpi4py import MPI

    class File(MPI.File):
        def Set_view(self, displacement, etype, *rest):
            self.etype_size, self.position = etype.size, 0
            super().Set_view(displacement, etype, *rest)

        def ordered(self, transfer, buffer):
            count = MPI.buffer.frombuffer(buffer, readonly=True).nbytes // self.etype_size
            transfer(self.position + self.comm.rank * count, buffer)
            self.position += self.comm.size * count

        def Write_ordered(self, buffer):
            self.ordered(self.Write_at_all, buffer)

        def Read_ordered(self, buffer):
            self.ordered(self.Read_at_all, buffer)

    def opened(setup):
        def wrapped(test):
            setup(test)
            test.FILE = File(test.FILE)
            test.FILE.comm = test.COMM
        return wrapped

    module.BaseTestIO.setUp = opened(module.BaseTestIO.setUp)


class Log(unittest.TestResult):
    def __init__(self, stream, suffix):
        super().__init__()
        self._stream = stream
        self._suffix = suffix
        self._verdict = None

    def _line(self, verdict, test, reason=""):
        words = (verdict, test.id() + self._suffix, reason)
        self._stream.write(" ".join(words).replace("\n", " ") + "\n")
        self._stream.flush()

    def startTest(self, test):
        super().startTest(test)
        self._verdict = ("pass", "")
        self._line("start", test)

    def stopTest(self, test):
        super().stopTest(test)
        self._line(self._verdict[0], test, self._verdict[1])

    def _fail(self, error):
        self._verdict = ("fail", f"{error[0].__name__}: {error[1]}"[:300])

    def addFailure(self, test, error):
        self._fail(error)

    def addError(self, test, error):
        self._fail(error)

    def addSubTest(self, test, subtest, error):
        if error is not None and self._verdict[0] != "fail":
            self._fail(error)

    def addSkip(self, test, reason):
        self._verdict = ("skip", reason)


def main():
    folder, logs, *names = sys.argv[1:]
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    import mpiunittest
    mpiunittest.skipMPI = lambda *_: lambda item: item  # the skips are for faults of the MPIs' own MPI-IO
    if not names:
        print("\n".join(test_names(folder)))
        return
    from mpi4py import MPI
    suffix = "@offsets" if names[0].endswith("@offsets") else ""
    if suffix:
        import test_io
        by_offsets(test_io)
    suite = unittest.TestLoader().loadTestsFromNames([name.removesuffix("@offsets") for name in names])
    with open(os.path.join(logs, str(MPI.COMM_WORLD.rank)), "a", encoding="utf-8") as stream:
        suite.run(Log(stream, suffix))


if __name__ == "__main__":
    main()
