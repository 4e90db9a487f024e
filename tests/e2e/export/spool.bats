#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec spool and query: answers of a folder of captures are those of the captures; what is missing is printed.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export EBPREC_SPOOL=$BATS_TEST_TMPDIR/spool
	mkdir spool
}

# A process PID called COMM in a cgroup, sampled at each second; the wall clock is at 22:13:19 of 2023-11-14 when that
# of the records is 0.
story() { # PID COMM CGROUP SECOND...
	local pid=$1 comm=$2 cgroup=$3
	shift 3
	printf -- '- cgroup %s %s\n' "$pid" "$cgroup"
	printf '0 fork 1 %s %s\n0 comm %s %s %s\n0 map %s 0x400000 0x10000 0 /no/such/%s\n' \
		"$pid" "$pid" "$pid" "$pid" "$comm" "$pid" "$comm"
	for second; do
		printf '%s000000000 sample %s %s 0 10 u:0x400%s,0x400200\n' "$second" "$pid" "$pid" "$((100 + second % 3))"
	done
}

# Three captures, of which the second begins at 22:23:20.
make_spool() {
	story 100 web / {1..60} | gen_story spool/1.data
	{ story 100 web / {601..640}; echo '641000000000 lost 5'; } | gen_story spool/2.data
	{ story 100 web / {1201..1220}; story 200 db / {1205..1207}; } | gen_story spool/3.data
}

# sum FILE... - the folded stacks of captures, added up.
sum() {
	for file; do
		ebprec report -q --folded "$file"
	done | sum_stacks
}

day='--since 2023-11-14 --until 2023-11-15'

@test "query's folded stacks are the sums of the captures', with and without an index" {
	make_spool
	for turn in without with; do
		# shellcheck disable=SC2086 # words
		same "$(sum spool/?.data)" "$(ebprec query -q --folded $day 2>err)"
		[ $turn = with ] || ebprec spool check -q
	done
	contains "$(cat err)" "lost: 5 samples were lost while recording"
	contains "$(cat err)" "nothing was recorded for 1102.0 s of this time, in 2 gaps"
	same 3 "$(ebprec spool --json | jq '.captures | length')"
}

@test "a time is cut out of the captures that have some of it, to the sample" {
	make_spool
	ebprec merge -q -o all.data spool/?.data
	# 22:13:49 is 30 on the clock of the records.
	same "$(ebprec report -q --folded --time 30,610 all.data)" \
		"$(ebprec query -q --folded --since 2023-11-14T22:13:49 --until 2023-11-14T22:23:29 2>err)"
	same "$(ebprec report -q --folded --time 40,60 spool/1.data)" \
		"$(ebprec query -q --folded --last 21s --until 2023-11-14T22:14:20 2>err)"
	for view in --tree --bottom-up --csv '--sort service'; do
		# shellcheck disable=SC2086 # words
		same "$(ebprec report -q $view --time 30,610 all.data | grep -v '^#')" \
			"$(ebprec query -q $view --since 2023-11-14T22:13:49 --until 2023-11-14T22:23:29 2>err | grep -v '^#')"
	done
}

@test "a service is chosen by the index, and captures without it are not opened" {
	make_spool
	ebprec spool check -q
	# shellcheck disable=SC2086 # words
	strace -f -o calls ebprec query -q --folded --service db $day >got 2>err
	same "$(ebprec report -q --folded --comm db spool/3.data)" "$(cat got)"
	# The first bytes of each file are looked at.
	same 2 "$(grep -c '[12]\.data", O_RDONLY' calls)"
	[ "$(grep -c '3\.data", O_RDONLY' calls)" -gt 1 ]
	# shellcheck disable=SC2086
	run ebprec query --service nosuch $day
	same 1 "$status"
	contains "$output" "none of the 3 captures of this time in '$EBPREC_SPOOL' has the service"
}

@test "services are listed from the index, from captures, and by rules that are tried on one" {
	make_spool
	want=$'web 120\ndb 3'
	for turn in without with; do
		# shellcheck disable=SC2086 # words
		same "$want" "$(ebprec query --services --json $day 2>err | jq -r '.services[] | "\(.service) \(.samples)"')"
		[ $turn = with ] || ebprec spool check -q
	done
	printf 'front comm:w*\n' >rules
	same $'front 20\ndb 3' "$(ebprec query --services --service-rules rules -i spool/3.data --json | jq -r '.services[] | "\(.service) \(.samples)"')"
	# shellcheck disable=SC2086
	same 120 "$(ebprec query -q --folded --service front --service-rules rules $day 2>err | weight)"
	printf 'front comm:w*\nback\n' >rules
	run ebprec query --services --service-rules rules -i spool/3.data
	same 1 "$status"
	contains "$output" "cannot read 'rules': line 2: a rule is SERVICE FIELD:PATTERN..."
}

@test "the name that a process publishes holds from its time on, in captures, merged, sliced and scrubbed" {
	{
		story 100 web / {1..9}
		printf '3500000000 context 100 checkout\n6500000000 context 100 cart\n8500000000 context 100\n'
	} | gen_story spool/1.data
	{
		story 100 web / 11 12
		story 200 db / 11 12
		printf '0 context 100 checkout\n'
	} | gen_story spool/2.data
	# shellcheck disable=SC2086 # words
	same $'checkout 5\nweb 4\ncart 2\ndb 2' "$(ebprec query --services --json $day 2>err | jq -r '.services[] | "\(.service) \(.samples)"')"
	# shellcheck disable=SC2086
	same 5 "$(ebprec query -q --folded --service checkout $day 2>err | weight)"
	ebprec spool check -q
	# shellcheck disable=SC2086
	same 5 "$(ebprec query -q --folded --service checkout $day 2>err | weight)"
	ebprec merge -q -o all.data spool/?.data
	for service in checkout:5 web:4 cart:2 db:2; do
		same "${service#*:}" "$(ebprec report -q --folded --service "${service%:*}" all.data | weight)"
	done
	same 2 "$(ebprec report -q --folded --service checkout --time 5,8 all.data | weight)"
	ebprec slice -q -o part.data --time 5,8 all.data
	same 2 "$(ebprec report -q --folded --service checkout part.data | weight)"
	ebprec scrub -q -o scrubbed.data --check checkout --check cart all.data
	same "5 4 2 2" "$(ebprec query --services --json -i scrubbed.data | jq -r '.services[].samples' | xargs)"
	printf 'shop context:c*\nfront comm:web\n' >rules
	same $'shop 7\nfront 4\ndb 2' "$(ebprec query --services --service-rules rules --json -i all.data | jq -r '.services[] | "\(.service) \(.samples)"')"
}

@test "each form of an answer is that of the captures joined" {
	perl "$TEST_LIB/gen/random_waits.pl" 7 | gen_story spool/1.data
	{ story 100 web / 61 62 63; echo '64000000000 lost 1'; } | gen_story spool/2.data
	ebprec merge -q -o all.data spool/?.data
	for form in --folded --tree '--tree --json' --bottom-up '--waits --csv' '--off-cpu --folded' '--wakers --tree' '--sort service --json'; do
		# shellcheck disable=SC2086 # words
		ebprec report -q $form all.data >want
		[ -s want ]
		# shellcheck disable=SC2086
		ebprec query -q $form $day >got
		cmp want got || fail "$form"
	done
	ebprec report -q --svg want.svg all.data
	# shellcheck disable=SC2086
	ebprec query -q --svg got.svg $day
	same "$(grep -o '<title>[^<]*' want.svg)" "$(grep -o '<title>[^<]*' got.svg)"
}

@test "a page of a spool has the samples, waits and services of the captures joined" {
	perl "$TEST_LIB/gen/random_waits.pl" 7 | gen_story spool/1.data
	story 100 web / 61 62 63 | gen_story spool/2.data
	ebprec merge -q -o all.data spool/?.data
	ebprec report -q --html want.html all.data
	# shellcheck disable=SC2086
	ebprec query -q --html got.html $day
	grep -q "<title>$EBPREC_SPOOL - ebprec</title>" got.html
	sed "s|$EBPREC_SPOOL|all.data|" got.html | cmp want.html -
	ebprec query -q --since 2023-11-14T22:14:20 --until 2023-11-14T22:14:30 --diff-before 1m --html diff.html 2>err
	grep -q "<title>$EBPREC_SPOOL, 1m before and $EBPREC_SPOOL - ebprec</title>" diff.html
	run ! grep -q /proc/self/fd diff.html
	# Commands of a brief answer are of a file that the reader can make.
	ebprec report --brief all.data >want
	# shellcheck disable=SC2086
	ebprec query --brief $day >got 2>err
	contains "$(cat err)" "FILE is what 'ebprec merge -o FILE' makes"
	sed 's/all\.data/FILE/' want | cmp - got
}

@test "what a spool and a database do not have is refused, with what to do" {
	make_spool
	for option in '--label a=b' '--host web' --hourly; do
		# shellcheck disable=SC2086
		run ebprec query $option
		same 2 "$status"
		contains "$output" "a spool, without --from, has no '${option%% *}'"
	done
	run ebprec query --diff-before 20m --no-html-instruments --html x.html
	same 2 "$status"
	contains "$output" "--diff-before has no '--no-html-instruments'"
	from='--from clickhouse://127.0.0.1:1/prof'
	while IFS='|' read -r option instead; do
		# shellcheck disable=SC2086
		run ebprec query $from $option
		same 2 "$status"
		contains "$output" "$instead"
	done <<-'END'
		--html x.html|--from has no '--html', as a database has sums alone: --svg FILE draws a flame graph; 'ebprec query' on a host itself, without --from, has it
		--waits|--off-cpu has waits by reason and stack
		--no-html-instruments|--from has no '--no-html-instruments'
		--callers main|--tree has calls from the top down
		--debuginfod http://x|'ebprec name --from' adds names
		--comm web|--from has no '--comm'
		--services|--from has no '--services'
		--folded --tree|--folded or --tree, not both
		--svg x --folded|--svg or --folded, not both
		--folded --json|--folded has no '--json'
		--max-depth 3|--from without --tree has no '--max-depth'
		--diff-before 1h --tree|--from with --diff-before has no '--tree'
	END
	run ebprec query --from "$EBPREC_SPOOL"
	same 2 "$status"
	contains "$output" "clickhouse://HOST/DATABASE was expected (--spool DIR reads a folder)"
}

@test "two spans are compared as two captures are" {
	make_spool
	same "$(ebprec diff -q --folded spool/1.data spool/3.data)" \
		"$(ebprec query -q --folded --since 2023-11-14T22:33:10 --until 2023-11-14T22:34:20 --diff-before 20m 2>err)"
	run ebprec query --diff-before 20m --tree --since 22:00
	same 2 "$status"
	contains "$output" "--diff-before has no '--tree'"
}

@test "what limits removed, and what is damaged, is in later answers" {
	make_spool
	ebprec spool check -q
	run ebprec spool prune --max-size "$(($(stat -c %s spool/2.data) + $(stat -c %s spool/3.data)))B"
	same "ebprec: removed 1 captures of '$EBPREC_SPOOL'" "$output"
	[ ! -e spool/1.data ] && [ -e spool/2.data ]
	# shellcheck disable=SC2086 # words
	ebprec query -q --folded $day >got 2>err
	same "$(sum spool/2.data spool/3.data)" "$(cat got)"
	contains "$(cat err)" "at least 1 captures from 2023-11-14T22:13:20 to 2023-11-14T22:14:19, with 60 samples, are no longer in the spool"
	# Also without the index, and of a time that it is not of.
	rm spool/index.sqlite
	# shellcheck disable=SC2086
	contains "$(ebprec query -q --folded $day 2>&1 >/dev/null)" "at least 1 captures"
	ebprec query -q --folded --since 2023-11-14T22:20 --until 2023-11-15 >got 2>err
	same 0 "$(grep -c 'no longer in the spool' err || true)"
	truncate -s 3000 spool/3.data
	run ebprec spool check
	same 1 "$status"
	contains "$output" "'$EBPREC_SPOOL/3.data' is"
	rm spool/2.data
	run ebprec spool check
	contains "$output" "1 captures are missing in '$EBPREC_SPOOL': they were removed by others"
}

@test "captures of an earlier start of the machine are not mixed with later ones" {
	make_spool
	{ echo '- meta {"host": {"boot_wall_ns": 1600000000000000000}}'; story 100 old / 500 501; } | gen_story spool/0.data
	{ echo '- meta {"host": {"boot_wall_ns": 1699999999000000000}}'; story 100 web / 1300; } | gen_story spool/4.data
	# shellcheck disable=SC2086 # words
	same "$(sum spool/[1234].data)" "$(ebprec query -q --folded $day 2>err)"
	contains "$(cat err)" "1 captures from 2023-11-14T22:21:39 to 2023-11-14T22:21:40 are of an earlier start of the machine"
}

@test "a spool that is not there, or has nothing of the time, is one line" {
	for command in query 'spool check' 'spool list'; do
		# shellcheck disable=SC2086 # words
		EBPREC_SPOOL=/no/such run ebprec $command
		same 1 "$status"
		contains "$output" "cannot open the spool '/no/such': No such file or directory"
	done
	run ebprec query
	contains "$output" "there is no capture in '$EBPREC_SPOOL'"
	make_spool
	run ebprec query --since 2020-01-01 --until 2020-01-02
	same 1 "$status"
	contains "$output" "there is no capture of this time in '$EBPREC_SPOOL': the first begins at 2023-11-14T22:13:20, the last at 2023-11-14T22:33:20"
	run ebprec query --last soon
	same 2 "$status"
	run ebprec query --since 2023-11-15 --until 2023-11-14
	contains "$output" "the time ends before it begins"
}

# without FILE COMMAND... - as it is when FILE was removed after the folder was looked at, where its first bytes were read
without() {
	local file=$1
	shift
	strace -f -o calls -P "$EBPREC_SPOOL/$file" -e trace=openat -e inject=openat:error=ENOENT:when=2+ "$@"
}

@test "captures that are removed while a query reads are left out, counted and printed" {
	make_spool
	ebprec spool check -q
	gone='at least 1 captures from 2023-11-14T22:23:20 to 2023-11-14T22:23:59, with 40 samples, are no longer'
	# shellcheck disable=SC2086 # words
	same "$(sum spool/[13].data)" "$(without 2.data ebprec query -q --folded $day 2>err)"
	contains "$(cat err)" "$gone"
	# A single one is left, or none.
	same "$(sum spool/1.data)" "$(without 2.data ebprec query -q --folded --since 2023-11-14 --until 2023-11-14T22:24 2>err)"
	contains "$(cat err)" "$gone"
	run without 2.data ebprec query -q --folded --since 2023-11-14T22:23:30 --until 2023-11-14T22:24
	same 1 "$status"
	contains "$output" "with 40 samples, are no longer"
	contains "$output" "there is no capture of this time"
	echo 'other comm:nosuch' >rules # with rules captures are read, too
	# shellcheck disable=SC2086 # words
	without 2.data ebprec query --services --service-rules rules $day >out 2>err
	contains "$(cat err)" "$gone"
	same 83 "$(sum_field 2 <out)"
}

@test "hostile names and files are passed over, and nothing outside of the spool is read or written" {
	make_spool
	cp spool/1.data secret.data
	ln -s ../secret.data spool/link.data
	cp spool/1.data spool/$'new\nline.data'
	cp spool/1.data spool/--help
	printf 'PERFILE2%.0s' {1..100} >spool/bad.data
	head -c 3000 /dev/urandom >spool/index.sqlite
	printf '\xff%.0s' {1..5000} >spool/removed
	# shellcheck disable=SC2086 # words
	same "$(sum spool/1.data ./spool/--help spool/2.data spool/3.data)" "$(ebprec query -q --folded $day 2>err)"
	contains "$(cat err)" "1 cannot be read"
	strace -f -o calls ebprec spool check >out 2>&1 || true
	contains "$(cat out)" "1 captures in '$EBPREC_SPOOL' have names with control characters"
	contains "$(cat out)" "the index of '$EBPREC_SPOOL' was damaged"
	same "" "$(grep 'secret.data\|link.data", O_' calls || true)"
	[ -s spool/index.sqlite ]
}

@test "a full disk is made free: captures are removed, and are noted" {
	need_root
	mount -t tmpfs -o size=400k tmpfs spool 2>/dev/null || skip "may not mount"
	make_spool
	cat /dev/zero >spool/fill 2>/dev/null || true
	run ebprec spool prune --min-free 1M
	left=$(ls spool/*.data 2>/dev/null || true)
	removed=$(grep -c 'data.\.$' spool/removed || true)
	listed=$(ebprec spool --json | jq -c '[.removed[].samples]')
	umount spool
	same "0 ebprec: removed 3 captures of '$EBPREC_SPOOL'" "$status $output"
	same "" "$left"
	same 3 "$removed"
	same '[60,40,23]' "$listed"
}

@test "a spool has one agent" {
	exec 8>spool/.agent
	flock 8
	run ebprec agent --spool spool 8>&-
	exec 8>&-
	same 1 "$status"
	contains "$output" "cannot record into 'spool': another agent does"
}
