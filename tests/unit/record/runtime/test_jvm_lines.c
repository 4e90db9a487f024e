/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jvm_lines: by tables written as HotSpot of Java 17 and 25 writes them (tests/lab/jvm has those of a JVM) */
#include "record/runtime/jvm_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS 300

static uint8_t table[PAIRS * 11 + 1];
static size_t size;
static struct {
	uint32_t bytecode, line;
} pairs[PAIRS];

static const uint32_t versions[] = { 17, 19, 20, 25 };

/* CompressedWriteStream::write_int(), of 20 and later UNSIGNED5::write_uint(). */
static void put_number(uint32_t version, uint32_t value)
{
	uint32_t zeroes = version >= 20, most = 192 - zeroes;

	for (int i = 0; i < 4 && value >= most; i++) {
		value -= most;
		table[size++] = (uint8_t)(zeroes + most + value % 64);
		value /= 64;
	}
	table[size++] = (uint8_t)(zeroes + value);
}

static void put_distance(uint32_t version, int32_t value)
{
	put_number(version, (uint32_t)value << 1 ^ (uint32_t)(value >> 31));
}

/* CompressedLineNumberWriteStream::write_pair(). */
static void put_pair(uint32_t version, int32_t bytecodes, int32_t lines)
{
	if (bytecodes >= 0 && bytecodes < 32 && lines >= 0 && lines < 8 &&
	    (bytecodes << 3 | lines) != 0 && (bytecodes << 3 | lines) != 0xff) {
		table[size++] = (uint8_t)(bytecodes << 3 | lines);
		return;
	}
	table[size++] = 0xff;
	put_distance(version, bytecodes);
	put_distance(version, lines);
}

/* Pairs by chance: some near, some far, some lines backwards. */
static void make(uint32_t version)
{
	uint32_t bytecode = 0, line = 20000;

	size = 0;
	for (size_t i = 0; i < PAIRS; i++) {
		uint32_t to = bytecode + (i ? 1 + (uint32_t)rand() % (i % 9 ? 30 : 900) : 0);
		uint32_t at = line + (uint32_t)rand() % (i % 5 ? 9 : 3000) - (i % 3 ? 0 : 40);

		at = at < 60000 ? at : 100;
		put_pair(version, (int32_t)(to - bytecode), (int32_t)at - (i ? (int32_t)line : 0));
		pairs[i].bytecode = bytecode = to;
		pairs[i].line = line = at;
	}
	table[size++] = 0;
}

static void a_bytecode_has_the_line_of_the_last_pair_before_it(void **state)
{
	(void)state;
	srand(11);
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		make(versions[v]);
		assert_int_equal(jvm_lines_size(versions[v], table, sizeof(table)), size);
		for (size_t i = 0; i < PAIRS; i++) {
			uint32_t next = i + 1 < PAIRS ? pairs[i + 1].bytecode : 65535;

			assert_int_equal(
				jvm_lines_find(versions[v], table, size, pairs[i].bytecode),
				pairs[i].line);
			assert_int_equal(jvm_lines_find(versions[v], table, size, next - 1),
					 pairs[i].line);
		}
	}
}

/* javac orders pairs by bytecode, other compilers need not: as in Method::line_number_from_bci(). */
static void pairs_without_order_and_two_of_one_bytecode(void **state)
{
	(void)state;
	size = 0;
	put_pair(17, 10, 5);
	put_pair(17, -10, 2); /* 0: 7 */
	put_pair(17, 20, 1);  /* 20: 8 */
	put_pair(17, 0, 4);   /* 20: 12 */
	table[size++] = 0;
	assert_int_equal(jvm_lines_find(17, table, size, 0), 7);
	assert_int_equal(jvm_lines_find(17, table, size, 10), 5);
	assert_int_equal(jvm_lines_find(17, table, size, 19), 5);
	assert_int_equal(jvm_lines_find(17, table, size, 20), 8); /* the first one of those */
	assert_int_equal(jvm_lines_find(17, table, size, 21), 12);
}

static void a_table_without_an_end_or_with_numbers_too_large_has_no_lines(void **state)
{
	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		make(versions[v]);
		for (size_t n = 0; n < size; n++) {
			assert_int_equal(jvm_lines_size(versions[v], table, n), 0);
			assert_int_equal(jvm_lines_find(versions[v], table, n, 0), 0);
		}
		size = 0;
		put_pair(versions[v], 70000, 1);
		table[size++] = 0;
		assert_int_equal(jvm_lines_find(versions[v], table, size, 70000), 0);
		size = 0;
		put_pair(versions[v], 3, -1);
		table[size++] = 0;
		assert_int_equal(jvm_lines_size(versions[v], table, size), 0);
	}
	/* A zero inside of a number. */
	memcpy(table, (uint8_t[]){ 0xff, 0, 0, 0 }, 4);
	assert_int_equal(jvm_lines_size(25, table, 4), 0);
	assert_int_equal(jvm_lines_size(17, table, 4), 4);
}

static void a_bytecode_before_all_pairs_has_no_line(void **state)
{
	(void)state;
	size = 0;
	put_pair(25, 4, 7);
	table[size++] = 0;
	assert_int_equal(jvm_lines_find(25, table, size, 3), 0);
	assert_int_equal(jvm_lines_find(25, table, size, 4), 7);
	assert_int_equal(jvm_lines_find(25, (uint8_t[]){ 0 }, 1, 0), 0);
	assert_int_equal(jvm_lines_size(25, (uint8_t[]){ 0 }, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bytecode_has_the_line_of_the_last_pair_before_it),
		cmocka_unit_test(pairs_without_order_and_two_of_one_bytecode),
		cmocka_unit_test(a_table_without_an_end_or_with_numbers_too_large_has_no_lines),
		cmocka_unit_test(a_bytecode_before_all_pairs_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
