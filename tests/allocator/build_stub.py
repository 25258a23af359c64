"""build_stub.py FOLDER: builds the stub driver for the PyTorch of this environment. FOLDER then goes on LD_LIBRARY_PATH.

One shared library stands for all libraries of CUDA that PyTorch is linked with: other names are links to it. Functions
that stub_driver.c does not have are generated and return 0. Symbols keep their versions, which the loader checks. Needs
cc and binutils.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("stub_driver.c")
# Opened by name at run time. All others are needed by a library of PyTorch.
OPENED = {"libcuda.so.1", "libnvidia-ml.so.1"}
CUDA_LIBRARY, CUDA_FUNCTION = re.compile(r"lib(cu|nv|nccl)"), re.compile(r"_*(cu|nv|nccl)")
# The driver's and NVML's functions are looked up by their name, which is a string in the library.
LOOKED_UP = re.compile(rb"\0((?:cu|nvml)[A-Z]\w+)(?=\0)")
SYSTEM_VERSION = ("GLIBC", "GCC_", "CXXABI", "GOMP", "OMP")


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def needed_names(libraries: list[Path]) -> set[str]:
    """Names of the CUDA libraries that these libraries are linked with."""
    names = {name for path in libraries for name in re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", path))}
    return {name for name in names - {path.name for path in libraries} if CUDA_LIBRARY.match(name)} | OPENED


def imported_functions(libraries: list[Path]) -> dict[str, str]:
    """Names and symbol versions of the CUDA functions that these libraries import or look up."""
    imported, defined = {}, set()
    for path in libraries:
        for line in run("nm", "-D", path).splitlines():
            kind, symbol = line.split()[-2:]
            name, _, version = symbol.replace("@@", "@").partition("@")
            if kind != "U":
                defined.add(name)
            elif CUDA_FUNCTION.match(name) and not version.startswith(SYSTEM_VERSION):
                imported[name] = version
    for path in libraries:
        if "_cuda" in path.name:
            for found in LOOKED_UP.findall(path.read_bytes()):
                imported.setdefault(found.decode(), "")
    return {name: version for name, version in imported.items() if name not in defined}


def build(folder: Path) -> str:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("PyTorch is not installed in this environment")
    libraries = sorted((Path(spec.origin).parent / "lib").glob("*.so*"))
    names, imported = needed_names(libraries), imported_functions(libraries)
    runtime = [name for name in names if name.startswith("libcudart.so.")]
    if runtime not in (["libcudart.so.12"], ["libcudart.so.13"]):
        sys.exit(f"stub_driver.c has the layouts of CUDA 12 and 13, but this PyTorch needs {runtime}")
    major = runtime[0].rpartition(".")[2]
    folder.mkdir(parents=True, exist_ok=True)
    compiled, generated, script = folder / "stub_driver.o", folder / "generated.c", folder / "versions"
    run("cc", "-c", "-O2", "-fPIC", "-Wall", "-Wextra", f"-DCUDA_MAJOR={major}", SOURCE, "-o", compiled)
    written = {line.split()[-1] for line in run("nm", "--defined-only", "-g", compiled).splitlines()}
    missing = sorted(imported.keys() - written)
    lines = [f'long {name}(void) {{ static int seen; return stub_generated("{name}", &seen); }}\n' for name in missing]
    generated.write_text("".join(["long stub_generated(const char *name, int *seen);\n", *lines]))
    versions: dict[str, list[str]] = {}
    for name in sorted(imported.keys() | written):
        versions.setdefault(imported.get(name) or "STUB", []).append(name)
    local = {"STUB": " local: *;"}
    script.write_text(
        "".join(f"{key} {{ global: {'; '.join(found)};{local.get(key, '')} }};\n" for key, found in versions.items())
    )
    output = folder / runtime[0]
    options = ["-shared", "-O1", "-fPIC", "-w", f"-Wl,-soname,{output.name}", f"-Wl,--version-script,{script}"]
    run("cc", *options, compiled, generated, "-o", output, "-ldl", "-lpthread")
    for name in names - {output.name}:
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(output.name)
    return f"{len(written)} functions, {len(missing)} generated ones, for {len(names)} libraries"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"   stub driver: {build(Path(sys.argv[1]))}")
