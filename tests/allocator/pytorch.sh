# Sourced. `pytorch VERSION` makes an environment with an unmodified PyTorch and the stub driver, and sets:
#
#   torch_python   its Python
#   torch_stub     folder with the stub driver, for LD_LIBRARY_PATH
#
# Where that is not possible it returns 1, with the reason in torch_missing. PyTorch is downloaded once (540 MB per
# version) and kept in $MEMSCAPE_TOOLS/torch-VERSION.

pytorch() {
    local version=$1 program
    local folder=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/torch-$version
    # PyTorch without CUDA's libraries, the packages that it imports, and pytest.
    local packages=("torch==$version" typing_extensions==4.16.0 sympy==1.14.0 mpmath==1.4.1 networkx==3.6.1
        jinja2==3.1.6 markupsafe==3.0.4 filelock==4.3.1 fsspec==2026.9.0 pytest==9.2.0 iniconfig==2.3.1
        packaging==26.4 pluggy==1.7.0 pygments==2.21.0)
    torch_python=$folder/venv/bin/python torch_stub=$folder/stub torch_missing=
    [[ $(uname -s) == Linux ]] || { torch_missing="its wheels have CUDA on Linux only"; return 1; }
    for program in python3 cc readelf nm; do
        command -v "$program" >/dev/null 2>&1 || { torch_missing="no $program"; return 1; }
    done
    if [[ $(cat "$folder/venv/.complete" 2>/dev/null) != "${packages[*]}" ]]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        python3 -m venv "$folder/venv" >/dev/null 2>&1 || { torch_missing="python3 has no venv"; return 1; }
        if ! "$torch_python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
            --only-binary=:all: "${packages[@]}" >/dev/null 2>&1; then
            rm -rf "$folder"
            torch_missing="PyPI has no wheel of ${packages[0]} for this machine and Python, or is not reachable"
            return 1
        fi
        printf '%s' "${packages[*]}" >"$folder/venv/.complete"
    fi
    if ! compgen -G "$folder/venv/lib/python*/site-packages/torch/lib/libtorch_cuda.so" >/dev/null; then
        torch_missing="its wheel for this machine has no CUDA"
        return 1
    fi
    local sources
    sources=$(cat tests/allocator/stub_driver.c tests/allocator/build_stub.py | cksum)
    if [[ $(cat "$torch_stub/.complete" 2>/dev/null) != "$sources" ]]; then
        rm -rf "$torch_stub"
        "$torch_python" tests/allocator/build_stub.py "$torch_stub"
        printf '%s' "$sources" >"$torch_stub/.complete"
    fi
}
