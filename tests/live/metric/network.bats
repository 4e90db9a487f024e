#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Connections, packets and locks, against programs of known numbers, /proc/net/dev and strace.

load ../../lib/helper
load ../../lib/metrics

# record_network - records a network namespace of its own: there are no other packets
record_network() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -n bash -c '
		ip link set lo up
		# a link with no host behind it: INTERFACE NETWORK HARDWARE-ADDRESS QUEUE...
		way() {
			local to=${1}-to
			ip link add $1 type veth peer name $to address $3
			echo 1 >/proc/sys/net/ipv6/conf/$1/disable_ipv6
			echo 1 >/proc/sys/net/ipv6/conf/$to/disable_ipv6
			ip link set $1 up
			ip link set $to up
			ip addr add $2.1/24 dev $1
			ip neigh add $2.2 lladdr $3 dev $1
			tc qdisc add dev $1 root tbf ${*:4}
		}
		way q0 10.9.0 02:00:00:00:00:01 rate 1mbit burst 2048 limit 12600
		way slow0 10.9.1 02:00:00:00:00:02 rate 8kbit burst 1600 limit 8000
		stat -Lc %i /proc/self/ns/net >netns
		cat /proc/net/dev >dev0
		cat /proc/net/snmp >snmp0
		cat /proc/net/snmp6 >snmp60
		cat /proc/net/netstat >netstat0
		ebprec record -q --with tcp,net,locks --slower 100ms --each -o n.data -- sh -c "
			datagrams 10.9.0.2 >datagrams
			perl $HERE/silent.pl >silent &
			perl $HERE/congested.pl 10.9.1.2 >congested &
			perl $HERE/resend.pl ends >resend &
			perl $HERE/tcp.pl >truth
			futexes >locks
			wait
			# A segment still on its way when the recording ends would be sent again after it.
			until [ -z \"\$(ss -Htn state fin-wait-1 state last-ack state closing)\" ]; do sleep 0.1; done"
		cat /proc/net/dev >dev1
		cat /proc/net/snmp >snmp1
		cat /proc/net/snmp6 >snmp61
		cat /proc/net/netstat >netstat1
		tc -s qdisc show dev q0 >qdisc
		tc -s qdisc show dev slow0 >slow_qdisc' || true
}

# retransmitted - segments that were sent again, as the recording has them
retransmitted() {
	echo $(($(field n.data tcp '' retransmits) + $(field n.data tcp '' synack_retransmits)))
}

# asked - connections that stand or failed, as the recording has them
asked() {
	echo $(($(field n.data tcp '' connects) + $(field n.data tcp '' failed)))
}

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	export HERE=$BATS_TEST_DIRNAME
	record_network
	# shellcheck disable=SC2094 # a program that has this name, and a file
	ebprec record -q --with locks --slower 50ms -o l.data -- \
		perf record -q -e lock:contention_end -o locks.perf holders >holders || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

# snmp COLUMN [PROTOCOL [FILE]] - how much a number of /proc/net/snmp grew, or of another
snmp() {
	local of=${2:-Tcp} file=${3:-snmp} column
	column=$(grep -m 1 "^$of: " "${file}0" | tr ' ' '\n' | grep -nx "$1" | cut -d: -f1)
	echo $(($(grep "^$of: [0-9-]" "${file}1" | cut -d' ' -f"$column") - $(grep "^$of: [0-9-]" "${file}0" | cut -d' ' -f"$column")))
}

# snmp6 NAME - the same of /proc/net/snmp6
snmp6() {
	echo $(($(pick_fields 1 "$1" 2 <snmp61) - $(pick_fields 1 "$1" 2 <snmp60)))
}

# of NAME - the words behind NAME that the program datagrams printed
of() {
	sed -n "s/^$1 //p" datagrams
}

# dev INTERFACE COLUMN - how much a number of /proc/net/dev grew
dev() {
	echo $(($(pick_fields 1 "$1:" "$2" <dev1) - $(pick_fields 1 "$1:" "$2" <dev0)))
}

# by_timer WHAT WANT GOT - GOT is WANT, or up to two less.  Timers of TCP, which send again and give up, may interrupt a
# thread whose events the machine hides (docs/TESTING.md): one event in one recording of ten or twenty.
by_timer() {
	if [ "$3" -gt "$2" ] || [ "$3" -lt $(($2 - 2)) ]; then fail "$1: $3 of $2"; fi
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
	# The sockets no longer have their port when the refusal is recorded.
	same "" "$(grep ECONNREFUSED connects | awk '{ print $(NF - 4) }' | grep -x 0 || true)"
}

@test "tcp: connections weigh how long they took, in the stack of the asking thread" {
	ebprec report -q -i n.data --of tcp --folded >tcp.folded
	same "$(field n.data tcp_connects '' took_ns --top 0)" "$(weight <tcp.folded)"
	same "$(wc -l <tcp.folded)" "$(grep -c 'connect' tcp.folded)"
	read -r _ client _ <truth
	same "$(field n.data tcp_connects "pid=$client" took_ns --top 0)" \
		"$(ebprec report -q -i n.data --of tcp --pid "$client" --folded | weight)"
}

@test "tcp: bytes of a connection are those that were sent" {
	# shellcheck disable=SC2046 # words
	ebprec metrics tcp_life -i n.data --json | perl "$TEST_LIB/tcp_bytes.pl" $(awk '{ print $2, $3 }' truth)
}

@test "tcp: a peer that does not answer is a connection that timed out, with its retransmit" {
	read -r port error <silent
	same 110 "$error"
	ebprec metrics tcp_connects -i n.data --top 0 >all
	grep -q "127.0.0.1 .* $port .*ETIMEDOUT$" all || fail "port $port: $(cat all)"
	by_timer "segments sent again" "$(snmp RetransSegs)" "$(retransmitted)"
	by_timer "connections asked for" "$(snmp ActiveOpens)" "$(asked)"
	# One connection was in the queue when the listener went away: it was not accepted.
	same "$(snmp PassiveOpens)" $(($(field n.data tcp '' accepts) + 1))
	[ "$(snmp RetransSegs)" -ge 1 ]
}

@test "tcp: a retransmit that fails, as the segment still waits in a queue, is not counted" {
	read -r pid port error <congested
	same 110 "$error"
	ebprec metrics tcp_connects -i n.data --top 0 | grep -q "10.9.1.1 .* $port .*ETIMEDOUT$"
	read -r sent dropped waits <<<"$(tr '\n' ' ' <slow_qdisc |
		sed 's/.* Sent [0-9]* bytes \([0-9]*\) pkt (dropped \([0-9]*\),.*backlog [0-9A-Za-z]* \([0-9]*\)p.*/\1 \2 \3/')"
	same 0 "$dropped"
	by_timer "$port" $((sent + waits - 4 - 1)) "$(field n.data tcp "pid=$pid" retransmits)"
}

# ss_value END NAME - prints a number of ss's line for that end; 0 where it has none
ss_value() {
	grep -oE " $2[0-9]+" <<<"$1" | grep -oE '[0-9]+$' || echo 0
}

@test "tcp: retransmits, segment by segment, are those of ss at both ends" {
	read -r _ pid client server < <(grep ^again resend)
	for way in "$client $server" "$server $client"; do
		read -r from to <<<"$way"
		end=$(grep -E "^ESTAB.* 127\.0\.0\.1:$from +127\.0\.0\.1:$to " ends)
		of="pid=$pid,lport=$from,dport=$to"
		sent=$(($(ss_value "$end" bytes_sent:) - $(ss_value "$end" bytes_retrans:)))
		same "$sent $(ss_value "$end" bytes_received:)" \
			"$(field n.data tcp_life "$of" sent_bytes) $(field n.data tcp_life "$of" received_bytes)"
		again=$(ss_value "$end" 'retrans:[0-9]+/')
		got=$(field n.data tcp_life "$of" retransmits)
		# It might have its last segment, the end, to send again, too; and of two a timer may be hidden.
		[ "$got" -ge $((again - 2)) ] && [ "$got" -le $((again + 7)) ] || fail "$from: $got sent again, not $again"
		[ "$from" != "$client" ] || same "7919 211" "$sent $(ss_value "$end" bytes_received:)"
		[ "$from" != "$client" ] || [ "$again" -ge 2 ]
	done
}

@test "tcp: SYN-ACK retransmits are charged to the listener" {
	read -r _ pid _ < <(grep ^deferred resend)
	again=$(field n.data tcp "pid=$pid" synack_retransmits)
	all=$(snmp TCPSynRetrans TcpExt netstat) # and that of the SYN that was not answered
	[ "$again" -ge 1 ] && [ "$again" -lt "$all" ] || fail "$again of $all"
}

# same_traffic WHAT BYTES PACKETS BYTES_GOT PACKETS_GOT - the counts agree, but for two packets at most, which
# went in an interrupt of a thread whose events the machine hides (docs/TESTING.md)
same_traffic() {
	local hidden=$(($3 - $5))
	if [ $hidden -lt 0 ] || [ $hidden -gt 2 ]; then fail "$1: $5 packets of $3"; fi
	[ $hidden -gt 0 ] || same "$1 $2" "$1 $4"
	if [ "$4" -gt "$2" ] || [ $(($2 - $4)) -gt $((1500 * hidden)) ]; then fail "$1: $4 bytes of $2"; fi
}

@test "net: packets and bytes are those of /proc/net/dev" {
	# bytes and packets received are columns 2 and 3, sent 10 and 11
	for name in lo q0 q0-to; do
		of="netns=$(cat netns),device=$name"
		same_traffic "$name sent" "$(dev $name 10)" "$(dev $name 11)" \
			"$(field n.data net "$of" tx_bytes --by netns)" "$(field n.data net "$of" tx_packets --by netns)"
		same_traffic "$name received" "$(dev $name 2)" "$(dev $name 3)" \
			"$(field n.data net "$of" rx_bytes --by netns)" "$(field n.data net "$of" rx_packets --by netns)"
	done
	[ "$(dev lo 11)" -gt 100 ]
}

@test "net: time in the queue is what a token bucket of known rate makes of it, packet by packet" {
	read -r pid count took_ns < <(of queued)
	read -r sent dropped < <(sed -n 's/^ Sent [0-9]* bytes \([0-9]*\) pkt (dropped \([0-9]*\),.*/\1 \2/p' qdisc)
	same "$count" $((sent + dropped))
	here="netns=$(cat netns),device=q0"
	got=$(field n.data net "$here" queued --by netns)
	[ "$got" -le "$sent" ] && [ "$got" -ge $((sent - 2)) ] || fail "$got of $sent" # as above
	same "$got $got $got" "$got $(field n.data net "$here" hist_queue_ns --by netns --histogram) $(field n.data net "$here" hist_driver_ns --by netns --histogram)"
	# The packets have 1042 bytes each, 125000 a second, the first 2048 at once; they came within took_ns.
	least_ns=0
	for ((k = 1; k <= got; k++)); do
		wait_ns=$(((k * 1042 - 2048) * 8000 - took_ns))
		[ $wait_ns -lt 0 ] || least_ns=$((least_ns + wait_ns))
	done
	least_ns=$((least_ns * 98 / 100))
	queue_ns=$(field n.data net "$here" queue_ns --by netns)
	[ "$queue_ns" -ge "$least_ns" ] || fail "$queue_ns ns in the queue, not $least_ns"
	same "$queue_ns $(field n.data net "$here" driver_ns --by netns)" \
		"$(field n.data net_packets "device=q0,pid=$pid" queue_ns) $(field n.data net_packets "device=q0,pid=$pid" driver_ns)"
	same $((got * 1042)) "$(field n.data net_packets "device=q0,pid=$pid,comm=datagrams" bytes)"
}

@test "net: dropped packets are counted by reason, interface and process" {
	read -r _ four six < <(of closed)
	same "$four $six" "$(snmp NoPorts Udp) $(snmp6 Udp6NoPorts)"
	# These drops have no process.  Other networks have a lo, too.  The refused connections had no socket either.
	drops=$(field n.data net_drops "reason=NO_SOCKET,netns=$(cat netns)" drops --by netns,reason)
	[ "$drops" -ge $((four + six + 3)) ] && [ "$drops" -le $((four + six + $(snmp OutRsts))) ] ||
		fail "$drops drops, $four, $six, and $(snmp OutRsts) resets"
	[ "$(field n.data net_drops "reason=NO_SOCKET,device=lo" drops)" -ge $((four + six)) ]
	read -r pid sent got < <(of full)
	same $((sent - got)) "$(snmp RcvbufErrors Udp)"
	same $((sent - got)) "$(field n.data net_drops "reason=SOCKET_RCVBUFF,pid=$pid" drops --by reason,process)"
	same $((sent - got)) "$(field n.data net_drops "reason=SOCKET_RCVBUFF,device=lo" drops --pid "$pid")"
	# The queue that was full: its reason has had several names.
	read -r pid _ < <(of queued)
	dropped=$(sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' qdisc)
	[ "$dropped" -gt 0 ]
	same "$dropped" "$(field n.data net_drops "device=q0,pid=$pid" drops --by device,process)"
}

@test "net: sends and receives have their durations, and a slow one its stack" {
	read -r pid count bytes < <(of unix)
	# and one in each direction that is waited for
	for way in send receive; do
		same "$((count + 1)) $((bytes + 7))" "$(field n.data net_sockets "protocol=unix,pid=$pid" ${way}s) $(field n.data net_sockets "protocol=unix,pid=$pid" ${way}_bytes)"
		same $((count + 1)) "$(field n.data net_sockets "protocol=unix,pid=$pid" hist_${way}_bytes --histogram)"
	done
	# Several messages in one call are one call; messages that are peeked at first are two.
	same "$((count - 1)) $((count - 2 + 14))" "$(field n.data net_sockets "protocol=unix,pid=$pid" send_calls) $(field n.data net_sockets "protocol=unix,pid=$pid" receive_calls)"
	read -r pid least most < <(of slow)
	took=$(field n.data net_slow "pid=$pid,protocol=unix" took_ns)
	[ "$took" -ge "$least" ] && [ "$took" -le "$most" ] || fail "$took ns, not $least to $most"
	ebprec report -q -i n.data --of net --pid "$pid" --folded >slow.folded
	same "$took" "$(weight ';main;.*receive_slowly;' <slow.folded)"
}

@test "net: bytes sent and received by a process are those of its calls" {
	read -r _ client server4 _ < <(head -1 truth)
	same $((11 * 10007)) "$(field n.data net_sockets protocol=tcp send_bytes --by protocol,process --pid "$client")"
	same $((7 * 10007)) "$(field n.data net_sockets protocol=tcp6 send_bytes --by protocol,process --pid "$client")"
	same $((11 * 101)) "$(field n.data net_sockets protocol=tcp receive_bytes --by protocol,process --pid "$client")"
	same $((11 * 101)) "$(field n.data net_sockets protocol=tcp send_bytes --by protocol,process --pid "$server4")"
	same $((11 * 10007)) "$(field n.data net_sockets protocol=tcp receive_bytes --by protocol,process --pid "$server4")"
}

@test "locks: waits at a futex are counted by address, and a long one has its stack" {
	read -r pid address waits timeouts late < <(cat locks)
	[ "$pid" -gt 0 ]
	same "$waits" "$(field n.data futexes "address=$address" waits --by address,process)"
	same "$timeouts" "$(field n.data futexes "address=$address" timeouts --by address,process)"
	same "$late" "$(field n.data futexes "address=$address" not_waited --by address,process)"
	ebprec metrics locks_slow -i n.data --top 0 | grep -qE "futexes +$address +\[stack\] +1 +[1-9][0-9][0-9]+\."
	ebprec report -i n.data --of locks --folded 2>/dev/null | grep -q '^futexes;.*;main;wait_long;'
}

@test "locks: a wait has its holder, and the stacks of the waiter and of the release" {
	for name in mutex pi; do
		read -r _ pid holder address times ns < <(grep "^$name " holders)
		same "$name $times" "$name $(field l.data futex_holders "address=$address,holder=$holder,holder_comm=holders" waits --pid "$pid")"
		total=$(field l.data futex_holders "address=$address,holder=$holder" total_ns --pid "$pid")
		[ "$total" -ge $((times * ns)) ] || fail "$name: $total ns, not $times times $ns"
		# Only what it waited longer than 50 ms for, and that is each.
		same "$name $times" "$name $(ebprec metrics locks_slow -i l.data --pid "$pid" --csv | grep -c "$address,holders: [a-z.0-9]*+0x0,1,.*,$holder,holders$")"
	done
	# People see the holder's name beside its id.
	ebprec metrics futex_holders -i l.data | grep -qE "^ +$pid holders +$times " || fail "$(ebprec metrics futex_holders -i l.data)"
	ebprec report -q -i l.data --of locks_holders --pid "$pid" --folded >holders.folded
	same "$(field l.data locks_holders "pid=$pid" took_ns)" "$(weight <holders.folded)"
	grep -q ';main;hold;release_lock;' holders.folded
	ebprec report -q -i l.data --of locks --pid "$pid" --folded >waiters.folded
	grep -q ';want;want_lock;' waiters.folded
}

@test "locks: waits for kernel locks are those that perf sees end" {
	read -r _ pid times ns tids < <(grep '^kernel ' holders)
	waits=$(field l.data locks lock=mutex,pid="$pid" count --pid "$pid")
	total=$(field l.data locks lock=mutex,pid="$pid" total_ns --pid "$pid")
	if [ "$waits" -lt "$times" ] || [ "$total" -lt $((times * ns)) ]; then
		fail "$waits waits of $total ns, not $times of $ns"
	fi
	# A long wait has the thread that held the mutex when it began.
	for tid in $tids; do
		same "$tid 1" "$tid $(ebprec metrics locks_slow -i l.data --pid "$pid" --csv | grep -c ",0,[0-9]*,$tid,holders$")"
	done
	# Before it was this program it was perf's child.
	ends=$(perf script -f -i locks.perf 2>/dev/null | grep -c contention_end)
	all=$(field l.data locks '' count --by process --pid "$pid")
	[ "$ends" -ge "$times" ] && [ "$ends" -le "$all" ] || fail "perf: $ends, not $all"
	ebprec report -q -i l.data --of locks --pid "$pid" --folded >kernel.folded
	[ "$(weight 'pipe_write;.*mutex_lock' <kernel.folded)" -ge $((times * ns)) ]
}

@test "no event was lost" {
	same "0 0" "$(account n.data lost rows) $(account l.data lost rows)"
}
