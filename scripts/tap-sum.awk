# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# tap-sum.awk - adds up one test program's TAP, and prints "PASSED FAILED SKIPPED"
#
#	awk -v status=EXIT_STATUS -v name=NAME -f tap-sum.awk LOG
#
# It lists on stderr which tests failed and which were skipped.  A program that ends early (fewer results
# than its plan has), that prints nothing, or that fails without naming a test, has failed.

function report(text) {
	print "  " name ": " text > "/dev/stderr"
}

/^1\.\.[0-9]+/ {
	planned += substr($1, 4)
	plans++
	if (tolower($0) ~ /^1\.\.0.*# *skip/) {
		skipped++
		report("skipped " $0)
	}
	next
}
# cmocka writes "not ok 3 # SKIP name" after the line with the reason; bats "ok 3 name # skip reason".
/^(not )?ok [0-9]+/ {
	seen++
	if (tolower($0) ~ /# *skip/) {
		skipped++
		report($0 (/^not ok/ && before != "" ? " (" before ")" : ""))
	} else if (/^ok/) {
		passed++
	} else {
		failed++
		report($0)
		showing = 1
	}
	if (/^ok/)
		showing = 0
	before = ""
	next
}
# cmocka's own result of an entire program, which names no test.
/^# (not )?ok - / { next }
showing && /^#/ { report("   " $0) }
{ before = $0 }

END {
	if (seen < planned) {
		report("ended early: " seen " results of " planned " (exit status " status ")")
		failed += planned - seen
	} else if (!plans || (status != 0 && !failed)) {
		report((plans ? "" : "no plan, ") "exit status " status)
		failed++
	}
	print passed + 0, failed + 0, skipped + 0
}
