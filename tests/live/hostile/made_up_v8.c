/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * made_up_v8 FAULT - a program that has V8's facts, and the frame of a function outer() that TurboFan compiled, with inner()
 * put into it, which runs burn() for half a second of CPU time
 *
 * FAULT: what is wrong with the tables from which the inlined functions are read; "none"; "compiled again": nothing, but after half of
 * the time other code is in its place, with other() put into it; "moved": nothing, but it is
 * not TurboFan's, and after half of the time another function is in the objects of outer(), so far away from where it was that a sum of
 * its addresses is the same.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NODE 20
#define SLOT (-16)
#define SMI  31
int run(void);
#include "tests/lib/fixtures/v8.c"

#define BYTES     4096
#define CODE_AT   2048
#define HEAD      16 /* of an object with code */
#define RETURN_AT 8  /* where the call in the code below returns to */
#define EXITS_AT  16
#define CODE_SIZE 32

#define TAGGED(p)       ((uint64_t)(uintptr_t)(p) + 1)
#define SMALL(n)        ((uint64_t)(n) << 32)
#define POSITION(place) (((uint64_t)(place) + 1) << 1)
#define INLINING(n)     ((uint64_t)(n) << 31)
#define NO_ADDRESS      0x11

static const char *fault;
static uint64_t outer[16], inner[16], other[16], function[16], code[16], deopt[40], literals[8],
	inlinings[8], table[700], bytecode[16], bytecode_table[8], context[4];
static uint64_t places[256]; /* names and scripts */

static int is(const char *name)
{
	return !strcmp(fault, name);
}

/* The map that objects of a type begin with. */
static uint64_t map_of(int type)
{
	static uint64_t maps[16][2];
	static int count;
	uint64_t *map = maps[count++];

	memcpy((uint8_t *)map + v8dbg_class_Map__instance_type__uint16_t,
	       &(uint16_t){ (uint16_t)type }, 2);
	return TAGGED(map);
}

static void put32(uint64_t *object, int at, uint32_t value)
{
	memcpy((uint8_t *)object + at, &value, sizeof(value));
}

/* ---- objects ---- */

static uint64_t text(uint64_t *at, const char *characters)
{
	at[0] = map_of(8);
	put32(at, v8dbg_class_String__length__int32_t, (uint32_t)strlen(characters));
	memcpy(at + 2, characters, strlen(characters));
	return TAGGED(at);
}

static uint64_t script(uint64_t *at, uint64_t name)
{
	at[0] = map_of(v8dbg_type_Script__SCRIPT_TYPE);
	at[NAME / 8] = name;
	return TAGGED(at);
}

static void make_function(uint64_t *shared, uint64_t name, uint64_t in_script, uint32_t literal)
{
	shared[0] = map_of(v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE);
	shared[1] = TAGGED(bytecode);
	shared[2] = name;
	shared[4] = in_script;
	put32(shared, v8dbg_class_SharedFunctionInfo__raw_function_token_offset__int16_t + 8,
	      literal);
}

/* A number of a table of positions: the sign in the lowest bit, seven bits a byte. */
static uint8_t *number(uint8_t *to, int64_t value)
{
	uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

	for (; rest > 0x7f; rest >>= 7)
		*to++ = (uint8_t)(rest | 0x80);
	*to++ = (uint8_t)rest;
	return to;
}

/* A table of positions, of two: the wanted one, at the offset, and one of an outer function's behind it. */
static void make_table(uint64_t *object, int offset, uint64_t position)
{
	uint8_t *begin = (uint8_t *)(object + 2), *at = begin;

	at = number(at, offset + 1);
	at = number(at, (int64_t)position);
	at = number(at, 6);
	at = number(at, (int64_t)(POSITION(10) - position));
	object[0] = map_of(v8dbg_type_ByteArray__BYTE_ARRAY_TYPE);
	put32(object, 12, (uint32_t)(at - begin));
}

static void make_deopt(void)
{
	static const int returns[] = { -1, 3, RETURN_AT, 12 };

	deopt[1] = SMALL(11 + 3 * 4);
	deopt[2 + v8dbg_DeoptimizationDataInlinedFunctionCountIndex] = SMALL(1);
	deopt[2 + v8dbg_DeoptimizationDataLiteralArrayIndex] = TAGGED(literals);
	deopt[2 + v8dbg_DeoptimizationDataOptimizationIdIndex] = SMALL(7);
	deopt[2 + v8dbg_DeoptimizationDataSharedFunctionInfoIndex] = TAGGED(outer);
	deopt[2 + v8dbg_DeoptimizationDataInliningPositionsIndex] = TAGGED(inlinings);
	deopt[2 + 8] = SMALL(EXITS_AT);
	deopt[2 + 9] = SMALL(1);
	deopt[2 + 10] = SMALL(3);
	for (int i = 0; i < 4; i++) {
		deopt[2 + 11 + 3 * i] = SMALL(5);
		deopt[2 + 11 + 3 * i + 2] = SMALL(returns[i]);
	}
	literals[1] = SMALL(3);
	literals[2] = TAGGED(inner);
	literals[3] = TAGGED(other);
	inlinings[1] = SMALL(32);
	inlinings[2] = inlinings[4] = POSITION(10);
}

static void make_objects(void)
{
	uint64_t in = script(places + 100, text(places, "/made_up.js"));

	make_function(outer, text(places + 10, "outer"), in, 1);
	make_function(inner, text(places + 20, "inner"), in, 2);
	make_function(other, text(places + 30, "other"), in, 3);
	text(places + 10 + 37, "other");
	script(places + 100 - 31, TAGGED(places));
	function[0] = map_of(v8dbg_type_JSFunction__JS_FUNCTION_TYPE);
	function[v8dbg_class_JSFunction__shared__SharedFunctionInfo / 8] = TAGGED(outer);
	bytecode[0] = map_of(v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE);
	bytecode[4] = TAGGED(bytecode_table);
	make_table(bytecode_table, 5, POSITION(30));
	make_table(table, 6, INLINING(1) | POSITION(30));
	make_deopt();
	code[0] = map_of(v8dbg_type_Code__CODE_TYPE);
	code[2] = TAGGED(deopt);
	code[3] = TAGGED(table);
	put32(code, 48, is("moved") ? 11 : 13);
	put32(code, 56, CODE_SIZE);
}

/* ---- faults ---- */

static void break_tables(void)
{
	if (is("compiler"))
		put32(code, 48, 12);
	if (is("table place"))
		code[3] = NO_ADDRESS;
	if (is("table type"))
		table[0] = map_of(v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE);
	if (is("table size"))
		put32(table, 12, UINT32_MAX);
	if (is("table full"))
		put32(table, 12, 4097);
	if (is("table end"))
		memset(table + 2, 0xff, 4096), put32(table, 12, 4096);
	if (is("no position"))
		put32(table, 12, 0);
	if (is("position"))
		make_table(table, 6, INLINING(1) | POSITION(31));
	if (is("external position"))
		make_table(table, 6, INLINING(1) | POSITION(30) | 1);
	if (is("inlining"))
		make_table(table, 6, INLINING(3) | POSITION(30));
	if (is("largest inlining"))
		make_table(table, 6, INLINING(0xffff) | POSITION(30));
	if (is("circle"))
		inlinings[2] = INLINING(2) | POSITION(10),
		inlinings[4] = INLINING(1) | POSITION(10);
	if (is("own circle"))
		inlinings[2] = INLINING(1) | POSITION(10);
	if (is("no place"))
		inlinings[2] = 0;
	if (is("inlined function"))
		inlinings[3] = 1;
	if (is("negative function"))
		inlinings[3] = (uint32_t)-2;
	if (is("inlined count"))
		deopt[2 + v8dbg_DeoptimizationDataInlinedFunctionCountIndex] = SMALL(INT32_MAX);
	if (is("literal"))
		literals[2] = NO_ADDRESS;
	if (is("literals place"))
		deopt[2 + v8dbg_DeoptimizationDataLiteralArrayIndex] = NO_ADDRESS;
	if (is("inlinings place"))
		deopt[2 + v8dbg_DeoptimizationDataInliningPositionsIndex] = NO_ADDRESS;
	if (is("inlinings size"))
		inlinings[1] = 0;
}

/* Faults of the exits and of the functions. */
static void break_exits(void)
{
	if (is("deopt place"))
		code[2] = NO_ADDRESS;
	if (is("deopt size"))
		deopt[1] += SMALL(1);
	if (is("exit count"))
		deopt[2 + 10] = SMALL(INT32_MAX);
	if (is("eager count"))
		deopt[2 + 9] = SMALL(UINT32_MAX);
	if (is("counts"))
		deopt[2 + 9] = SMALL(3), deopt[2 + 10] = SMALL(1);
	if (is("no exit"))
		deopt[2 + 11 + 3 * 2 + 2] = SMALL(9);
	if (is("exit order"))
		deopt[2 + 11 + 3 * 2 + 2] = SMALL(12), deopt[2 + 11 + 3 * 3 + 2] = SMALL(RETURN_AT),
				       deopt[2 + 11 + 3 + 2] = SMALL(13);
	if (is("exit bytecode"))
		deopt[2 + 11 + 3 * 2] = SMALL(4);
	if (is("negative bytecode"))
		deopt[2 + 11 + 3 * 2] = SMALL(-1);
	if (is("left code"))
		deopt[2 + 8] = SMALL(RETURN_AT - 1);
	if (is("compiled function"))
		deopt[2 + v8dbg_DeoptimizationDataSharedFunctionInfoIndex] = TAGGED(other);
	if (is("no compiled function"))
		deopt[2 + v8dbg_DeoptimizationDataSharedFunctionInfoIndex] = NO_ADDRESS;
	if (is("bytecode place"))
		inner[1] = NO_ADDRESS;
	if (is("bytecode table"))
		bytecode[4] = NO_ADDRESS;
	if (is("bytecode position"))
		make_table(bytecode_table, 5, POSITION(29));
}

/* ---- running ---- */

static void burn(void)
{
	struct timespec now;
	volatile unsigned n = 0;

	do {
		for (int i = 0; i < 100000; i++)
			n++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		if (is("compiled again") && now.tv_nsec > 250000000) {
			literals[2] = TAGGED(other);
			deopt[2 + v8dbg_DeoptimizationDataOptimizationIdIndex] = SMALL(8);
		}
		if (is("moved") && now.tv_nsec > 250000000) {
			outer[2] = TAGGED(places + 10 + 37);
			outer[4] = TAGGED(places + 100 - 31);
			put32(outer,
			      v8dbg_class_SharedFunctionInfo__raw_function_token_offset__int16_t +
				      8,
			      3);
		}
	} while (!now.tv_sec && now.tv_nsec < 500000000);
}

int main(int argc, char **argv)
{
	/* push rbp; mov rbp, rsp; push rsi; push rdi; call rdx; leave; ret */
	static const uint8_t insns[] = {
		0x55, 0x48, 0x89, 0xe5, 0x56, 0x57, 0xff, 0xd2, 0xc9, 0xc3
	};
	uint8_t *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *stream = (uint64_t *)(void *)(memory + CODE_AT - HEAD);
	void (*compiled)(uint64_t, uint64_t, void (*)(void));

	if (memory == MAP_FAILED)
		return 1;
	fault = argc > 1 ? argv[1] : "none";
	memcpy(memory + CODE_AT, insns, sizeof(insns));
	make_objects();
	code[5] = (uint64_t)(uintptr_t)(memory + CODE_AT);
	break_tables();
	break_exits();
	stream[0] = map_of(v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE);
	stream[1] = TAGGED(code);
	memcpy(&compiled, &(uint8_t *){ memory + CODE_AT }, sizeof(compiled));
	usleep(300000); /* until the mappings are known */
	compiled(TAGGED(function), TAGGED(context), burn);
	return 0;
}
