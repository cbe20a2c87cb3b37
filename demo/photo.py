"""The photograph behind the demo's frames, and the frames made from it."""
import shutil
import subprocess
from pathlib import Path

import numpy as np
from PIL import Image

import wall_layout as layout

PACKAGE = "mate-backgrounds"
FILE = "usr/share/backgrounds/mate/nature/LadyBird.jpg"
CREDIT = "LadyBird.jpg, a photograph by Charles Barbin (2008)"
LICENCE = "GPL-2+"
SOURCE = f"{CREDIT}, from Debian's package {PACKAGE}, licence {LICENCE}"

# The last frame of the zoom shows this part of the first one's width.
_CLOSEST = 0.55
# Where in the photograph the zoom goes: the ladybird, as parts of its width and height.
_TARGET = (0.70, 0.50)


class PhotoMissing(Exception):
    pass


def find(cache):
    """The photograph's path; where the package is not installed it is unpacked below `cache`."""
    for place in (Path("/"), Path(cache)):
        if (place / FILE).is_file():
            return place / FILE
    if shutil.which("apt-get") is None:
        raise PhotoMissing(f"no {PACKAGE} here, and no apt-get to fetch it with")
    Path(cache).mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["apt-get", "-q", "download", PACKAGE], cwd=cache, check=True, capture_output=True, timeout=120)
        archive = next(Path(cache).glob(f"{PACKAGE}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, cache], check=True, capture_output=True, timeout=60)
    except (subprocess.SubprocessError, StopIteration) as error:
        raise PhotoMissing(f"apt-get download {PACKAGE} failed: {error}") from error
    return Path(cache) / FILE


def frames(path, count):
    """A slow zoom over the photograph; every frame is the size of the wall."""
    photo = Image.open(path).convert("RGB")
    for number in range(count):
        progress = number / max(count - 1, 1)
        eased = progress * progress * (3 - 2 * progress)
        yield np.asarray(_view(photo, eased))


def _view(photo, progress):
    """The frame between the whole width (0) and the closest view of the target (1)."""
    width = photo.width * (1 - progress * (1 - _CLOSEST))
    height = width * layout.FRAME_HEIGHT / layout.FRAME_WIDTH
    left = min(max(photo.width * _TARGET[0] - width / 2, 0), photo.width - width) * progress
    centre = photo.height * (0.5 + (_TARGET[1] - 0.5) * progress)
    top = min(max(centre - height / 2, 0), photo.height - height)
    return photo.resize((layout.FRAME_WIDTH, layout.FRAME_HEIGHT), Image.Resampling.LANCZOS,
                        (left, top, left + width, top + height))
