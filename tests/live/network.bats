#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Connections, packets and locks, against programs of known numbers, /proc/net/dev and strace.

load ../helper
load metrics

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	export HERE=$BATS_TEST_DIRNAME
	# A network of its own: nobody else's packets.
	# shellcheck disable=SC2016 # for the inner shell
	unshare -n bash -c '
		ip link set lo up
		cat /proc/net/dev >dev0
		cat /proc/net/snmp >snmp0
		ebprec record -q --with tcp,net,locks --slower 100ms -o n.data -- sh -c "
			perl $HERE/silent.pl >silent &
			perl $HERE/tcp.pl >truth
			futexes >locks
			wait"
		cat /proc/net/dev >dev1
		cat /proc/net/snmp >snmp1' || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# snmp COLUMN - how much a number of Tcp: in /proc/net/snmp grew
snmp() {
	cat snmp0 snmp1 | awk -v "name=$1" '$1 == "Tcp:" && $2 !~ /[0-9]/ { for (i = 2; i <= NF; i++) if ($i == name) at = i }
		$1 == "Tcp:" && $2 ~ /[0-9]/ { n = $at - was; was = $at } END { print n }'
}

# dev INTERFACE COLUMN - how much a number of /proc/net/dev grew
dev() {
	cat dev0 dev1 | awk -v "name=$1:" -v "at=$2" '$1 == name { n = $at - was; was = $at } END { print n }'
}

@test "tcp: connections made, accepted and refused are counted for their processes" {
	read -r _ client server4 port4 < <(head -1 truth)
	read -r _ _ server6 port6 < <(tail -1 truth)
	same "18 3" "$(field n.data tcp "pid=$client" connects) $(field n.data tcp "pid=$client" failed)"
	same "11 7" "$(field n.data tcp "pid=$server4" accepts) $(field n.data tcp "pid=$server6" accepts)"
	same 18 "$(field n.data tcp "pid=$client" closes)"
	ebprec metrics tcp_connects -i n.data --top 0 >connects
	same 11 "$(grep -c " 4  *127.0.0.1 .* 127.0.0.1 *$port4 .* ok$" connects)"
	same 7 "$(grep -c " 6  *::1 .* ::1 *$port6 .* ok$" connects)"
	same 3 "$(grep -c ECONNREFUSED connects)"
}

@test "tcp: connections weigh how long they took, in the stack of who asked" {
	ebprec report -q -i n.data --of tcp --folded >tcp.folded
	same "$(field n.data tcp_connects '' took_ns --top 0)" "$(weight <tcp.folded)"
	same "$(wc -l <tcp.folded)" "$(grep -c 'connect' tcp.folded)"
	read -r _ client _ <truth
	same "$(field n.data tcp_connects "pid=$client" took_ns --top 0)" \
		"$(ebprec report -q -i n.data --of tcp --pid "$client" --folded | weight)"
}

@test "tcp: bytes of a connection are those that were sent" {
	read -r _ client server4 port4 < <(head -1 truth)
	ebprec metrics tcp_life -i n.data --json | perl -MJSON::PP -e '
		my ($client) = @ARGV;
		for my $t (@{decode_json(join "", <STDIN>)->{tables}}) {
			for (@{$t->{rows}}) {
				my ($more, $less) = $_->{accepted} ? ("received", "sent") : ("sent", "received");
				my ($long, $short) = ($_->{"${more}_bytes"}, $_->{"${less}_bytes"});
				print STDERR "$_->{lport} $_->{dport}: $long $short\n";
				next if !$long; # of who does not answer
				die if $long != 10007 || $short != 101;
				die "port 0\n" if !$_->{lport} || !$_->{dport};
				$n++;
			}
		}
		die "only $n\n" if $n != 36' "$client"
}

@test "tcp: who does not answer is a connection that timed out, with its retransmit" {
	read -r port error <silent
	same 110 "$error"
	ebprec metrics tcp_connects -i n.data --top 0 >all
	grep -q "127.0.0.1 .* $port .*ETIMEDOUT$" all || fail "port $port: $(cat all)"
	same "$(snmp RetransSegs)" "$(field n.data tcp '' retransmits)"
	same "$(snmp ActiveOpens)" "$(($(field n.data tcp '' connects) + $(field n.data tcp '' failed)))"
	# One was in the queue when who listens went away: nobody accepted it.
	same "$(snmp PassiveOpens)" $(($(field n.data tcp '' accepts) + 1))
	[ "$(snmp RetransSegs)" -ge 1 ]
}

@test "net: packets and bytes are those of /proc/net/dev" {
	# bytes and packets received are columns 2 and 3, sent 10 and 11
	same "$(dev lo 10) $(dev lo 11)" \
		"$(field n.data net device=lo tx_bytes) $(field n.data net device=lo tx_packets)"
	same "$(dev lo 2) $(dev lo 3)" \
		"$(field n.data net device=lo rx_bytes) $(field n.data net device=lo rx_packets)"
	[ "$(dev lo 11)" -gt 100 ]
}

@test "net: what processes send and receive" {
	read -r _ client server4 _ < <(head -1 truth)
	[ "$(field n.data net_sockets "pid=$client" sends)" -gt 0 ] || return 0 # before Linux 6.3
	same $((11 * 10007)) "$(field n.data net_sockets protocol=tcp send_bytes --by protocol,process --pid "$client")"
	same $((7 * 10007)) "$(field n.data net_sockets protocol=tcp6 send_bytes --by protocol,process --pid "$client")"
	same $((11 * 101)) "$(field n.data net_sockets protocol=tcp receive_bytes --by protocol,process --pid "$client")"
	same $((11 * 101)) "$(field n.data net_sockets protocol=tcp send_bytes --by protocol,process --pid "$server4")"
	same $((11 * 10007)) "$(field n.data net_sockets protocol=tcp receive_bytes --by protocol,process --pid "$server4")"
}

@test "locks: waits at a futex, by address, with the stack of a long one" {
	read -r pid address waits timeouts late < <(cat locks)
	[ "$pid" -gt 0 ]
	same "$waits" "$(field n.data futexes "address=$address" waits --by address,process)"
	same "$timeouts" "$(field n.data futexes "address=$address" timeouts --by address,process)"
	same "$late" "$(field n.data futexes "address=$address" not_waited --by address,process)"
	ebprec metrics locks_slow -i n.data --top 0 | grep -q "futexes *$address *[0-9]* *[1-9][0-9][0-9][0-9]*\."
	ebprec report -i n.data --of locks --folded 2>/dev/null | grep -q '^futexes;.*;main;wait_long;'
}

@test "nothing was lost" {
	same 0 "$(account n.data lost rows)"
}
