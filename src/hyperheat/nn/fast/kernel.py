"""Optional compiled kernels: gather and attention in one pass over the table, and maxima over segments.

They are compiled from `kernel.c` and `segments.c` by the system's C compiler when asked for, with `kernel.load()`, by
setting the environment variable HYPERHEAT_KERNEL=1, or by `hyperheat bugs train`, and kept in the user's cache folder.
Without them, and for other number types and widths, `attention.py` and `rows.py` do the same with torch; tests compare
the two.
"""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from hyperheat.tensors import Group

__all__ = ["LARGEST", "Kernel", "load", "loaded", "unload", "use"]

LARGEST = 48
"""Slots of the largest edge that the kernel takes on several threads; it gives each edge to one of them."""

_LANES = 16
"""Numbers in a vector of `kernel.c`."""

_SOURCES = tuple(Path(__file__).with_name(name) for name in ("kernel.c", "segments.c"))
_FLAGS = ("-O3", "-march=native", "-ffast-math", "-fno-finite-math-only", "-fPIC", "-std=c11", "-fopenmp")
_NUMBERS = {torch.float32: "f32", torch.bfloat16: "bf16"}
"""The types of numbers that `segments.c` reads, by their names there."""

_kernel: "Kernel | None" = None
_asked = False


class Kernel:
    """The compiled functions, called with tensors."""

    def __init__(self, library: Path) -> None:
        functions = ctypes.CDLL(str(library))
        pointer, long, integer = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
        self._forward = functions.hyperheat_attend
        self._forward.argtypes = [pointer, pointer, pointer, long, long, *[integer] * 4]
        self._backward = functions.hyperheat_attend_backward
        self._backward.argtypes = [pointer, pointer, pointer, pointer, long, long, *[integer] * 4]
        self._max, self._max_backward = {}, {}
        for dtype, name in _NUMBERS.items():
            self._max[dtype] = getattr(functions, f"hyperheat_segment_max_{name}")
            self._max[dtype].argtypes = [*[pointer] * 4, long, long, integer]
            self._max_backward[dtype] = getattr(functions, f"hyperheat_segment_max_backward_{name}")
            self._max_backward[dtype].argtypes = [*[pointer] * 6, long, long, integer]

    @staticmethod
    def takes(group: Group, table: Tensor, pairs: Tensor, heads: int) -> bool:
        """Whether a group's edges stand side by side, in arrays as the kernel reads them, enough for all threads."""
        small = group.block is not None and (group.block <= LARGEST or torch.get_num_threads() == 1)
        fits = _LANES % heads == 0 and table.shape[1] % (3 * _LANES) == 0
        typed = table.dtype == torch.float32 and pairs.dtype == torch.int64
        return small and fits and typed and pairs.is_contiguous()

    def forward(
        self, table: Tensor, pairs: Tensor, out: Tensor, first: int, group: Group, heads: int
    ) -> None:
        """Write what the cells of a group attend to into `out` [C, D]."""
        shape = _shape(table, first, group, heads)
        _check(self._forward(table.data_ptr(), pairs.data_ptr(), out.data_ptr(), *shape))

    def backward(
        self,
        table: Tensor,
        pairs: Tensor,
        grad_out: Tensor,
        grad: Tensor,
        first: int,
        group: Group,
        heads: int,
    ) -> None:
        """Write the gradient of a group's queries, keys and values into `grad` [C, 3D]."""
        arrays = (table.data_ptr(), pairs.data_ptr(), grad_out.data_ptr(), grad.data_ptr())
        _check(self._backward(*arrays, *_shape(table, first, group, heads)))

    @staticmethod
    def takes_rows(x: Tensor) -> bool:
        """Whether `segment_max` reads such a table."""
        return x.dtype in _NUMBERS and x.device.type == "cpu" and x.shape[1] % _LANES == 0

    def segment_max(self, x: Tensor, entries: Tensor, offsets: Tensor) -> Tensor:
        """For each segment and column the largest entry: [C, D] -> [S, D]; zero where it has none."""
        x, out = x.contiguous(), x.new_empty(len(offsets) - 1, x.shape[1])
        arrays = [tensor.data_ptr() for tensor in (x, entries, offsets, out)]
        self._max[x.dtype](*arrays, *out.shape, torch.get_num_threads())
        return out

    def segment_max_backward(
        self, x: Tensor, entries: Tensor, offsets: Tensor, out: Tensor, grad_out: Tensor
    ) -> Tensor:
        """The gradient of x [C, D]; entries that tie for the maximum share it."""
        x, grad_out = x.contiguous(), grad_out.contiguous()
        grad = torch.empty_like(x)
        arrays = [tensor.data_ptr() for tensor in (x, entries, offsets, out, grad_out, grad)]
        self._max_backward[x.dtype](*arrays, *out.shape, torch.get_num_threads())
        return grad


def loaded() -> Kernel | None:
    """The kernel, if it was loaded or the environment asks for it."""
    global _asked
    if not _asked:
        if os.environ.get("HYPERHEAT_KERNEL") == "1":
            load()
        _asked = True
    return _kernel


def load() -> Kernel:
    """Compile the kernel if that was not done before, and use it from now on."""
    global _kernel
    if _kernel is None:
        try:
            _kernel = Kernel(_compiled())
        except OSError as error:
            raise RuntimeError(f"cannot compile and load the kernels: {error}") from error
    return _kernel


def use(wanted: bool | None) -> bool:
    """Load the kernel if it is wanted, or if it can be built when `wanted` is None; return whether it is in use."""
    if wanted is False:
        unload()
        return False
    try:
        load()
    except RuntimeError:
        if wanted:
            raise
        return False
    return True


def unload() -> None:
    """Go back to torch alone."""
    global _kernel, _asked
    _kernel, _asked = None, True


def _compiled() -> Path:
    named = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if named is None:
        raise RuntimeError("no C compiler found for the compiled kernels (tried $CC, cc, gcc, clang)")
    compiler = shlex.split(named)
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
    texts = [source.read_text() for source in _SOURCES]
    key = repr((texts, _FLAGS, version, _openmp(), _processor()))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperheat"
    library = cache / f"kernel-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"
    if library.exists():
        return library
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        built = Path(folder) / "kernel.so"
        objects = [f"{folder}/{source.stem}.o" for source in _SOURCES]
        for source, compiled in zip(_SOURCES, objects, strict=True):
            _run([*compiler, *_FLAGS, "-c", str(source), "-o", compiled])
        _run([*compiler, "-shared", *objects, *_openmp(), "-lm", "-o", str(built)])
        built.replace(library)
    return library


def _openmp() -> list[str]:
    """The OpenMP library that torch itself uses: two of them would fight for the cores."""
    libraries = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*"))
    if not libraries:
        return ["-fopenmp"]
    return [str(libraries[0]), f"-Wl,-rpath,{libraries[0].parent}"]


def _processor() -> str:
    """What `-march=native` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} cannot compile the kernels: {done.stderr.strip()[:500]}")


def _shape(table: Tensor, first: int, group: Group, heads: int) -> tuple[int, ...]:
    assert group.block is not None
    edges = group.rows * group.width // group.block
    return first, edges, group.block, heads, table.shape[1] // 3, torch.get_num_threads()


def _check(failed: int) -> None:
    if failed:
        raise MemoryError("not enough memory for the attention of one edge")
