"""NVRTC and the CUDA driver by ctypes: source text in, kernels to launch out."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ....errors import MissingDependencyError, WmccError
from ....present.files import write


class CudaError(WmccError, RuntimeError):
    """The driver or NVRTC refused to do something."""


class UnsupportedError(CudaError):
    """The GPU cannot do it."""


@cache
def driver() -> Any:
    """Return the library of the CUDA driver."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        with suppress(OSError):
            library = ctypes.CDLL(name)
            library.cuLaunchKernel.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]
            check(library, library.cuInit(0))
            return library
    raise MissingDependencyError(
        "there is no CUDA driver on this machine: libcuda.so.1 is not found.", "install the driver of your NVIDIA GPU."
    )


def check(library: Any, code: int) -> None:
    """Raise an error if a function of the driver returned one."""
    if code:
        text = ctypes.c_char_p()
        library.cuGetErrorString(code, ctypes.byref(text))
        raise CudaError(f"CUDA error {code}: {(text.value or b'no description').decode()}.")


OTHER_CONTEXT = (201, 400)
"""What the driver says if a kernel is launched while no device, or another one, is current."""


# ---- compiling -----------------------------------------------------------------------------------------------


def _libraries() -> Iterator[str]:
    """Where NVRTC may be: in NVIDIA's wheels, in PyTorch's own folder, in an installation of CUDA, in the system."""
    pattern = "nvrtc64*.dll" if sys.platform == "win32" else "libnvrtc.so*"
    for package, *below in (("nvidia", "*/lib", "*/bin", "*/bin/*"), ("torch", "lib")):
        spec = importlib.util.find_spec(package)
        for place in () if spec is None else spec.submodule_search_locations or ():
            for folder in below:
                yield from sorted(map(str, Path(place).glob(f"{folder}/{pattern}")), reverse=True)
    for root in filter(None, (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")):
        yield from sorted(map(str, Path(root).glob(f"lib*/{pattern}")), reverse=True)
    yield "libnvrtc.so"


@cache
def nvrtc() -> Any:
    """Return the library of NVRTC."""
    for path in _libraries():
        with suppress(OSError):
            library = ctypes.CDLL(path)
            library.nvrtcGetErrorString.restype = ctypes.c_char_p
            return library
    raise MissingDependencyError(
        "NVRTC, NVIDIA's compiler at run time, is not found.",
        "PyTorch's CUDA builds for Linux bring it; or pip install nvidia-cuda-nvrtc.",
    )


def compiled(source: Path, defines: Sequence[str], arch: int) -> bytes:
    """Return the machine code of a source for an architecture (90 for compute capability 9.0).

    It is kept in the user's cache folder, under a name that changes with whatever it is made from.
    """
    text, library = source.read_bytes(), nvrtc()
    version = [ctypes.c_int(), ctypes.c_int()]
    library.nvrtcVersion(*map(ctypes.byref, version))
    options = [f"--gpu-architecture=sm_{arch}", "--std=c++17", "--fmad=false", *(f"-D{name}" for name in defines)]
    key = hashlib.sha256(repr((text, options, [x.value for x in version])).encode()).hexdigest()[:32]
    kept = cache_folder() / f"{source.stem}-{key}.cubin"
    with suppress(OSError):
        return kept.read_bytes()
    code = _compile(library, text, source.name, options)
    with suppress(OSError):  # a folder that cannot be written to costs time at each start, nothing else
        kept.parent.mkdir(parents=True, exist_ok=True)
        write(str(kept), code)
    return code


def cache_folder() -> Path:
    """Return the folder of compiled kernels: ``$XDG_CACHE_HOME/wmcc``, or ``~/.cache/wmcc``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wmcc"


def _compile(library: Any, text: bytes, name: str, options: Sequence[str]) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    made = library.nvrtcCreateProgram(ctypes.byref(program), text, name.encode(), 0, None, None)
    if made:
        raise CudaError(f"NVRTC could not begin: {library.nvrtcGetErrorString(made).decode()}.")
    try:
        listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), listed):
            library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            library.nvrtcGetProgramLog(program, log)
            raise CudaError(f"NVRTC could not compile {name} with {' '.join(options)}: {log.value.decode()[:2000]}")
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, code)
        return code.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


# ---- devices and kernels -------------------------------------------------------------------------------------


class Device:
    """A GPU, by number: what it has, and kernels that were loaded to it.

    Parameters
    ----------
    number
        As PyTorch and CUDA number them.
    """

    SHARED, PROCESSORS, MAJOR, MINOR = 97, 16, 75, 76  # the driver's numbers of attributes
    OLDEST = 70

    def __init__(self, number: int) -> None:
        self._cuda = driver()
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        check(self._cuda, self._cuda.cuDeviceGet(ctypes.byref(device), number))
        check(self._cuda, self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), device))
        values = [ctypes.c_int() for _ in range(4)]
        for value, attribute in zip(values, (self.SHARED, self.PROCESSORS, self.MAJOR, self.MINOR), strict=True):
            check(self._cuda, self._cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
        self.shared, self.processors, major, minor = (value.value for value in values)
        self.arch: int = 10 * major + minor
        if self.arch < self.OLDEST:
            raise UnsupportedError(
                f"the GPU has compute capability {major}.{minor}, and the kernel needs 7.0 or later.",
                "use a newer GPU, or count on the CPU.",
            )

    def load(self, source: Path, defines: Sequence[str], names: Sequence[str]) -> list[Kernel]:
        """Return kernels of a source."""
        code = compiled(source, defines, self.arch)
        with self:
            module = ctypes.c_void_p()
            check(self._cuda, self._cuda.cuModuleLoadData(ctypes.byref(module), code))
            return [Kernel(self._cuda, module, name, self.shared) for name in names]

    def __enter__(self) -> None:
        """Make the device the current one."""
        check(self._cuda, self._cuda.cuCtxPushCurrent_v2(self._context))

    def __exit__(self, *_: object) -> None:
        before = ctypes.c_void_p()
        self._cuda.cuCtxPopCurrent_v2(ctypes.byref(before))


class Kernel:
    """A function that a GPU runs."""

    STATIC_SHARED, MOST_SHARED = 1, 8  # the driver's numbers of attributes

    def __init__(self, cuda: Any, module: ctypes.c_void_p, name: str, shared: int) -> None:
        self._cuda, function = cuda, ctypes.c_void_p()
        check(cuda, cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        static = ctypes.c_int()
        check(cuda, cuda.cuFuncGetAttribute(ctypes.byref(static), self.STATIC_SHARED, function))
        check(cuda, cuda.cuFuncSetAttribute(function, self.MOST_SHARED, shared - static.value))
        self._function, self._launch = function.value, cuda.cuLaunchKernel

    def __call__(
        self, device: Device, grid: tuple[int, int], threads: int, shared: int, stream: int, argument: bytes
    ) -> None:
        """Launch it on a stream of a device, with one argument, which is a struct."""
        call = (self._function, *grid, 1, threads, 1, 1, shared, stream, _Argument(argument), None)
        code = self._launch(*call)
        if code in OTHER_CONTEXT:  # another device is the current one; to ask before takes longer than to try
            with device:
                code = self._launch(*call)
        if code:
            check(self._cuda, code)


_Argument = ctypes.c_char_p * 1
