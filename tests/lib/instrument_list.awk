# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# instrument_list.awk - the output of record --list: each instrument has its needs, costs and whether it works, and six
# their options
/^[a-z]/ { name = $1; names++; next }
/^ +needs: ./ { needs[name]++; next }
/^ +costs: .*[a-z]/ { costs[name]++; next }
/^ +here:  (yes$|no, .)/ { here[name]++; next }
$0 == "         takes: --with heap:lib=FILE,sample-bytes=N" { own += name == "heap"; next }
$0 == "         takes: --with journal:priority=LEVEL,units=UNIT+..." { own += name == "journal"; next }
/^ +takes: --with (dbus:bus=BUS|kmem:sample-bytes=N|pmu:EVENT,\.\.\.|net:each)$/ { own += index($3, name ":") == 1; next }
/^ +without BPF it needs: .*; costs: .*[a-z].*; here: (yes$|no, .)/ { next }
{ print "not expected: " $0; bad = 1 }
END {
	for (n in needs) if (needs[n] != costs[n] || costs[n] != here[n]) { print n; bad = 1 }
	exit bad || names < 12 || own != 6
}
