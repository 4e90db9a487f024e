#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec dbus: messages of files with known times and serial numbers become spans and marks.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# 1 s on the clock of the machine is 1700000000 s of the day's.
	{
		echo "0 fork 1 100 100"
		echo "0 comm 100 100 app"
		echo "1000000000 sample 100 100 0 1000000 u:0x400100"
		echo "1200000000 sample 100 100 0 1000000 u:0x400100"
		echo "1300000000 sample 100 100 0 1000000 u:0x400100"
		echo "1500000000 mark 0 100 100 0 0 0 app done"
		echo "2000000000 sample 100 100 0 1000000 u:0x400200"
	} | gen_story x.data
	cat >messages <<-'END'
		1699999999900000 call 8 0 :1.5 org.a.Server org.a.Work Before
		1700000000100000 call 9 0 :1.5 org.a.Server org.a.Work Slow
		1700000000150000 call 9 0 :1.6 org.a.Server org.a.Work Fast
		1700000000150020 return 40 9 :1.2 :1.6 - -
		1700000000200000 signal 41 0 :1.2 - org.a.Work Changed
		1700000000250000 call 10 0 :1.6 org.none org.a.Work Lost org.b
		1700000000250500 error 3 10 org.freedesktop.DBus :1.6 - - org.freedesktop.DBus.Error.ServiceUnknown
		1700000000300000 oneway 11 0 :1.6 org.a.Server - Forget
		1700000000350007 return 42 9 :1.2 :1.5 - -
		1700000000400000 call 12 0 :1.6 org.a.Server org.a.Work Never
		1700000000450000 return 43 77 :1.2 :1.9 - -
		1700000001900000 signal 44 0 :1.2 - org.a.Work After
	END
	cat >want <<-'END'
		1150020000	20000	dbus:call	org.a.Work.Fast	from :1.6 to org.a.Server
		1200000000	0	dbus:signal	org.a.Work.Changed	from :1.2
		1250500000	500000	dbus:call	org.a.Work.Lost	from :1.6 to org.none, error org.freedesktop.DBus.Error.ServiceUnknown
		1300000000	0	dbus:call	Forget	from :1.6 to org.a.Server, no reply wanted
		1350007000	250007000	dbus:call	org.a.Work.Slow	from :1.5 to org.a.Server
		1400000000	0	dbus:call	org.a.Work.Never	from :1.6 to org.a.Server, no reply
		1500000000	0	app	done	-
	END
}

# shown FILE - when each mark ended, how long it took, its group, name and text
shown() {
	ebprec marks --json "$1" | jq -r '.marks[] | [.time_ns, .duration_ns, .group, .name, (.text | if . == "" then "-" else . end)] | @tsv'
}

@test "calls are joined with their replies by caller and serial number, whatever the order of bytes, without bodies" {
	for order in little big; do
		"$TEST_LIB/dbus_messages.pl" $order <messages >x.pcap
		ebprec dbus --messages x.pcap -o $order.data x.data 2>err
		same "ebprec: wrote '$order.data': 6 calls and signals of D-Bus" "$(cat err)"
		shown $order.data | diff want -
		! grep -a secret $order.data || fail "a body is in the capture"
		# perf reads them, too.
		perf script -i $order.data 2>/dev/null | grep -c 'ebprec:mark' >count
		same 7 "$(cat count)"
	done
}

@test "spans and messages choose times" {
	"$TEST_LIB/dbus_messages.pl" <messages >x.pcap
	ebprec dbus -q --messages x.pcap x.data
	same "app 2" "$(ebprec report -q --folded --during org.a.Work.Slow -i x.data | sed 's/;.* / /')"
	same "app 1" "$(ebprec report -q --folded --between 'dbus:/ServiceUnknown/' app/done -i x.data | sed 's/;.* / /')"
}

@test "a second time, files cut and damaged, other files, and no source: a line each, the capture stays" {
	"$TEST_LIB/dbus_messages.pl" <messages >x.pcap
	cp x.data before
	head -c -10 x.pcap >cut.pcap
	ebprec dbus --messages cut.pcap -o y.data x.data 2>err
	contains "$(head -1 err)" "ebprec: 'cut.pcap' is cut: its last"
	run ebprec dbus --messages x.pcap y.data
	same "1 ebprec: cannot add to 'y.data': it has calls and signals of D-Bus already" "$status $output"
	run ebprec dbus --messages x.data x.data
	same "1 ebprec: cannot read messages of 'x.data': it is neither a pcap nor a pcapng file" "$status $output"
	{ head -c 20 x.pcap; printf '\1\0\0\0'; } >ether.pcap
	run ebprec dbus --messages ether.pcap x.data
	same "1 ebprec: cannot read messages of 'ether.pcap': it has no messages of D-Bus" "$status $output"
	run ebprec dbus x.data
	same "2 ebprec: 'ebprec dbus' needs '--messages FILE' or '--bus BUS' (see 'ebprec dbus --help')" "$status $output"
	run ebprec dbus --bus "unix:path=$PWD/none" x.data
	same "1 ebprec: cannot listen to the bus 'unix:path=$PWD/none': there is no such bus" "$status $output"
	cmp before x.data
}

@test "scrub drops the texts, and keeps times and names" {
	"$TEST_LIB/dbus_messages.pl" <messages >x.pcap
	ebprec dbus -q --messages x.pcap x.data
	ebprec scrub -q -o y.data x.data
	shown y.data >got
	! grep -q 'from :' got || fail "a text is in the capture"
	same "$(cut -f 1,2,3,4 want)" "$(cut -f 1,2,3,4 got)"
}
