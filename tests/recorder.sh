#!/usr/bin/env bash
# Tests the recorder with a real PyTorch. Its allocator runs on a stub of the CUDA driver, so no GPU is needed. Called by
# `./run test`, and runs alone as well:
#
#   tests/recorder.sh [SKIPPED] [--all] [NAME...]   the reason for skipping is appended to the file SKIPPED
#   tests/recorder.sh /dev/stderr signal oom        only tests whose names contain one of these
#
#   --all                  also slow tests, all of them with older versions of PyTorch, and in trainers and experiment trackers
#   MEMSCAPE_BINARY=PATH   program to ask about snapshots, instead of a debug build of this checkout
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skipped=${1:-/dev/stderr}
versions=(2.15.0)
chosen="not slow"
shift $(($# > 0))
trainers=
case ${1:-} in
    --all) versions+=(2.11.0 2.6.0) chosen= trainers=yes && shift ;;
    --ci) shift ;;
esac
names=$*
. tests/allocator/pytorch.sh
. tests/program.sh

program=${MEMSCAPE_BINARY:-}
[[ -n $program ]] || build_program

for version in "${versions[@]}"; do
    if ! pytorch "$version"; then
        printf 'recorder with PyTorch %s: %s\n' "$version" "$torch_missing" >>"$skipped"
        continue
    fi
    MEMSCAPE_BINARY=$program LD_LIBRARY_PATH=$torch_stub PYTHONPATH=$PWD/src/python PYTHONDONTWRITEBYTECODE=1 \
        OMP_NUM_THREADS=1 TORCH_CPP_LOG_LEVEL=ERROR \
        "$torch_python" -W ignore:"Failed to initialize NumPy" -m pytest -p no:warnings tests/recorder_torch -m "$chosen" ${names:+-k "${names// / or }"}
done

[[ -n $trainers ]] || exit 0
# Trainers and trackers without their dependencies on CUDA, for the newest PyTorch.
packages=(transformers==5.23.0 accelerate==1.15.0 lightning==2.6.6 lightning-utilities==0.15.3 torchmetrics==1.9.0 torchtitan==0.3.0
    tyro==1.0.17 docstring_parser==0.18.0 tokenizers==0.23.3 safetensors==0.8.0 huggingface_hub==2.4.0 hf-xet==1.8.0 httpx==0.28.1
    httpx2==2.16.2 httpcore==1.0.9 httpcore2==2.16.2 truststore==0.10.5 h11==0.16.0 anyio==4.16.0 certifi==2026.10.19.post1 idna==3.20 requests==2.34.2
    typer==0.29.2 shellingham==1.5.4 regex==2026.11.19 tqdm==4.70.1 PyYAML==6.0.4 psutil==7.2.2 numpy==2.4.6 tensorboard==2.21.0
    tensorboard-data-server==0.7.2 absl-py==2.5.1 grpcio==1.85.3 Markdown==3.11.3 Werkzeug==3.1.9 protobuf==7.36.2 pillow==13.0.0)
servers=(megatron-bridge==0.3.1)
trackers=(mlflow-skinny==3.17.2 wandb==0.31.0 sqlalchemy==2.1.9 alembic==1.20.1)
folder=${MEMSCAPE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/memscape-build}/trainers
pytorch "${versions[0]}" || exit 0
if [[ $(cat "$folder/.complete" 2>/dev/null) != "${packages[*]} ${servers[*]} ${trackers[*]}" ]]; then
    rm -rf "$folder" "$folder-trackers"
    install=("$torch_python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all:)
    if ! { "${install[@]}" --no-deps --target "$folder" "${packages[@]}" "${servers[@]}" &&
        "${install[@]}" --target "$folder-trackers" "${trackers[@]}"; } >/dev/null 2>&1; then
        rm -rf "$folder" "$folder-trackers"
        echo "the recorder in trainers: PyPI has no wheels of them for this machine and Python, or is not reachable" >>"$skipped"
        exit 0
    fi
    printf '%s' "${packages[*]} ${servers[*]} ${trackers[*]}" >"$folder/.complete"
fi
LD_LIBRARY_PATH=$torch_stub PYTHONPATH=$PWD/src/python:$folder:$folder-trackers PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    TORCH_CPP_LOG_LEVEL=ERROR "$torch_python" -m pytest -p no:warnings -rs tests/trainers
