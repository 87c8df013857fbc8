"""How a figure is to look: what its reader may ask for, checked before anything is drawn."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_args

from harness.errors import EnvError, UsageError, nearest
from harness.publish.style import PALETTE, RC, TEX_SIGNS, WIDTH_IN, Width
from harness.untrusted import UnreadableError, read_text

UNITS_IN = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches in a unit; a point is TeX's, in which documents tell their widths."""
BOUNDS_IN = {"width": (2.0, 20.0), "height": (1.0, 20.0)}
WIDE_FROM_IN = 4.4
"""From this width on panels are laid out as over two columns."""
MAX_STYLE_BYTES = 2**20
COLORS = PALETTE[:6]
"""What a palette takes the place of; the last, a grey, is of no series."""
# What measures words need not be what sets the document: pdflatex starts soonest.
_TEX = ("pdflatex", "xelatex", "lualatex")
_KNOW_SIGNS = "".join(
    rf"\ifdefined\DeclareUnicodeCharacter\DeclareUnicodeCharacter{{{ord(sign):04X}}}"
    rf"{{\ensuremath{{{name}}}}}\fi" + "\n"
    for sign, name in TEX_SIGNS.items()
)
# Of those that SciencePlots and others set: it would cut the figure to another width.
_FIXED = {"savefig.bbox": "standard"}
_SIZES = [name for name, value in RC.items() if name.endswith("size") and name.partition(".")[0]
          in ("font", "axes", "xtick", "ytick", "legend")]  # fmt: skip


class Options(TypedDict, total=False):
    """What a reader may ask of a figure; on the command line the options of `repro plot`."""

    width: str
    """single, double, or a length with its unit: 3.3in, 8.4cm, 84mm, 239pt."""
    height: str
    """A length; by default what the panels need, and no less than that."""
    ours_only: bool
    """Leave out what was read off the paper."""
    stamp: bool
    """Name task, profile and seeds at the foot; True by default. What stood in always stands."""
    style: str | Path
    """A file of matplotlib settings, applied after ours."""
    palette: str
    """A colour map of matplotlib: a list such as tab10, any other for ordered series as well."""
    font: str
    """An installed font."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What `Options` come to."""

    width_in: float
    height_in: float | None
    ours_only: bool
    stamp: bool
    palette: str
    settings: dict[str, Any]
    """Of matplotlib, over its defaults."""

    @property
    def column(self) -> Width:
        """Return the layout for this width."""
        return "double" if self.width_in >= WIDE_FROM_IN else "single"

    @property
    def colors(self) -> list[str]:
        """Return the colours that take the place of `COLORS`; none where ours stand."""
        cycle = self.settings.get("axes.prop_cycle")
        return [] if cycle is None else cycle.by_key().get("color", [])


def look_of(**options: Unpack[Options]) -> Look:
    """Return what options come to. Raises UsageError for what is not known or not there."""
    for name in options:
        if name not in Options.__annotations__:
            raise UsageError(
                f"a figure has no option {name!r}{nearest(name, Options.__annotations__)}"
            )
    height, style = options.get("height"), options.get("style")
    settings = dict(RC)
    if style:
        settings |= _scaled(_style_settings(Path(style))) | _FIXED
    if palette := options.get("palette"):
        settings |= _palette_settings(palette)
    if font := options.get("font"):
        settings |= _font_settings(font)
    return Look(
        width_in=_length("width", options.get("width", "double")),
        height_in=_length("height", height) if height else None,
        ours_only=options.get("ours_only", False),
        stamp=options.get("stamp", True),
        palette=options.get("palette", ""),
        settings=settings,
    )


def _length(what: str, text: str) -> float:
    """Return a length in inches."""
    if what == "width" and text in get_args(Width):
        return WIDTH_IN[text]  # type: ignore[index]
    # In Python it may be a number, which has no unit.
    text = str(text).strip()
    found = re.fullmatch(rf"(\d{{1,6}}(?:\.\d{{1,6}})?) ?({'|'.join(UNITS_IN)})", text)
    low, high = BOUNDS_IN[what]
    inches = float(found[1]) * UNITS_IN[found[2]] if found else 0.0
    if not low <= inches <= high:
        words = f"{', '.join(get_args(Width))}, or " if what == "width" else ""
        raise UsageError(
            f"{what} {text!r} is none: say {words}a length of {low:g} to {high:g} inches, such as"
            " 3.3in, 8.4cm, 84mm or 239pt"
        )
    return inches


def _style_settings(path: Path) -> dict[str, Any]:
    """Return what a file of matplotlib settings says."""
    from matplotlib import rc_params_from_file

    warned: list[str] = []
    try:
        # First as any file of anybody: matplotlib would open a pipe, and an address too.
        read_text(path, limit=MAX_STYLE_BYTES)
        with _told(warned):
            found = rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except FileNotFoundError:
        raise UsageError(f"there is no style file {path}: name one that is there") from None
    except UnreadableError as error:
        raise UsageError(f"{error}: name a file of matplotlib settings") from error
    except (ValueError, TypeError, LookupError, AttributeError, SyntaxError, RecursionError) as err:
        warned.append(str(err))
    if warned:
        told = " ".join(warned[0].split())[:200]
        raise UsageError(f"{path} is no style of matplotlib ({told}): correct it")
    return {str(name): value for name, value in found.items()}


@contextmanager
def _told(lines: list[str]) -> Iterator[None]:
    """Collect what matplotlib logs of a file in place of raising."""

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, collector = logging.getLogger("matplotlib"), Collect(logging.WARNING)
    logger.addHandler(collector)
    try:
        yield
    finally:
        logger.removeHandler(collector)


def _scaled(style: dict[str, Any]) -> dict[str, Any]:
    """Add ours of the sizes of words that a style does not set, in proportion to its own."""
    if "font.size" not in style:
        return style
    scale = float(style["font.size"]) / RC["font.size"]
    return {name: RC[name] * scale for name in _SIZES} | style


def _palette_settings(name: str) -> dict[str, Any]:
    from cycler import cycler
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, to_hex

    if name not in colormaps:
        raise UsageError(
            f"no palette is called {name!r}{nearest(name, list(colormaps))} (they are matplotlib's"
            " colour maps)"
        )
    found = colormaps[name]
    if isinstance(found, ListedColormap) and found.N <= 20:
        return {"axes.prop_cycle": cycler(color=[to_hex(found(step)) for step in range(found.N)])}
    steps = [0.78 * index / (len(COLORS) - 1) for index in range(len(COLORS))]
    colors = [to_hex(found(step)) for step in steps]
    return {"axes.prop_cycle": cycler(color=colors), "image.cmap": name}


def _font_names(wanted: str) -> list[str]:
    """Return the fonts that are known; those installed since matplotlib looked, if it must be."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    if wanted not in {each.name for each in fontManager.ttflist}:
        files = {each.fname for each in fontManager.ttflist}
        for path in sorted({*findSystemFonts()} - files):
            with suppress(OSError, RuntimeError):  # no font that matplotlib reads
                fontManager.addfont(path)
    return sorted({each.name for each in fontManager.ttflist})


def _font_settings(name: str) -> dict[str, Any]:
    known = _font_names(name)
    if name not in known:
        raise UsageError(
            f"no font is called {name!r}{nearest(name, known)} (install it, or name one that is)"
        )
    return {
        # What it lacks, Greek or a sign, comes from ours.
        "font.family": [name, *RC["font.family"].split(",")],
        "mathtext.fontset": "custom",
        "mathtext.rm": name,
        "mathtext.it": f"{name}:italic",
        "mathtext.bf": f"{name}:bold",
    }


def tex_settings(preamble: str) -> dict[str, Any]:
    """Return what pgf needs of matplotlib; preamble: what a style has. Raises EnvError."""
    for name in _TEX:
        if shutil.which(name):
            return {"pgf.texsystem": name, "pgf.preamble": f"{preamble}\n{_KNOW_SIGNS}".lstrip()}
    raise EnvError(
        f"pgf needs LaTeX and none of {', '.join(_TEX)} is installed: install TeX Live, or take"
        " --format pdf"
    )
