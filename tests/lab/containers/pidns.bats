#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The recorder in a container with a pid namespace of its own.  make check-containers

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

pod() {
	podman --runtime runc \
		--storage-driver overlay --storage-opt overlay.mount_program=/usr/bin/fuse-overlayfs \
		--cgroup-manager cgroupfs --events-backend file "$@"
}

# in_pod NAME CMD... - with the host's programs, and its own processes alone
in_pod() {
	local name=$1
	shift
	pod run --rm --name "$name" --privileged --network=none \
		--ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \
		-v /usr:/usr:ro -v /etc:/etc:ro -v "$(realpath "$BUILD"):/build:ro" \
		-v "$(realpath "$BATS_TEST_DIRNAME/../../.."):/src:ro" -v "$PWD:/work" ebprec-test:pidns "$@"
}

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	local dir
	mkdir -p tree/usr tree/etc tree/tmp tree/work tree/build tree/src tree/root
	for dir in bin sbin lib lib64; do ln -s usr/$dir tree/$dir; done
	stat -c %a /dev/fuse >fuse.mode
	tar -C tree -cf - . | pod import -q - ebprec-test:pidns >/dev/null
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return
	pod rmi -f ebprec-test:pidns >/dev/null 2>&1 || :
	chmod "$(cat fuse.mode)" /dev/fuse
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir load
}

# shares FILE [OPTION...] - "SAMPLES COMM" of programs, the recorder's own apart
shares() {
	ebprec report --folded "$@" 2>/dev/null | sed 's/;.* / /' | grep -v '^ebprec\|^\[foreign\]' | sum_stacks |
		sed -E 's/^(.*) ([0-9]+)$/\2 \1/' | sort -rn
}

# alike - each program with many samples has as many in the files inside and outside, but for chance
alike() {
	local count name seen=0
	while read -r count name; do
		[ "$count" -ge 100 ] || break
		equal_by_chance 99 "$count" "$(sed -n "s/ $name$//p" outside | grep . || echo 0)" || fail "of $name"
		seen=$((seen + 1))
	done <inside
	[ $seen -ge 3 ] || fail "only $seen programs"
}

# recorded_twice SCRIPT - by the machine, out.data, while a container runs SCRIPT
recorded_twice() {
	ebprec record -aq -F 999 -o out.data 2>out.err &
	local recorder=$!
	await has_samples out.data
	in_pod pidns /bin/bash -c "$1"
	kill -INT $recorder
	wait $recorder
}

@test "a mixed load in a container has complete stacks, names, and the host's shares" {
	# While a busy machine makes unwind tables, stacks are truncated: a first recording fills the cache.
	in_pod pidns /build/ebprec record -q -a --table-cache /work/tables -o /work/warm.data -- \
		/src/tests/live/workloads/mixed-load.sh /work/load 3
	recorded_twice '
		/build/ebprec record -a -F 999 --table-cache /work/tables -o /work/in.data -- /src/tests/live/workloads/mixed-load.sh /work/load 8 2>/work/err
		/build/ebprec report --folded -i /work/in.data >/work/folded 2>/work/quality'
	same "ebprec: inside a pid namespace: processes outside of it are counted as one, '[foreign]'" "$(head -n 1 err)"
	# As scripts/check-mixed.sh has it; of what is not named symbols were stripped, or made at run time.
	perl "$BATS_TEST_DIRNAME/complete_stacks.pl" <folded >stacks || fail "$(cat stacks quality)"
	nameless=$(grep -v 'break off\|: its symbols were stripped\|: memory without a file' quality | sed -n 's/.*[^0-9.]\([0-9.]*\) % in .*: .*/\1/p' | paste -sd+)
	numbers_hold "${nameless:-0} <= 1" || fail "$(cat quality)"
	shares in.data >inside
	shares --container '^pidns$' out.data >outside
	alike >different || fail "$(cat different inside outside)"
	echo "# $(cat stacks); inside $(head -n 4 inside | tr '\n' ' '), outside $(head -n 4 outside | tr '\n' ' ')" >&3
}

@test "a recording in a container's inner pid namespace has that one's programs alone, with complete stacks" {
	cp "$BUILD/tests/live/workloads/shares" one
	cp "$BUILD/tests/live/workloads/shares" two
	recorded_twice '
		/work/one 60 >/dev/null &
		unshare --pid --fork --mount-proc /bin/bash -c "
			/build/ebprec record -a -F 999 -o /work/in.data -- /work/two 3 >/dev/null 2>/work/err
			/build/ebprec report --folded -i /work/in.data >/work/folded 2>/work/quality"
		kill %1'
	stacks_match '^two;_start;.*;burn_[a-z]*[; ]' 95 51 '^two;' <folded || fail "$(cat folded)"
	same "" "$(grep '^one;' folded)"
	equal_by_chance 50 "$(shares in.data | sed -n 's/ two$//p')" "$(shares --container '^pidns$' out.data | sed -n 's/ two$//p')"
}

# doctor_in OPTION... - the findings of a container without privileges, as JSON in the file findings
doctor_in() {
	pod run --rm --network=none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \
		-v /usr:/usr:ro -v /etc:/etc:ro -v "$(realpath "$BUILD"):/build:ro" "$@" ebprec-test:pidns \
		/build/ebprec doctor --json >findings 2>err || :
}
finding() { jq -r --arg name "$1" '.findings[] | select(.name == $name) | "\(.state) \(.why) > \(.mend // "")"' findings; }

@test "doctor in a container names the options of its start that are missing, until all works" {
	local caps=CAP_BPF,CAP_PERFMON,CAP_SYS_PTRACE,CAP_SYSLOG,CAP_DAC_READ_SEARCH,CAP_CHECKPOINT_RESTORE
	doctor_in
	contains "$(finding capabilities)" "missing not in the bounding set, not even for root: "
	contains "$(finding capabilities)" "--cap-add=CAP_PERFMON --cap-add=CAP_BPF"
	contains "$(finding "seccomp filter")" "missing it refuses bpf() and perf_event_open() > start the container with --cap-add="
	doctor_in --cap-add=$caps --security-opt seccomp=unconfined
	same "works of root, all in the bounding set > " "$(finding capabilities)"
	same "works none > " "$(finding "seccomp filter")"
	same "works a program samples a CPU > " "$(finding BPF)"
	# podman gives a user ambient capabilities.
	doctor_in --user 65534 --cap-add=$caps --security-opt seccomp=unconfined
	contains "$(finding capabilities)" "works ambient"
	doctor_in --user 65534 --security-opt seccomp=unconfined
	contains "$(finding capabilities)" "missing not in the bounding set"
}
