"""Build llama-cpp-python the short way and install it into the running environment.

The package on PyPI compiles all of llama.cpp, most of which Python never calls.  This builds the one
library that it does call (about a third of the compile time), puts it into the package's own wheel and
keeps that wheel in the user's cache, so that the next checkout installs in seconds.  If any step fails,
the plain `pip install` does the same job slowly.  Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "0.3.36"
BUILD_TOOLS = ["cmake==4.4.4", "ninja==1.13.2", "wheel==0.48.0"]
LIBRARIES = ("llama", "ggml", "ggml-base", "ggml-cpu")
CMAKE_FLAGS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
    "-DCMAKE_INSTALL_RPATH=$ORIGIN",
    "-DLLAMA_BUILD_COMMON=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_TOOLS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAMA_CURL=OFF",
]


def say(text: str) -> None:
    print(f"[llama.cpp] {text}", flush=True)


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, env=env)


def pip(*arguments: str | Path, env: dict[str, str] | None = None) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments, env=env)


def fault() -> str | None:
    """None when this version is there and its library really loads, otherwise the reason in one line."""
    check = f"import llama_cpp as l; assert l.__version__ == '{VERSION}', l.__version__; l.llama_backend_init()"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def portable() -> bool:
    """llama.cpp's portable x86 build still wants AVX2; an older processor needs a build for itself alone."""
    if platform.machine() != "x86_64":
        return False
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def cache() -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kind = "portable" if portable() else platform.node()
    return root / "trimtab" / f"llama-cpp-python-{VERSION}-{platform.machine()}-{kind}"


def shared_libraries(build: Path) -> list[Path]:
    """The built libraries under the plain names that the Python package looks for."""
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    found = [next(build.rglob(f"lib{name}{suffix}"), None) for name in LIBRARIES]
    missing = [name for name, path in zip(LIBRARIES, found, strict=True) if path is None]
    if missing:
        raise FileNotFoundError(f"the build left no library for {', '.join(missing)}")
    return [path for path in found if path is not None]


def build(jobs: int, work: Path) -> Path:
    """Compile in `work` and return the finished wheel."""
    say(f"fetching the source of llama-cpp-python {VERSION} (77 MB)")
    pip("install", "--quiet", *BUILD_TOOLS)
    pip(
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        "llama-cpp-python",
        f"llama-cpp-python=={VERSION}",
        "-d",
        work,
    )
    with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
        archive.extractall(work, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(work)
    source = next(path for path in work.glob("llama_cpp_python-*") if path.is_dir())

    tools = Path(sys.executable).parent
    cmake, ninja, output = tools / "cmake", tools / "ninja", work / "build"
    say(f"compiling with {jobs} jobs: 3 to 6 minutes on two cores, once per machine")
    native = "OFF" if portable() else "ON"
    versioned = "-DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON"  # one file per library instead of three links
    run(cmake, "-S", source / "vendor/llama.cpp", "-B", output, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}",
        *CMAKE_FLAGS, versioned, f"-DGGML_NATIVE={native}", "--log-level=WARNING")  # fmt: skip
    run(cmake, "--build", output, "--target", "llama", "--parallel", str(jobs))

    say("packing")
    flags = {**os.environ, "CMAKE_ARGS": "-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF"}
    pip("wheel", "--quiet", "--no-deps", "--no-cache-dir", source, "-w", work / "pure", env=flags)
    run(sys.executable, "-m", "wheel", "unpack", next((work / "pure").glob("*.whl")), "-d", work / "tree")
    tree = next((work / "tree").iterdir())
    (tree / "llama_cpp/lib").mkdir(parents=True, exist_ok=True)
    for library in shared_libraries(output):
        shutil.copy2(library.resolve(), tree / "llama_cpp/lib" / library.name)
    (work / "out").mkdir()
    run(sys.executable, "-m", "wheel", "pack", tree, "-d", work / "out")
    return next((work / "out").glob("*.whl"))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    jobs = options.parse_args().jobs
    if fault() is None:
        return 0
    kept = next(iter(sorted(cache().glob("*.whl"))), None)
    try:
        if kept is None:
            with tempfile.TemporaryDirectory(prefix="trimtab-llama-") as work:
                made = build(jobs, Path(work))
                cache().mkdir(parents=True, exist_ok=True)
                kept = Path(shutil.copy2(made, cache() / made.name))
        pip("install", "--quiet", "--force-reinstall", "--no-deps", kept)
        why = fault()
        if why is None:
            say(f"ready ({kept.name})")
            return 0
        say(f"the short build does not load here: {why}")
    except (subprocess.CalledProcessError, OSError, StopIteration) as error:
        say(f"the short build failed: {error}")
    shutil.rmtree(cache(), ignore_errors=True)
    say("falling back to the plain install: 5 to 15 minutes")
    pip("install", "--verbose", "--force-reinstall", f"llama-cpp-python=={VERSION}")
    if why := fault():
        say(f"llama-cpp-python does not load: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
