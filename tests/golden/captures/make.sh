#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# make.sh BUILD_DIR - makes the captures beside it
#
# They are in git, not made for each run: a reader must go on to read yesterday's files, and sizes
# differ between versions of libzstd.  Run this only when the format itself changes.
set -eu

gen=$(cd "$1" && pwd)/tests/lib/gen/gen_capture
cd "$(dirname "$0")"

"$gen" -o finished.data --samples 600 --pids 3 --cpus 2 --symbols 4 --depth 5 --flush 100 --object 300
size=$(stat -c %s finished.data)
# Cut in the middle of its second flush; one wrong byte in the middle; only a header.
head -c $((size * 6 / 10)) finished.data >cut.data
cp finished.data flipped.data
printf '\252' | dd of=flipped.data bs=1 seek=$((size * 5 / 10)) conv=notrunc status=none
head -c 2000 finished.data >head.data
# Still being written, or its recorder was killed.
"$gen" -o live.data --samples 200 --pids 2 --cpus 2 --symbols 4 --depth 3 --flush 100 --live
