#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Counters against /proc: of a stopped process exactly, of the machine between two looks at /proc from
# outside of the recording and two from inside.
# runs beside others: what it compares with /proc lies between two looks at it

load ../../lib/helper
load ../../lib/metrics

look() {
	cat /proc/stat >"$1.stat"
	grep -w "$(cat disk)" /proc/diskstats >"$1.disk"
	tr : ' ' </proc/net/dev >"$1.net"
	grep . /proc/pressure/* >"$1.psi" 2>/dev/null || true
}

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	read -r folder name < <(disk_folder "$PWD" "$BUILD" /var/tmp)
	echo "${name:-none}" >disk
	export DD=${folder:-.}/dd.$$ # on a disk, if there is any
	export -f look
	export HERE=$BATS_TEST_DIRNAME
	look outer0
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq --with counters,block --interval 0.3 -o c.data -- bash -c '
		look inner0
		perl "$HERE/burner.pl" &
		burner=$!
		while ! grep -q "(perl) T" /proc/$burner/stat; do sleep 0.05; done
		for _ in {1..23}; do echo x >/dev/udp/127.0.0.1/9; done
		dd if=/dev/zero of=$DD bs=64k count=23 oflag=direct 2>/dev/null
		look inner1
		cat /proc/$burner/stat >burner.stat
		cat /proc/$burner/io >burner.io
		sleep 0.4' 2>/dev/null || true
	look outer1
	kill -KILL "$(cut -d" " -f1 burner.stat)" || true # it is stopped until the recorder has looked for the last time
	rm -f "$DD"
	ebprec record -a --no-bpf -q --with counters,block -o plain.data -d 0.3 2>plain.err || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# between WHAT INNER GOT OUTER
between() {
	if [ "$3" -lt "$2" ] || [ "$3" -gt "$4" ]; then
		fail "$1: want $2 to $4, got $3"
	fi
}

# The moment that the recorder looked when the process was stopped.
stopped() {
	ebprec metrics counters_process -i c.data --json --interval --pid "$1" |
		jq --arg field "$2" '[.tables[].rows[][$field]] | if $field | startswith("now_") then map(select(. != 0)) | last else add end'
}

@test "a process: CPU time, memory, faults and I/O are those of /proc/PID/stat and io" {
	read -r pid _ _ _ _ _ _ _ _ minor _ major _ utime stime _ _ _ _ threads _ _ size rss _ <burner.stat
	tick=$((1000000000 / $(getconf CLK_TCK)))
	same "$((utime * tick)) $((stime * tick))" "$(stopped "$pid" user_ns) $(stopped "$pid" system_ns)"
	[ $((utime + stime)) -ge 39 ] || fail "it used only $utime and $stime ticks"
	same $((rss * $(getconf PAGESIZE))) "$(stopped "$pid" now_rss_bytes)"
	[ "$rss" -ge 7324 ] || fail "only $rss pages" # of 30 MB
	same "$size" "$(stopped "$pid" now_size_bytes)"
	same "$threads $minor $major" \
		"$(stopped "$pid" now_threads) $(stopped "$pid" minor) $(stopped "$pid" major)"
	same "$(pick_fields 1 read_bytes: 2 <burner.io)" "$(stopped "$pid" read_bytes)"
	same "$(grep '^[rw]char' burner.io | awk '{ print $2 }' | paste -sd' ')" \
		"$(stopped "$pid" call_read_bytes) $(stopped "$pid" call_write_bytes)"
}

# cpu FILE N COLUMN
cpu() {
	pick_fields 1 "cpu$2" "$3" <"$1.stat"
}

@test "CPUs: times are those of /proc/stat" {
	tick=$((1000000000 / $(getconf CLK_TCK)))
	while read -r n; do
		for pair in 2:user_ns 4:system_ns 5:idle_ns; do
			at=${pair%:*}
			between "$pair of CPU $n" \
				$((($(cpu inner1 "$n" "$at") - $(cpu inner0 "$n" "$at")) * tick)) \
				"$(field c.data counters_cpu "cpu=$n" "${pair#*:}")" \
				$((($(cpu outer1 "$n" "$at") - $(cpu outer0 "$n" "$at")) * tick))
		done
	done < <(sed -n 's/^cpu\([0-9][0-9]*\) .*/\1/p' inner0.stat)
	same 0 "$(field c.data counters_cpu "cpu=$(getconf _NPROCESSORS_CONF)" user_ns)"
}

@test "disks: counts are those of the kernel and of block" {
	disk=$(cat disk)
	[ "$disk" != none ] || skip "no folder is on a disk"
	read -r w0 b0 < <(written_between inner0.disk inner1.disk)
	read -r w1 b1 < <(written_between outer0.disk outer1.disk)
	[ "$w0" -ge 23 ] || fail "$w0 writes"
	between writes "$w0" "$(field c.data counters_disk "disk=$disk" write_ios)" "$w1"
	between bytes "$b0" "$(field c.data counters_disk "disk=$disk" write_bytes)" "$b1"
	# A request that was under way when the recording began is not in it; it has 2 MiB at most.
	b0=$((b0 - $(awk '{ print $12 }' inner0.disk) * 2097152))
	between block "$b0" "$(field c.data block "disk=$disk" write_bytes --by disk,process)" "$b1"
}

# net FILE DEVICE COLUMN - of /proc/net/dev
net() {
	pick_fields 1 "$2" $(($3 + 1)) <"$1.net"
}

# bats test_tags=long
@test "interfaces: bytes and packets are those of /proc/net/dev" {
	while read -r device; do
		for pair in 1:rx_bytes 2:rx_packets 3:rx_errors 4:rx_drops 9:tx_bytes 10:tx_packets 11:tx_errors 12:tx_drops; do
			at=${pair%:*}
			between "$pair of $device" $(($(net inner1 "$device" "$at") - $(net inner0 "$device" "$at"))) \
				"$(field c.data counters_net "device=$device" "${pair#*:}")" \
				$(($(net outer1 "$device" "$at") - $(net outer0 "$device" "$at")))
		done
	done < <(sed 1,2d inner0.net | awk '{ print $1 }')
	[ "$(field c.data counters_net device=lo tx_packets)" -ge 23 ]
}

# psi FILE RESOURCE WORD - microseconds
psi() {
	sed -n "s/^.*\/$2:$3 .*total=//p" "$1.psi"
}

@test "pressure: times are those of /proc/pressure" {
	[ -s inner0.psi ] || {
		same "" "$(ebprec metrics counters_pressure -i c.data --json | grep resource || true)"
		return
	}
	for resource in cpu io memory; do
		between "some $resource" $((($(psi inner1 $resource some) - $(psi inner0 $resource some)) * 1000)) \
			"$(field c.data counters_pressure "resource=$resource" some_ns)" \
			$((($(psi outer1 $resource some) - $(psi outer0 $resource some)) * 1000))
	done
}

@test "power: a sensor that this machine lacks has no column and no table" {
	ebprec metrics -i c.data --list >list
	ebprec metrics counters -i c.data --json >all.json
	if [ -e /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq ]; then
		[ "$(field c.data counters_cpu cpu=0 now_hz)" -gt 0 ]
	else
		same 0 "$(grep -c now_hz all.json || true)"
	fi
	[ -r /sys/class/powercap/intel-rapl:0/energy_uj ] || same 0 "$(grep -c energy list || true)"
	grep -qs Battery /sys/class/power_supply/*/type || same 0 "$(grep -c battery list || true)"
}

@test "memory is that of /proc/meminfo" {
	same $(($(pick_fields 1 MemTotal: 2 </proc/meminfo) * 1024)) \
		"$(field c.data counters_memory '' now_total_bytes)"
	[ "$(field c.data counters_memory '' now_available_bytes)" -gt 0 ]
}

@test "without BPF there are counters, and instruments that need it report that in one line" {
	[ "$(ebprec metrics counters_process -i plain.data --json | grep -c '"pid"')" -ge 1 ]
	same 1 "$(grep -c "cannot record 'block' without BPF" plain.err)"
	refuses ebprec metrics block -i plain.data
}

@test "perf script prints the records of counters" {
	need_perf
	perf script -i c.data 2>/dev/null | grep -q 'ebprec:counters_disk:.*interval=0 .*: read_ios='
}
