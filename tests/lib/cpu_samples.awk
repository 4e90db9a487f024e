# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# cpu_samples.awk - of `perf script -F event,pid,cpu,time` or `-F event,comm,cpu,time`, without brackets and colons
#
# Prints the samples of -v thread=PID or COMM on CPU 0, those on CPU 1, and those of any thread on CPU 1 between -v from=NS and
# -v to=NS.
$4 != "cpu-clock" && $4 != "cycles" { next }
$2 == "001" && $3 > from / 1e9 && $3 < to / 1e9 { during++ }
$1 == thread { n[$2]++ }
END { print n["000"] + 0, n["001"] + 0, during + 0 }
