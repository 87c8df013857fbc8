"""The paper's values are kept as they were read."""

from __future__ import annotations

import csv
from pathlib import Path

from tools.reference import asymvalley as convert_reference

SETTINGS = "area,key,value,where,source\n"
PROSE = "figure,quantity,value,kind,where,source\n"
PAPER = f'"{convert_reference.FULL_TEXT}"\n'


def readings(folder: Path, settings: str = "", prose: str = "") -> Path:
    (folder / "settings.csv").write_text(SETTINGS + settings, encoding="utf-8")
    (folder / "reference_numbers.csv").write_text(PROSE + prose, encoding="utf-8")
    return folder


def test_conversion_keeps_values_as_written_and_names_their_place(tmp_path: Path) -> None:
    folder = readings(
        tmp_path,
        settings=f"hyper,lr_variants,0.1;0.0030,Sect. 4.2.2,{PAPER}"
        f"valley,imagenet_eval_images,5000,App. A.1,{PAPER}",
        prose=f'Fig 7,centre,0.20,"approx, prose",Sect. 4.2.1,{PAPER}',
    )
    files = convert_reference.convert(folder)
    rows = [
        (row["task"], row["series"], row["y_name"], row["value"], row["source"])
        for name in ("settings.csv", "text_numbers.csv")
        for row in csv.DictReader(files[name].splitlines())
    ]
    text = "machine-read text of the proceedings PDF"
    prose = f"{text}, Sect. 4.2.1; approx, prose: centre"
    assert rows == [
        ("fig09", "hyper", "lr_variants", "0.1;0.0030", f"{text}, Sect. 4.2.2"),
        ("fig06", "valley", "imagenet_eval_images", "5000", f"{text}, App. A.1"),
        ("fig20", "valley", "imagenet_eval_images", "5000", f"{text}, App. A.1"),
        ("fig07", "ones", "bn_weight_centre_approximately", "0.20", prose),
    ]
