"""What compilers make for a GPU, and what stands in it: no GPU is asked for."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from reproductions.kernels.toolchain.tools import run, tool

NVCC_FLAGS = ("-std=c++17", "-O3", "--diag-error=20011")
"""20011: a function of the host alone that a device's template reaches is but a warning else."""
WIDE = 128
"""Bits: as much as one instruction of a thread can move on these architectures."""


Found = dict[str, str | int]
"""What a compiler made of a kernel, by the columns of static rows."""


def cubin_of_cuda(source: Path, arch: str) -> bytes:
    """Compile a .cu file for an architecture such as sm_90. Raises RunError by nvcc's words."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "kernel.cubin"
        run([tool("nvcc"), *NVCC_FLAGS, f"-arch={arch}", "-cubin", str(source), "-o", str(to)])
        return to.read_bytes()


def codes(cubin: bytes) -> list[Found]:
    """Read what a cubin says of each of its kernels."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        used = run([tool("cuobjdump"), "-res-usage", file.name])
        # It calls nvdisasm, which wheels put nowhere that it looks.
        beside = str(Path(tool("nvdisasm")).parent)
        sass = run([tool("cuobjdump"), "-sass", file.name], NVDISASM_PATH=beside)
    return parsed(used, sass)


def parsed(used: str, sass: str) -> list[Found]:
    """Read what cuobjdump prints of resources and of instructions."""
    resources = {
        match["name"]: {key: int(number) for key, number in _PAIR.findall(match["rest"])}
        for match in _RESOURCES.finditer(used)
    }
    found: list[Found] = []
    for part in sass.split("Function : ")[1:]:
        name = part.split(None, 1)[0]
        opcodes = [match[1] for match in _INSTRUCTION.finditer(part)]
        given = resources[name]
        # LD and ST are of any memory: addresses out of a table are not known to be global ones.
        loads, stores = _widths(opcodes, "LD", "LDG", "LDGSTS"), _widths(opcodes, "ST", "STG")
        found.append({
            "function": name,
            "registers": given["REG"],
            "spills": sum(opcode.split(".")[0] in ("LDL", "STL") for opcode in opcodes),
            # Arrays that are no registers, and spilled ones.
            "stack_bytes": given["STACK"] + given["LOCAL"],
            "shared_bytes": given["SHARED"],
            "instructions": len(opcodes),
            "loads": len(loads),
            "loads_wide": loads.count(WIDE),
            "stores": len(stores),
            "stores_wide": stores.count(WIDE),
        })  # fmt: skip
    return found


_RESOURCES = re.compile(r"Function (?P<name>\S+):\n\s*(?P<rest>.+)")
_PAIR = re.compile(r"([A-Z]+):(\d+)")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}


def _widths(opcodes: Sequence[str], *kinds: str) -> list[int]:
    """Return how many bits each instruction of these kinds moves."""
    moving = [opcode.split(".") for opcode in opcodes if opcode.split(".")[0] in kinds]
    return [next((_WIDTHS[part] for part in parts if part in _WIDTHS), 32) for parts in moving]
