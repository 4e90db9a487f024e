#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Fifty hosts push to one ClickHouse, which is killed, and whose disk is full for a while.

load ../../lib/helper
load servers

HOSTS=50
KILLS=20

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_root
	mkdir data hosts
	mount -t tmpfs -o size=256m none data
	prepare_clickhouse "$PWD/data"
	start_clickhouse
	# shellcheck disable=SC2154 # prepare_clickhouse sets it
	database=clickhouse://127.0.0.1:$clickhouse_port/prof
	ebprec push -q --to "$database" -d setup --setup
}

teardown() {
	touch stop
	end_background
	umount -l "$BATS_TEST_TMPDIR/data" || true
}

push() {
	ebprec push --to "$database" --retry 0.5 --timeout 10 "$@"
}

# push_host NUMBER - pushes until nothing waits; each try is killed at a random moment, but every fourth
push_host() {
	local try=0 pid
	until [ -e "hosts/$1/finished" ]; do
		push -d "hosts/$1" --host "host-$1" --interval 0.004 --give-up 120 -i "hosts/$1/captures" 2>>"hosts/$1/err" &
		pid=$!
		if [ $((++try % 4)) -ne 0 ]; then
			sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
			kill -KILL "$pid" 2>/dev/null || true
		fi
		! wait "$pid" 2>/dev/null || touch "hosts/$1/finished"
	done
}

# push_some FIRST - every fourth host from that on
push_some() {
	local host
	for ((host = $1; host <= HOSTS; host += 4)); do
		push_host "$host"
	done
}

all_done() {
	[ "$(find hosts -name finished | wc -l)" -eq "$HOSTS" ]
}

@test "the sums of each host are those of its captures; gaps are where batches were lost" {
	local host part kills=0
	for ((host = 1; host <= HOSTS; host++)); do
		mkdir -p "hosts/$host/captures"
		for part in 1 2; do
			gen_capture -o "hosts/$host/captures/$part.data" --samples $((host * 40 + part * 500)) --pids $((host % 7 + 1)) --depth 30
		done
	done
	for part in 1 2 3 4; do
		push_some $part 3>&- &
	done
	while [ $kills -lt $KILLS ]; do
		sleep "0.$((RANDOM % 10))"
		kill_clickhouse
		kills=$((kills + 1))
		start_clickhouse
		[ $kills -ne 10 ] || {
			dd if=/dev/zero of=data/full bs=64k 2>/dev/null || true
			sleep 3
			rm data/full
		}
	done
	for _ in {1..5}; do
		all_done || await all_done
	done
	echo "# of $(grep -hc '' hosts/*/err | sum_field 1) messages of senders: $(grep -h 'takes nothing' hosts/*/err |
		grep -oE 'No space left|Connection refused|Recv failure|Empty reply|HTTP [0-9]+' | sort | uniq -c | tr -s ' \n' ' ')" >&3
	grep -qE 'No space left|NOT_ENOUGH_SPACE|Not enough space|Cannot reserve' hosts/*/err || fail "no sender saw the full disk"
	for ((host = 1; host <= HOSTS; host++)); do
		for part in 1 2; do
			ebprec report -q --folded -i "hosts/$host/captures/$part.data"
		done | weight | sed "s/^/host-$host\t/"
	done | sort >want
	ask "SELECT host, sum(samples) FROM ebprec_samples GROUP BY host" | sort >got
	diff want got || fail "samples differ: $(diff want got | head)"
	# The ledger agrees with the rows, and has each number once.
	same 0 "$(ask "SELECT count() FROM (SELECT host, sum(s) AS s, sum(l) AS l FROM (
		SELECT host, samples AS s, 0 AS l FROM ebprec_samples UNION ALL
		SELECT host, 0 AS s, samples AS l FROM (SELECT DISTINCT host, sender, seq, samples FROM ebprec_batches)) GROUP BY host) WHERE s != l")"
	same 0 "$(ask "SELECT count() FROM (SELECT max(seq) AS last, uniqExact(seq) AS has FROM ebprec_batches GROUP BY host, sender) WHERE last != has")"
	echo "# $(ask "SELECT count(), uniqExact(host, sender, seq) FROM ebprec_samples") rows and batches, killed $kills times" >&3
	# A stack of each sample, and a frame of each stack, are there.
	same 0 "$(ask "SELECT count() FROM ebprec_samples WHERE stack NOT IN (SELECT stack FROM ebprec_stacks)")"
	same 0 "$(ask "SELECT count() FROM (SELECT DISTINCT arrayJoin(frames) AS frame FROM ebprec_stacks) WHERE frame NOT IN (SELECT frame FROM ebprec_frames)")"
	# A batch that is lost on its way is a gap, and the only one.
	gen_capture -o more.data --samples 9000 --pids 3
	kill_clickhouse
	run ! push -q -d hosts/7 --host host-7 --interval 0.02 --give-up 0.1 -i more.data
	lost=$(find hosts/7/out -name 'host-7-*' | sort -V | sed -n 2p)
	[ -n "$lost" ]
	rm "$lost"
	start_clickhouse
	push -q -d hosts/7 || true # one of its files is gone
	number=${lost##*host-7-}
	same "host-7	${number%%.*}" "$(ask "SELECT host, arrayJoin(arrayFilter(n -> NOT has(seqs, n), arrayMap(n -> n + 1, range(toUInt64(arrayReduce('max', seqs)))))) FROM (
		SELECT host, groupUniqArray(seq) AS seqs FROM ebprec_batches GROUP BY host, sender)")"
}
