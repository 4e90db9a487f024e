# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# frames_of_samples.awk - reads `perf script` or `ebprec script` with -F comm,time,ip,sym,dso: a sample a line, with its time and
# its frames as "address(file)"
/^[^ \t]/ { printf "%s%s", (NR > 1 ? "\n" : ""), $2; next }
NF { printf " %s%s", $1, $NF }
END { print "" }
