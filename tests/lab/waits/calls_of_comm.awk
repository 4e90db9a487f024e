# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# calls_of_comm.awk - of `perf trace -s`: how often the threads called -v comm=COMM made the system call -v name=NAME
/, [0-9]+ events, / { is_theirs = $1 == comm }
is_theirs && $1 == name { calls += $2 }
END { print calls + 0 }
