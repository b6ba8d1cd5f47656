"""The compiled part of mfopt. Everything else about the package stands in pyproject.toml.

Environment variables read here:
    MFOPT_PLAIN_C=1   plain C for the machine's baseline: no run-time dispatch on the instruction set
    MFOPT_DEBUG=1     bounds checks in Cython and of the block structures, little optimisation, debug symbols
    MFOPT_SANITIZE=1  AddressSanitizer and UndefinedBehaviorSanitizer (run Python with libasan preloaded)
"""

import os
import sys

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup


def switched_on(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


debug = switched_on("MFOPT_DEBUG")
# No -ffast-math: NaN checks must work, and it would set flush-to-zero for the whole process at link time.
if os.name == "posix":
    # These three only let loops be vectorised; they change no result. Debug symbols take a fifth of the compile time.
    compile_args = ["-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-pthread"]
    compile_args += ["-O1", "-g"] if debug else ["-O3", "-g0"]
else:  # MSVC, which knows `restrict` from C11 on
    compile_args = ["/std:c11", "/Od" if debug else "/O2"]
link_args = ["-pthread"] if os.name == "posix" else []
macros = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
if debug:
    macros.append(("MFOPT_DEBUG", "1"))
if switched_on("MFOPT_PLAIN_C"):
    macros.append(("MFOPT_PLAIN_C", "1"))
if switched_on("MFOPT_SANITIZE"):
    sanitizers = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"]
    compile_args += sanitizers
    link_args += sanitizers
if sys.platform == "linux" and not debug:
    link_args.append("-Wl,-s")  # no symbols in the shipped binary

rows = (
    "mfopt_rows",
    {
        "sources": [f"mfopt_core/src/{name}.c" for name in ("rows", "columns", "crew")],
        "include_dirs": ["mfopt_core/src"],
        "macros": macros,
        "cflags": compile_args,
    },
)
extensions = [
    Extension(
        f"mfopt_core.{name}",
        [f"mfopt_core/{name}.pyx"],
        include_dirs=["mfopt_core/src", numpy.get_include()],
        depends=[
            f"mfopt_core/src/{name}" for name in ("rows.h", "dispatch.h", "rows.c", "columns.c", "crew.h", "crew.c")
        ],
        define_macros=macros,
        extra_compile_args=compile_args,
        extra_link_args=link_args,
    )
    for name in (
        "_memory",
        "_arrays",
        "_cholesky",
        "_correlation",
        "_bessel",
        "_kernels",
        "_mixture",
        "_data",
        "_process",
        "_posterior",
        "_likelihood",
        "_gp",
        "_locks",
        "_columns",
        "_tracker",
        "_tracked",
        "_argmax",
        "_ucb",
        "_slots",
        "_level",
        "_level_likelihood",
        "_pair",
        "_improvement",
        "_bound",
        "_direct",
        "_step",
        "_ascent",
        "_search",
    )
]

setup(
    libraries=[rows],  # compiled once, linked into every extension
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        extensions,
        compiler_directives={
            "language_level": "3",
            "boundscheck": debug,
            "wraparound": False,
            "initializedcheck": debug,
            "cdivision": True,
            "embedsignature": False,
        },
        force=debug,
    ),
)
