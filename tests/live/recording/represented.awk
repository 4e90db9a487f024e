# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# represented.awk - of `perf script -F event,period`: for how many samples those stand, at -v each=PERIOD
/cpu-clock/ { sum += int($1 / each + 0.5) }
END { print sum + 0 }
