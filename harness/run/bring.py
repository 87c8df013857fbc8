"""Install what a machine lacks from a carried folder: `python -m harness.run.bring FOLDER SITE`.

It runs before anything is installed there, so it needs Python and pip alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

WHEELS, DATA, REQUIREMENTS = "wheels", "data", "requirements.txt"
"""What a carried folder holds."""


def bring(folder: Path, site: Path) -> list[str]:
    """Install below `site` what the folder has and this Python lacks; return what that was.

    What is installed already, torch above all, stays as it is: pip decides on all of it, and
    only what it misses goes to `site`, which is made anew. A virtual environment would not do:
    one made from another (where torch often lies) sees only the Python that both come from.
    Raises CalledProcessError where the folder lacks what is needed.
    """
    wheels = ("--no-index", "--find-links", str(folder / WHEELS))
    report = _pip("--dry-run", "--report", "-", *wheels, "-r", str(folder / REQUIREMENTS))
    found = [item["metadata"] for item in json.loads(report)["install"]]
    lacking = sorted(f"{each['name']}=={each['version']}" for each in found)
    shutil.rmtree(site, ignore_errors=True)
    if lacking:
        _pip("--no-deps", "--no-compile", "--target", str(site), *wheels, *lacking)
    return lacking


def _pip(*words: str) -> str:
    # What pip is told elsewhere, as another index, is not meant for a machine without network.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words],
        env={**kept, "PIP_CONFIG_FILE": os.devnull},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    try:
        brought = bring(Path(sys.argv[1]), Path(sys.argv[2]))
    except (subprocess.CalledProcessError, IndexError):
        # pip has said what the folder lacks.
        sys.exit("bring: need a folder of `repro gpu pack [--also NAME]`, and a folder to fill")
    sys.stderr.write(f"brought: {', '.join(brought) or 'nothing, all of it is here'}\n")
