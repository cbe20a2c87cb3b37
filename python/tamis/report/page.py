"""The report as one HTML file that needs nothing else: no network, no script."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .. import units
from . import compare, pictures
from .words import GLOSSARY, bound, caveats, jobs_titles, lead, short_program, side_lines, taken, way_name

TEMPLATES = Path(__file__).resolve().parent / "templates"
MOST_FILES = 12  # of a job, with pictures; the others are lines of a table
MOST_ADVICE = 8  # before the files
SIDE_BY_SIDE = ("pattern", "phases")
PRINTED = {"ns": units.duration, "bytes": units.size, "count": units.count, "ratio": units.times}


def environment():
    env = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(
        size=units.size, duration=units.duration, count=units.count, times=units.times, moment=units.moment
    )
    env.globals.update(
        share=units.share,
        numbered=units.numbered,
        lead=lead,
        short_program=short_program,
        side_lines=side_lines,
        bound=bound,
        taken=taken,
        caveats=caveats,
        way_name=way_name,
        printed=lambda value, unit: PRINTED[unit](value),
    )
    return env


def drawn(study, prefix, frame=pictures.Frame(pictures.ON_PAGE), names=None):
    """The pictures of a file, as the template shows them."""
    return [
        {"title": one.title, "svg": Markup(pictures.as_svg(one, f"{prefix}-{one.name}"))}
        for one in pictures.of_file(study, frame)
        if names is None or one.name in names
    ]


def job_part(study, number):
    anchor = f"job{number}"
    shown = study.files[:MOST_FILES]
    files = [
        {"study": file, "anchor": f"{anchor}-file{index}", "pictures": drawn(file, f"{anchor}f{index}")}
        for index, file in enumerate(shown, 1)
    ]
    table = files + [{"study": file, "anchor": ""} for file in study.files[MOST_FILES:]]
    anchors = {part["study"].file.name: part["anchor"] for part in files}
    advice = [(one, anchors.get(one.file, "")) for one in study.advice if one.rule != "nothing"][:MOST_ADVICE]
    return {"study": study, "anchor": anchor, "files": files, "table": table, "advice": advice}


def comparisons(studies):
    """All files together, then each file that all jobs have, with its pictures beside each other."""
    if len(studies) == 1:
        return []
    matched = compare.matched_files(studies)
    parts = (
        []
        if all(len(study.files) == 1 for study in studies)
        else [{"name": "All files", "lines": compare.compare(studies), "columns": []}]
    )
    for number, (name, files) in enumerate(matched[:MOST_FILES], 1):
        longest = max((way.ns["total"] for file in files for way in file.ways), default=0)
        frame = pictures.Frame(pictures.ON_PAGE, pictures.NARROW, longest)
        columns = [drawn(file, f"c{number}j{index}", frame, SIDE_BY_SIDE) for index, file in enumerate(files, 1)]
        parts.append({"name": name, "lines": compare.compare(files), "columns": columns})
    return parts


def render(studies):
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            title=" / ".join(dict.fromkeys(short_program(study.job.program) for study in studies)),
            style=Markup(style),
            titles=jobs_titles(studies),
            compared=comparisons(studies),
            glossary=GLOSSARY,
            jobs=[job_part(study, number) for number, study in enumerate(studies, 1)],
        )
    )
