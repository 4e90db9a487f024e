#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Names from a debuginfod server, and from servers that are down, silent or wrong.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir app served home
	export HOME=$PWD/home
	export DEBUGINFOD_CACHE_PATH=$PWD/cache
	fixtures=$BUILD/tests/lib/fixtures
	cp "$fixtures/layout.stripped" app/app
	gen_places -b x.data 1 "$PWD/app/app"
	server=
}

# start_server - a real one, of what is below served/; sets $url.
start_server() {
	local port
	for _ in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 20000))
		debuginfod -d :memory: -p "$port" -F served >server.log 2>&1 3>&- &
		server=$!
		url=http://127.0.0.1:$port
		await_id && return 0
		kill "$server" 2>/dev/null || true
	done
	fail "no server: $(cat server.log)"
}

# await_id - until the server knows the debug file of the fixture.
await_id() {
	local _
	rm -rf probe
	for _ in $(seq 100); do
		kill -0 "$server" 2>/dev/null || return 1
		# shellcheck disable=SC2188
		if DEBUGINFOD_CACHE_PATH=$PWD/probe DEBUGINFOD_URLS=$url debuginfod-find debuginfo \
			0123456789abcdef0123456789abcdef01234567 >/dev/null 2>&1; then
			return 0
		fi
		rm -rf probe
		sleep 0.1
	done
	return 1
}

start_wrong_server() {
	: >port
	perl "$BATS_TEST_DIRNAME/serve.pl" "$1" >port 2>serve.err 3>&- &
	server=$!
	for _ in $(seq 100); do
		[ ! -s port ] || break
		sleep 0.05
	done
	url=http://127.0.0.1:$(cat port)
}

# folded ARGS... - the report in $out, its words in $err.
folded() {
	ebprec report --folded -i x.data "$@" >out 2>err || fail "$(cat err)"
	out=$(cat out)
	err=$(cat err)
}

@test "a stripped program gets its names, once it is allowed" {
	cp "$fixtures/layout.debug" served/it.debug
	start_server
	folded
	case $out in *f_sized*) fail "no server was asked: $out" ;; esac
	folded --debuginfod "$url" --offline
	case $out in *f_sized*) fail "although --offline: $out" ;; esac
	folded --debuginfod "$url"
	contains "$out" "places;f_sized 32"
	contains "$err" "debuginfod: 1 files found"
	ebprec report --symbols-report -i x.data --debuginfod "$url" -q >table
	contains "$(cat table)" "/cache/0123456789abcdef0123456789abcdef01234567/debuginfo"
	# The environment names it, too; and what is in the cache needs no server.
	kill "$server"
	DEBUGINFOD_URLS=$url folded
	contains "$out" "places;f_sized 32"
}

@test "a program that is not there gets its names" {
	cp "$fixtures/layout.debug" served/it.debug
	cp "$fixtures/layout.stripped" served/app
	start_server
	rm app/app
	folded
	case $out in *f_*) fail "from where? $out" ;; esac
	folded --debuginfod "$url"
	contains "$out" "places;f_sized 32"
	contains "$err" "debuginfod: 2 files found"
	# Its debug file alone will do.
	rm -rf cache served/app
	kill "$server"
	start_server
	folded --debuginfod "$url"
	contains "$out" "places;f_sized 32"
}

@test "a server that is down" {
	folded --debuginfod http://127.0.0.1:1
	contains "$err" "debuginfod: cannot ask 'http://127.0.0.1:1': Connection refused"
	contains "$err" "its symbols were stripped"
	contains "$out" "places;[app]"
}

@test "a server that is silent" {
	start_wrong_server silent
	folded --debuginfod "$url" --debuginfod-time 1
	contains "$err" "debuginfod: '$url' took too long"
	contains "$out" "places;[app]"
}

@test "a server that sends something else" {
	for what in layout.other-id it.debug build; do
		cp "$fixtures/$what" wrong 2>/dev/null || echo "no ELF" >wrong
		start_wrong_server wrong
		rm -rf cache
		folded --debuginfod "$url"
		contains "$err" "debuginfod: 1 came with another build-id"
		contains "$err" "its debug file is of another build"
		contains "$out" "places;[app]"
		kill "$server"
	done
}

@test "wrong words" {
	for wrong in "--debuginfod-time 0" "--debuginfod-time x" "--debuginfod"; do
		# shellcheck disable=SC2086
		run ebprec report -i x.data $wrong
		[ "$status" -eq 2 ] || fail "status $status for $wrong"
	done
}

@test "--annotate gets source code, once it is allowed" {
	mkdir served/src
	printf 'int main(void)\n{\n\treturn 0; /* of a server */\n}\n' >served/src/main.c
	cc -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o served/prog "$PWD/served/src/main.c"
	gen_places -b -c s.data 1 "$PWD/served/prog"
	mkdir -p "root$PWD/served"
	cp served/prog "root$PWD/served/"
	start_server
	ebprec report -q --annotate main --symfs root -i s.data >out
	contains "$(cat out)" "served/src/main.c: it is not here (--source-dir DIR; --debuginfod URLS asks a server)"
	ebprec report -q --annotate main --symfs root --debuginfod "$url" -i s.data >out
	contains "$(cat out)" "return 0; /* of a server */"
}
