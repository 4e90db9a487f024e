#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec journal: lines of journals that systemd-journal-remote made, with known times and boots, become marks.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# The captures of gen_story have 1 s on the clock of the machine at 1700000000 s of the day's.
booted_s=1699999999
this=11111111111111111111111111111111

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	remote=/lib/systemd/systemd-journal-remote
	[ -x "$remote" ] || skip "needs systemd-journal-remote"
	{
		echo "0 fork 1 100 100"
		echo "0 comm 100 100 app"
		echo "1000000000 sample 100 100 0 1000000 u:0x400100"
		echo "1200000000 sample 100 100 0 1000000 u:0x400100"
		echo "1500000000 mark 0 100 100 0 0 0 app done"
		echo "2000000000 sample 100 100 0 1000000 u:0x400200"
	} | gen_story x.data
}

# line MONOTONIC_US BOOT PRIORITY [FIELD=VALUE...] - of a journal, as journalctl -o export has it
line() {
	local us=$1 boot=$2 priority=$3
	shift 3
	printf '__REALTIME_TIMESTAMP=%s\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\nPRIORITY=%s\n' \
		"$((${booted:-$booted_s} * 1000000 + us))" "$us" "$boot" "$priority"
	printf '%s\n' "$@" ""
}

journal() {
	{
		line 900000 "$this" 3 _SYSTEMD_UNIT=app.service "MESSAGE=before it began"
		line 1100123 "$this" 3 _PID=100 SYSLOG_IDENTIFIER=app _SYSTEMD_UNIT=app.service \
			"_CMDLINE=app --secret" "MESSAGE=request timeout after 5 s"
		line 1300456 "$this" 6 _TRANSPORT=kernel "MESSAGE=eth0: link is up"
		line 1400789 "$this" 7 SYSLOG_IDENTIFIER=tool "MESSAGE=for debugging"
		line 1600001 "$this" 4 _PID=1 SYSLOG_IDENTIFIER=systemd UNIT=db.service _SYSTEMD_UNIT=init.scope \
			"MESSAGE=failed"
		line 2000001 "$this" 3 _SYSTEMD_UNIT=app.service "MESSAGE=behind its end"
	} >lines
	# The boot before had the same times of its own clock.
	booted=$((booted_s - 3)) line 1100123 22222222222222222222222222222222 2 "MESSAGE=another boot" >other
	"$remote" -o this.journal lines 2>/dev/null
	"$remote" -o other.journal other 2>/dev/null
}

# marks FILE - time since the first sample, group, name, text
shown() {
	ebprec marks --json "$1" | jq -r '.marks[] | [.time_ns, .pid, .group, .name, .text] | @tsv'
}

@test "lines have the time of their arrival to the microsecond, their unit and level; other times and boots have none" {
	journal
	ebprec journal --journal this.journal --journal other.journal x.data 2>err
	contains "$(cat err)" "ebprec: replaced 'x.data': 3 lines of the journal"
	shown x.data >got
	printf '%s\n' $'1100123000\t100\tlog:err\tapp.service\tapp: request timeout after 5 s' \
		$'1300456000\t0\tlog:info\tkernel\teth0: link is up' \
		$'1500000000\t100\tapp\tdone\t' \
		$'1600001000\t1\tlog:warning\tdb.service\tsystemd: failed' >want
	diff want got
	! grep -a secret x.data || fail "a command line is in the capture"
}

@test "--priority and --units choose, a folder is a journal, and the capture is not changed by --output" {
	journal
	mkdir folder
	mv this.journal folder/
	cp x.data before
	ebprec journal -q --journal folder --priority debug --units tool,kernel -o y.data x.data
	cmp before x.data
	same "log:info kernel log:debug tool app done " "$(shown y.data | awk -F '\t' '{ print $3, $4 }' | sort -r | tr '\n' ' ')"
	ebprec journal -q --journal folder --priority err -o y.data x.data
	same "log:err" "$(shown y.data | grep log | cut -f 3)"
}

@test "a line is of the unit that the journal knows of its sender, not of one that it names" {
	line 1100123 "$this" 3 _PID=100 SYSLOG_IDENTIFIER=app _SYSTEMD_UNIT=app.service UNIT=db.service \
		"MESSAGE=not of the database" >lines
	"$remote" -o this.journal lines 2>/dev/null
	ebprec journal -q --journal this.journal x.data
	same app.service "$(shown x.data | grep log:err | cut -f 4)"
}

@test "times are chosen by the text of a line" {
	journal
	ebprec journal -q --journal this.journal x.data
	same 1 "$(ebprec report -q --json --between 'log:/time ?out/' app/done x.data | jq .sum)"
	same 1 "$(ebprec report -q --json --between 'log:err:/timeout/' 'log:/link/' x.data | jq .sum)"
	refuses ebprec report --between 'log:/no such/' app/done x.data
	contains "$stderr" "log:/no such/"
	refuses ebprec report --between 'log:/(/' app/done x.data
	ebprec summary -q x.data >page
	grep -q '^ *log:err *app.service *1 ' page || fail "$(cat page)"
}

@test "info counts lines by unit, of a scrubbed capture, too; another capture has none" {
	journal
	line 1150000 "$this" 2 _SYSTEMD_UNIT=app.service "MESSAGE=and again" >again
	"$remote" -o again.journal again 2>/dev/null
	! ebprec info x.data | grep -q '^ *unit ' || fail "$(ebprec info x.data)"
	same '[]' "$(ebprec info --json x.data | jq -c .log_lines)"
	ebprec journal -q --journal this.journal --journal again.journal x.data
	ebprec scrub -q -o s.data x.data
	for capture in x.data s.data; do
		ebprec info --json $capture | jq -r '.log_lines[] | [.unit, .lines, .errors, .warnings] | @tsv' >got
		printf '%s\n' $'app.service\t2\t2\t0' $'kernel\t1\t0\t0' $'db.service\t1\t0\t1' >want
		diff want got
	done
	ebprec info x.data | grep -qE '^ *app\.service +2 +2 +0$' || fail "$(ebprec info x.data)"
}

@test "scrub drops the texts of lines, and leaves times and units" {
	journal
	ebprec journal -q --journal this.journal x.data
	ebprec scrub -q -o s.data x.data
	same $'1100123000\tlog:err\tapp.service\t' "$(shown s.data | grep log:err | cut -f 1,3-5)"
	! ebprec script s.data 2>/dev/null | grep -q timeout || fail "it is there"
}

@test "what is no journal, no capture of ours, or has its lines is refused, and stays as it was" {
	journal
	cp x.data before
	refuses ebprec journal --journal nowhere x.data
	contains "$stderr" "cannot read the journal 'nowhere': No such file"
	refuses ebprec journal --journal lines x.data
	refuses ebprec journal --journal /dev/null x.data
	cmp before x.data
	run ebprec journal --priority loud x.data
	[ "$status" -eq 2 ]
	ebprec journal -q --journal this.journal x.data
	refuses ebprec journal --journal this.journal x.data
	contains "$stderr" "cannot add to 'x.data': it has lines of the journal already"
	if [ "$(id -u)" -eq 0 ]; then
		chmod 600 this.journal
		cp before o.data && chmod 666 o.data && chmod 777 .
		refuses as_unprivileged "$(command -v ebprec)" journal -o /dev/null --journal this.journal o.data
	fi
}
