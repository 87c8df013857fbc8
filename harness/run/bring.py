"""Install what a machine lacks from a carried folder: `python -m harness.run.bring FOLDER SITE`.

It runs before anything is installed there, so it needs Python and pip alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WHEELS, DATA, REQUIREMENTS = "wheels", "data", "requirements.txt"
"""What a carried folder holds."""
FAILED = 2


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


def main(words: Sequence[str]) -> int:
    """Bring one folder; pip has said what it lacks where the answer is not 0."""
    if len(words) != 2 or not (Path(words[0]) / REQUIREMENTS).is_file():
        sys.stderr.write("bring: need a folder that repro gpu pack made, and a folder to fill\n")
        return FAILED
    try:
        brought = bring(Path(words[0]), Path(words[1]))
    except subprocess.CalledProcessError:
        sys.stderr.write("bring: pack again with what pip names: repro gpu pack --also NAME\n")
        return FAILED
    sys.stderr.write(f"brought: {', '.join(brought) or 'nothing, all of it is here'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
