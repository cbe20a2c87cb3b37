"""What the tests of the tamis command share."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TAMIS_BUILD", ROOT / "build"))
TAMIS = BUILD / "bin" / "tamis"
TIMEOUT_S = 120
PACKAGES_OF_REPORTS = "import rich, jinja2, matplotlib"

RANK_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "TAMIS_PROFILES": "",
}


def clean_environment(**more):
    environment = {**os.environ, **RANK_ENVIRONMENT, **more}
    for name in ("LD_PRELOAD", "TAMIS_HINTS", "ROMIO_HINTS", "TAMIS_STATS", "TAMIS_EXPLAIN", "TAMIS_REPORT",
                 "TAMIS_TRACE"):
        if name not in more:
            environment.pop(name, None)
    return environment


def tamis(*words, command=TAMIS, cwd=None, **environment):
    """Runs the command; the answer has returncode, stdout and stderr as text."""
    return subprocess.run([str(command), *map(str, words)], env=clean_environment(**environment),
                          cwd=cwd, timeout=TIMEOUT_S, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def python_with_packages():
    """Debian's packages belong to Debian's Python; another one may come first in the PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", PACKAGES_OF_REPORTS], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    raise AssertionError("no Python here has rich, jinja2 and matplotlib: tools/setup.sh installs them")


def write_script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path
