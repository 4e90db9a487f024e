#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A short form of `make check-mixed`, which asks for 99.5 % of more samples.
load ../helper

@test "of a mixed load with short processes 99 % of the stacks are whole" {
	need_bpf
	said=$("$BATS_TEST_DIRNAME/../../scripts/check-mixed.sh" "$BUILD" 3 99) || fail "$said"
	contains "$said" "user stacks"
}
