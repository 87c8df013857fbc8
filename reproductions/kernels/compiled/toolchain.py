"""Compilers for GPUs and what reads their output: no GPU is asked for."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.errors import EnvError, RunError

NVCC_FLAGS = ("-std=c++17", "-O3", "--diag-error=20011")
"""20011: a function of the host alone, reached from a device's template, is a warning by default."""
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


@cache
def tool(name: str) -> str:
    """Return where a tool of CUDA lies: of a wheel first, else of a toolkit. Raises EnvError."""
    from cuda.pathfinder import find_nvidia_binary_utility

    found = find_nvidia_binary_utility(name)
    if found is None:
        raise EnvError(f'{name} is not installed: pip install "[kernels]" of this project has it')
    return str(found)


@cache
def version(name: str) -> str:
    """Return the number of a tool's release."""
    told = _run([tool(name), "--version"])
    match = re.search(r"V([0-9.]+)", told)
    if match is None:
        raise EnvError(f"{name} --version says nothing like V13.0.88: {told[-200:]!r}")
    return match[1]


def cubin_of_cuda(source: Path, arch: str) -> bytes:
    """Compile a .cu file for an architecture such as sm_90. Raises RunError by nvcc's words."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "kernel.cubin"
        _run([tool("nvcc"), *NVCC_FLAGS, f"-arch={arch}", "-cubin", str(source), "-o", str(to)])
        return to.read_bytes()


def codes(cubin: bytes) -> list[Code]:
    """Read what a cubin says of each of its kernels."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        used = _run([tool("cuobjdump"), "-res-usage", file.name])
        # It calls nvdisasm, which wheels put nowhere that it looks.
        beside = str(Path(tool("nvdisasm")).parent)
        sass = _run([tool("cuobjdump"), "-sass", file.name], NVDISASM_PATH=beside)
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


def _run(command: Sequence[str], **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip
    if done.returncode:
        called = " ".join([Path(command[0]).name, *command[1:3]])
        raise RunError(f"{called} ... ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
