#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that all C and C++ files are as clang-format 14 would write them: check_format.sh [ROOT]
# Another version formats otherwise, so it is refused.
set -euo pipefail
root=$(cd "${1:-$(dirname "$0")/../..}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

format=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format || true)}
if [[ -z $format ]]; then
  echo "clang-format 14 is not installed (Debian: clang-format-14)" >&2
  exit 1
fi
if ! "$format" --version | grep -q 'version 14\.'; then
  echo "$format is not version 14: $("$format" --version)" >&2
  exit 1
fi

cd "$root"
PYTHONPATH=$here python3 -B -c '
import sources
from pathlib import Path
print("\0".join(str(path) for path in sources.code_files(Path(".").resolve())), end="")
' | xargs -0 --no-run-if-empty -n 40 -P 2 "$format" --style=file --dry-run -Werror || exit 1
