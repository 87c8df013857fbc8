"""How a figure is to look: what its reader may ask for, checked before anything is drawn."""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

import seaborn
from cycler import cycler
from matplotlib import colormaps, rc_params_from_file
from matplotlib.font_manager import findSystemFonts, fontManager

from harness.errors import EnvError, UsageError, nearest
from harness.publish.report.text import TEX_SIGNS
from harness.publish.style import COLORS, RC, WIDTH_IN, sizes

UNITS_IN = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches in a unit; a point is TeX's, in which documents tell their widths."""
WIDE_FROM_IN = 4.4
"""From this width on panels are laid out as over two columns."""
_KNOW_SIGNS = "".join(
    rf"\ifdefined\DeclareUnicodeCharacter\DeclareUnicodeCharacter{{{ord(sign):04X}}}"
    rf"{{\ensuremath{{{name}}}}}\fi" + "\n"
    for sign, name in TEX_SIGNS.items()
)


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
    """A palette of seaborn: Set2, husl; a colour map, such as magma, for ordered series as well."""
    font: str
    """An installed font."""


def settings_of(options: Options, *, pgf: bool) -> dict[str, Any]:
    """Return matplotlib's settings, over its defaults. Raises UsageError for what is not known."""
    settings = dict(RC)
    if style := options.get("style"):
        settings |= _style_settings(Path(style))
    if palette := options.get("palette"):
        settings |= _palette_settings(palette)
    if font := options.get("font"):
        settings |= _font_settings(font)
        if pgf:
            raise UsageError("pgf takes the font of its document: leave --font out")
    if settings.get("text.usetex") and not shutil.which("latex"):
        raise EnvError("the style asks for LaTeX: install TeX Live, or leave text.usetex out")
    return settings | (_tex_settings(settings.get("pgf.preamble", "")) if pgf else {})


def length_in(what: str, text: str) -> float:
    """Return a length in inches."""
    if what == "width" and text in WIDTH_IN:
        return WIDTH_IN[text]
    # In Python it may be a number, which has no unit.
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?) ?(in|cm|mm|pt)", str(text).strip())
    low, high = (2.0 if what == "width" else 1.0), 20.0
    inches = float(found[1]) * UNITS_IN[found[2]] if found else 0.0
    if not low <= inches <= high:
        words = "single, double, or " if what == "width" else ""
        raise UsageError(
            f"{what} {text!r} is none: say {words}a length of {low:g} to {high:g} inches, such as"
            " 3.3in, 8.4cm, 84mm or 239pt"
        )
    return inches


def _style_settings(path: Path) -> dict[str, Any]:
    """Return what a file of matplotlib settings says; all our sizes follow that of its font."""
    # First, for matplotlib would open a pipe, and an address too.
    if not path.is_file():
        raise UsageError(f"there is no style file {path}: name one that is there")
    told: list[Any] = []
    logger, collect = logging.getLogger("matplotlib"), told.append
    # What is wrong with a line it logs in place of raising.
    logger.addFilter(collect)  # type: ignore[arg-type]
    found: dict[Any, Any] = {}
    try:
        found |= rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except (ValueError, TypeError, LookupError, AttributeError, SyntaxError, RecursionError) as err:
        told.append(err)
    finally:
        logger.removeFilter(collect)  # type: ignore[arg-type]
    for each in told[:1]:
        line = each.getMessage() if isinstance(each, logging.LogRecord) else str(each)
        line = " ".join(line.split())[:200]
        raise UsageError(f"{path} is no style of matplotlib ({line}): correct it")
    sized = sizes(found["font.size"]) if "font.size" in found else {}
    # Of those that SciencePlots and others set: it would cut the figure to another width.
    return {**sized, **found, "savefig.bbox": "standard"}


def _palette_settings(name: str) -> dict[str, Any]:
    try:
        # One more than is used: the last of a colour map vanishes on white.
        colors = seaborn.color_palette(name, len(COLORS) + 1).as_hex()[:-1]
    except ValueError:
        near = nearest(name, [*seaborn.palettes.SEABORN_PALETTES, *colormaps])
        raise UsageError(f"no palette of seaborn's is called {name!r}{near}") from None
    is_ordered = name in colormaps and colormaps[name].N > 20
    return {"axes.prop_cycle": cycler(color=colors)} | ({"image.cmap": name} if is_ordered else {})


def _font_settings(name: str) -> dict[str, Any]:
    if name not in fontManager.get_font_names():
        # It may have been installed since matplotlib looked.
        for path in sorted({*findSystemFonts()} - {each.fname for each in fontManager.ttflist}):
            with suppress(OSError, RuntimeError):  # no font that matplotlib reads
                fontManager.addfont(path)
    known = fontManager.get_font_names()
    if name not in known:
        raise UsageError(f"no font is called {name!r}{nearest(name, known)}: install it")
    return {
        # What it lacks, Greek or a sign, comes from ours.
        "font.family": [name, RC["font.family"]], "mathtext.fontset": "custom",
        "mathtext.rm": name, "mathtext.it": f"{name}:italic", "mathtext.bf": f"{name}:bold",
    }  # fmt: skip


def _tex_settings(preamble: str) -> dict[str, Any]:
    """Return what pgf needs of matplotlib; preamble: what a style has. Raises EnvError."""
    for name in filter(shutil.which, ("pdflatex", "xelatex", "lualatex")):
        return {"pgf.texsystem": name, "pgf.preamble": f"{preamble}\n{_KNOW_SIGNS}".lstrip()}
    raise EnvError("pgf needs LaTeX: install TeX Live, or take --format pdf")
