"""tamis report: what jobs did with their files, from the documents that TAMIS_REPORT writes.

Only what a form of output needs is imported: `tamis run` works without any of the packages here.
"""

import importlib.util
import shutil
import sys
from pathlib import Path

from ..errors import UserError

PACKAGES = {"rich": "python3-rich", "jinja2": "python3-jinja2", "matplotlib": "python3-matplotlib"}


def require(*modules):
    """REQUIRES: modules are keys of PACKAGES. Says which Debian package is missing, and for whom."""
    missing = [PACKAGES[module] for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise UserError(
            f"tamis report needs {' and '.join(missing)} (apt-get install {' '.join(missing)}), "
            f"which {sys.executable} does not find"
        )


def needed_modules(html, png, text):
    wanted = ["rich"] if text else []
    wanted += ["jinja2"] if html else []
    wanted += ["matplotlib"] if html or png else []
    return wanted


def written(path, write):
    """Calls `write(path)`; a file that cannot be written is the user's to mend."""
    try:
        write(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}") from error


def report(paths, html=None, png=None, text=False):
    """Reads the documents, then writes what was asked for; text where nothing was."""
    from . import merge, study

    text = text or not (html or png)
    require(*needed_modules(html, png, text))
    studies = [study.JobStudy(merge.load_job(path)) for path in paths]
    if text:
        from . import terminal

        terminal.show(studies, shutil.get_terminal_size((100, 24)).columns)
    if html:
        from . import page

        written(Path(html), lambda path: path.write_text(page.render(studies), encoding="utf-8"))
    if png:
        from . import pictures

        written(Path(png), lambda directory: pictures.export(studies, directory))
    return 0
