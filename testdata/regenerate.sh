#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes perfdata/quickstart.data, perfdata/off-cpu.data, perfdata/why.perf-script.txt.gz and buildid/ again. As root,
# after a build of the preset release, and of known_path of another preset, whose folder is the argument: build/dev/tests.
# Programs and host get names that tell nothing of the machine they are made on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=/usr/local/bin
install -m 755 -t "$tools" build/release/bin/perftape-record build/release/bin/perftape-burner "$1/known_path"
trap 'rm -f "$tools/perftape-record" "$tools/perftape-burner" "$tools/known_path"' EXIT
strip --strip-debug "$tools/perftape-burner"

out=$(mktemp -d)
unshare --uts sh -ec "hostname example; cd '$out'
  $tools/perftape-record -F 199 -o quickstart.data -- $tools/perftape-burner --seconds 5"
install -m 644 "$out/quickstart.data" testdata/perfdata/quickstart.data
unshare --uts sh -ec "hostname example; cd '$out'
  $tools/perftape-record --no-bundle -e cpu-clock,offcpu -F 499 -o off-cpu.data -- \
    sh -c 'for i in 1 2 3; do sleep 0.05; md5sum /bin/bash > /dev/null; done'"
install -m 644 "$out/off-cpu.data" testdata/perfdata/off-cpu.data
# As text it has the names of the functions, and is small.
unshare --uts sh -ec "hostname example; cd '$out'
  $tools/perftape-record --why -o why.data -- $tools/known_path pool"
build/release/bin/perftape-convert "$out/why.data" --comm 'known_path,swapper' --event 'cpu-clock,offcpu-*,wakeup' \
  -o "$out/why.perf-script.txt"
gzip -9 -n < "$out/why.perf-script.txt" > testdata/perfdata/why.perf-script.txt.gz
rm -r "$out"

id=$(readelf -n "$tools/perftape-burner" | sed -n 's/.*Build ID: //p')
rm -rf testdata/buildid
install -D -m 755 "$tools/perftape-burner" "testdata/buildid$tools/perftape-burner/$id/elf"
mkdir -p "testdata/buildid/.build-id/${id:0:2}"
ln -s "../..$tools/perftape-burner/$id" "testdata/buildid/.build-id/${id:0:2}/${id:2}"
