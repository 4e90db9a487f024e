#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Web servers of Python: the functions of their pages have the shares of CPU time that the server measures itself.

load ../../lib/helper

setup() {
	need_bpf
	server=$BATS_TEST_DIRNAME/../../lib/python/server.py
	cd "$BATS_TEST_TMPDIR" || return
	python=/usr/bin/python3
	"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 14))' 2>/dev/null ||
		skip "needs /usr/bin/python3 to be of 3.8 to 3.13"
}

# held_to_truth NAME - of at least 200 samples of the server in the loop 99 % have Python frames, but for those that the report
# has as taken before the recorder knew the interpreter, at most 10 %; and no function's share is off by 4 standard
# deviations: at random one of 5 functions is in one of 3,000 runs.
held_to_truth() {
	ebprec report --folded -p "$(jq .pid truth)" -i x.data >folded 2>err
	"$python" "$server" check truth <folded >counts 2>shares
	read -r all some worst <counts
	early=$(sed -n 's/.* \([0-9]*\) of [0-9]* samples in Python code lack functions of it: the recorder did not know.*/\1/p' err)
	{ [ "$all" -ge 200 ] && [ $(((some + ${early:-0}) * 100)) -ge $((all * 99)) ] && [ $((some * 10)) -ge $((all * 9)) ] && [ "${worst%.*}" -lt 4 ]; } ||
		fail "$1: $all samples, $some with frames, off by $worst: $(cat shares err)"
}

# bats test_tags=long
@test "functions of a server have the shares of CPU time that it measures, with Flask and Django where they are" {
	for framework in wsgi flask django; do
		[ $framework = wsgi ] || "$python" -c "import $framework" 2>/dev/null || continue
		rm -f truth
		ebprec record -q -F 1999 -o x.data -- "$python" "$server" run $framework truth 4
		held_to_truth $framework
	done
	# The slow page sleeps in a function of its own.
	ebprec report -q --waits --min-percent 0 --csv -p "$(jq .pid truth)" -i x.data >out
	grep -qE ',nanosleep,.*,py::wait_for_database \(server.py\)' out || fail "$(cat out)"
}

# bats test_tags=long
@test "uwsgi, which CPython is embedded in as a plug-in's library, has them, too" {
	command -v uwsgi-core >/dev/null && [ -e /usr/lib/uwsgi/plugins/python3_plugin.so ] ||
		skip "needs uwsgi-plugin-python3"
	FRAMEWORK=wsgi TRUTH=truth ebprec record -q -F 1999 -o x.data -- uwsgi-core --plugin python3 \
		--http-socket 127.0.0.1:0 --wsgi-file "$server" --disable-logging --die-on-term 2>log 3>&- &
	recorder=$!
	for _ in $(seq 300); do
		grep -q 'spawned uWSGI worker' log && break
		sleep 0.1
	done
	port=$(sed -n 's/.*bound to TCP address 127.0.0.1:\([0-9]*\) .*/\1/p' log)
	[ -n "$port" ] || fail "$(cat log)"
	"$python" "$server" ask "$port" 4
	kill -TERM "$(pgrep -P $recorder -x uwsgi-core)"
	wait $recorder || true
	held_to_truth uwsgi
}
