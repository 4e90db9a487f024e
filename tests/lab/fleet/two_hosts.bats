#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# docs/FLEET.md from its first command on: two hosts, which are network namespaces with names of their own, a ClickHouse, and
# one flame graph over both.  Each host's agent records the cgroup of its own service alone.

load ../../lib/helper
load servers

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	root=$(cgroup2_root)
	[ -n "$root" ] || skip "needs cgroups of version 2"
	bridge=ebp$$
	bridge=${bridge:0:12}
	hosts=(web-1 web-2)
}

teardown() {
	end_background
	for host in "${hosts[@]}"; do
		ip netns del "ebprec-$$-$host" 2>/dev/null || true
		rmdir "$root/ebprec-$$-$host"/{web.service,} 2>/dev/null || true
	done
	ip link del "$bridge" 2>/dev/null || true
}

# make_host NAME ADDRESS - a network namespace with a link to the bridge
make_host() {
	local space=ebprec-$$-$1
	ip netns add "$space"
	ip link add "${bridge}${1#web-}" type veth peer name eth0 netns "$space"
	ip link set "${bridge}${1#web-}" master "$bridge" up
	ip -n "$space" addr add "$2/24" dev eth0
	ip -n "$space" link set eth0 up
	mkdir -p "$root/ebprec-$$-$1/web.service"
}

# on NAME CMD... - becomes CMD, on that host.  Not by ip netns exec, which hides cgroups and tracefs.
on() {
	# shellcheck disable=SC2016 # for the inner shell
	exec nsenter --net="/run/netns/ebprec-$$-$1" unshare --uts sh -c 'hostname "$0" && exec "$@"' "$@" 3>&-
}

serve_on() {
	echo "$BASHPID" >"$root/ebprec-$$-$1/web.service/cgroup.procs"
	on "$1" shares "$2"
}

arrived() {
	[ "$(ask "SELECT count() FROM (SELECT host FROM prof.ebprec_samples WHERE service = 'web' GROUP BY host HAVING sum(samples) >= 150)")" = 2 ]
}

@test "two hosts and ClickHouse: one flame graph over both" {
	SECONDS=0
	ip link add "$bridge" type bridge
	ip addr add 10.231.77.1/24 dev "$bridge"
	ip link set "$bridge" up
	make_host web-1 10.231.77.11
	make_host web-2 10.231.77.12
	prepare_clickhouse "$BATS_TEST_TMPDIR/data" 10.231.77.1
	start_clickhouse
	# shellcheck disable=SC2154 # of servers.bash
	database=clickhouse://10.231.77.1:$clickhouse_port/prof
	ebprec push -q --to "$database" --setup
	for host in "${hosts[@]}"; do
		(on "$host" ebprec agent --spool "$PWD/$host" --rotate 2s -F 99 --cgroup "/ebprec-$$-$host" 2>"$host.err") &
		(on "$host" ebprec push -q --to "$database" -i "$PWD/$host" -d "$PWD/$host.push" --interval 1 --follow) &
	done
	await grep -q recording web-1.err
	await grep -q recording web-2.err
	(serve_on web-1 2) &
	(serve_on web-2 4) &
	await arrived
	ebprec query --from "$database" --service web --last 1h --svg web.svg
	echo "# a flame graph of both hosts after $SECONDS s, $(cut -d' ' -f1 /proc/loadavg) load" >&3
	grep -q 'burn_three' web.svg
	# When all has arrived, the database has the CPU time of each.
	wait %6 %7
	both() {
		[ "$(ebprec query --from "$database" --service web --host "^$1\$" --last 1h --folded | weight)" -ge "$2" ]
	}
	await both web-1 185
	await both web-2 380
	for host in "${hosts[@]}"; do
		ebprec query -q --spool "$host" --service web --last 1h --folded >"$host.folded"
	done
	await same_sums
	[ "$SECONDS" -lt 600 ]
}

same_sums() {
	for host in "${hosts[@]}"; do
		ebprec query -q --spool "$host" --service web --last 1h --folded >"$host.folded" || return 1
		[ "$(weight <"$host.folded")" = "$(ebprec query --from "$database" --service web --host "$host" --last 1h --folded | weight)" ] || return 1
	done
}
