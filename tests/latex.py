"""LaTeX, where the machine has it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def needs_latex(*styles: str) -> None:
    """Skip the test where there is no pdflatex, or where it lacks a style."""
    found = shutil.which("pdflatex") is not None and shutil.which("kpsewhich") is not None
    if not found or any(
        subprocess.run(["kpsewhich", style], check=False, capture_output=True).returncode
        for style in styles
    ):
        needed = " ".join(["pdflatex", *styles])
        pytest.skip(
            f"there is no {needed}: apt-get install texlive-latex-recommended texlive-pictures"
        )


def set_by_latex(document: str, folder: Path) -> str:
    """Set a document in a folder, as `document.pdf`; return what the log says.

    Fails with the end of what LaTeX printed.
    """
    (folder / "document.tex").write_text(document)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "document.log").read_text(errors="replace")
