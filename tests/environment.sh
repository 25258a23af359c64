# Creates Python environments for tests. Sourced by tests/python.sh and tests/fleet.sh.

# Folder of tools that are kept between runs.
tools=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}

# environment NAME PACKAGES...: creates a virtual environment with these packages if there is none yet. Fails without
# python3 or PyPI. All versions are pinned, so that only a change of them can cause a failure.
environment() {
    local folder=$tools/$1
    shift
    [[ $(cat "$folder/.complete" 2>/dev/null) == "$*" ]] && return
    rm -rf "$folder"
    mkdir -p "$tools"
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"; } >/dev/null 2>&1 || return
    printf '%s' "$*" >"$folder/.complete"
}
