"""What compilers make for a GPU, and what stands in it: no GPU is asked for."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reproductions.kernels.toolchain.tools import run, tool

NVCC_FLAGS = ("-std=c++17", "-O3", "--diag-error=20011")
"""20011: a function of the host alone that a device's template reaches is but a warning else."""
WORD_BITS = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """What a compiler made of a kernel."""

    function: str
    registers: int
    """Per thread."""
    stack_bytes: int
    """Per thread: arrays that are no registers, and spilled ones."""
    shared_bytes: int
    """Per block, known when it is compiled."""
    num_instructions: int
    spills: int
    """Loads from and stores to local memory."""
    load_bits: tuple[int, ...]
    """Of each load from global memory, in order."""
    store_bits: tuple[int, ...]


def cubin_of_cuda(source: Path, arch: str) -> bytes:
    """Compile a .cu file for an architecture such as sm_90. Raises RunError by nvcc's words."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "kernel.cubin"
        run([tool("nvcc"), *NVCC_FLAGS, f"-arch={arch}", "-cubin", str(source), "-o", str(to)])
        return to.read_bytes()


def codes(cubin: bytes) -> list[Code]:
    """Read what a cubin says of each of its kernels."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        used = run([tool("cuobjdump"), "-res-usage", file.name])
        # It calls nvdisasm, which wheels put nowhere that it looks.
        beside = str(Path(tool("nvdisasm")).parent)
        sass = run([tool("cuobjdump"), "-sass", file.name], NVDISASM_PATH=beside)
    return parsed(used, sass)


def parsed(used: str, sass: str) -> list[Code]:
    """Read what cuobjdump prints of resources and of instructions."""
    resources = {
        match["name"]: {key: int(number) for key, number in _PAIR.findall(match["rest"])}
        for match in _RESOURCES.finditer(used)
    }
    found = []
    for part in sass.split("Function : ")[1:]:
        name = part.split(None, 1)[0]
        opcodes = [match[1] for match in _INSTRUCTION.finditer(part)]
        given = resources[name]
        found.append(Code(
            function=name,
            registers=given["REG"],
            stack_bytes=given["STACK"] + given["LOCAL"],
            shared_bytes=given["SHARED"],
            num_instructions=len(opcodes),
            spills=sum(opcode.split(".")[0] in ("LDL", "STL") for opcode in opcodes),
            # LD and ST are of any memory: addresses out of a table are not known to be global ones.
            load_bits=_widths(opcodes, ("LD", "LDG", "LDGSTS")),
            store_bits=_widths(opcodes, ("ST", "STG")),
        ))  # fmt: skip
    return found


_RESOURCES = re.compile(r"Function (?P<name>\S+):\n\s*(?P<rest>.+)")
_PAIR = re.compile(r"([A-Z]+):(\d+)")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}


def _widths(opcodes: Sequence[str], kinds: Sequence[str]) -> tuple[int, ...]:
    """Return how many bits each instruction of these kinds moves."""
    moving = [opcode.split(".") for opcode in opcodes if opcode.split(".")[0] in kinds]
    return tuple(
        next((_WIDTHS[part] for part in parts if part in _WIDTHS), WORD_BITS) for parts in moving
    )
