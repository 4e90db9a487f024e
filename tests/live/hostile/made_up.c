/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * made_up LIBRARY FAULT - an interpreter that has frames of Ruby's, PHP's or Perl's form, and one fault
 *
 * LIBRARY is a file of tests/lib/fixtures/ruby.c, php.c or perl.c: its loop runs main, outer and a block, entered anew for the block, for
 * half a second of CPU time.  FAULT: what is wrong with the frames, their code or texts; "none"; "edges": nothing, but
 * frames lie where memory begins or ends; "itself": nothing, but the method is one of the class itself.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STACK_WORDS (1 << 14)
#define FAR         0x10 /* no address */

static const char *fault;
static int (*loop)(int (*fn)(void));

static int is(const char *name)
{
	return !strcmp(fault, name);
}

/* Memory between pages that cannot be read, as calloc(): from their first byte on, or up to their last one. */
static void *between_edges(size_t size_bytes, int at_end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size_bytes + page - 1) / page * page;
	uint8_t *at;

	if (!is("edges"))
		return calloc(1, size_bytes);
	at = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(at + page, room, PROT_READ | PROT_WRITE);
	return at + page + (at_end ? room - size_bytes : 0);
}

static int burn(void)
{
	struct timespec now;
	volatile unsigned n = 0;

	do {
		for (int i = 0; i < 100000; i++)
			n++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (!now.tv_sec && now.tv_nsec < 500000000);
	return 0;
}

static __attribute__((noinline)) int inner(void)
{
	return loop(burn) + 1;
}

static uint64_t word_of(const void *p)
{
	return (uint64_t)p;
}

/* ---- Ruby ---- */

static uint64_t ruby_text(const char *text)
{
	uint64_t *s = calloc(5, 8);

	s[0] = is("text type") ? 0x2007 & 0x1f : 0x2005;
	s[2] = is("text size") ? 1ULL << 40 : strlen(text);
	s[3] = is("text place") ? FAR : word_of(strdup(text));
	return word_of(s);
}

/* {flags, class, superclass, rest}: rest leads to a table of variables, with this one. */
static uint64_t ruby_class(uint64_t flags, uint64_t id, uint64_t value)
{
	uint64_t *class = calloc(5, 8), *rest = calloc(2, 8), *table = calloc(7, 8),
		 *variable = calloc(3, 8);

	class[0] = flags;
	class[3] = is("class place") ? FAR : word_of(rest);
	rest[1] = word_of(table);
	table[5] = is("variable count") ? 1ULL << 63 : 1;
	table[6] = is("variable place") ? FAR : word_of(variable);
	variable[0] = is("variable gone") ? ~0ULL : 1;
	variable[1] = id;
	variable[2] = value;
	return word_of(class);
}

/* Array has the id that names of classes have. */
static uint64_t ruby_array(void)
{
	uint64_t *name = calloc(5, 8);

	name[0] = 5 << 14 | 5;
	memcpy(name + 2, "Array", 5);
	return ruby_class(2, is("id") ? 0x106 : 0x100, word_of(name));
}

static uint64_t ruby_owner(void)
{
	uint64_t class = ruby_class(is("owner type") ? 5 : 2, is("name id") ? 0x110 : 0x100,
				    ruby_text(is("owner name") ? "made up" : "Made::Up"));
	uint64_t single = ruby_class(1 << 12 | 2, 0x120, class);

	((uint64_t *)class)[1] = is("attached") ? class : single;
	return is("itself") || is("attached") ? single : class;
}

/* Methods of code are of one that is a method. */
static uint64_t ruby_code(const char *name, const char *base, uint64_t method)
{
	uint64_t *code = calloc(5, 8), *body = calloc(24, 8);

	code[0] = is("code type") ? 0x501a : 0x701a;
	code[2] = is("body place") ? FAR : word_of(body);
	body[0] = 8ULL << 32; /* instructions */
	body[1] = word_of(calloc(8, 8));
	body[8] = ruby_text("/srv/made_up.rb");
	body[9] = ruby_text(is("name") ? "another" : base);
	body[10] = ruby_text(name);
	body[22] = method ? method : word_of(code);
	return word_of(code);
}

static uint64_t ruby_entry(uint64_t code)
{
	uint64_t *entry = calloc(5, 8), *definition = calloc(3, 8);

	definition[0] = is("definition type");
	definition[1] = is("definition") ? word_of(definition) : code;
	entry[0] = is("entry type") ? 0x101a : 0x601a;
	entry[2] = is("definition place") ? FAR : word_of(definition);
	entry[4] = is("owner place") ? FAR : ruby_owner();
	return word_of(entry);
}

/*
 * {pc, sp, iseq, self, ep, ..}: the first one is at the end of the stack.  An environment is {entry, the one it is in, flags}.  Returns
 * where it is.
 */
static uint64_t ruby_frame(uint64_t **at, uint64_t code, uint64_t flags, uint64_t entry,
			   uint64_t outer)
{
	uint64_t *env = between_edges(24, code & 16), *body = code ? ((uint64_t **)code)[2] : NULL;

	*at -= 8;
	memset(*at, 0, 64); /* memory that was never written is not there */
	env[0] = entry;
	env[1] = is("circle") ? word_of(env + 2) | 1 : outer | 1;
	env[2] = is("frame flags") ? flags & 0xffff : flags;
	if (is("circle"))
		env[2] &= ~2ULL;
	if (code && !is("body place"))
		(*at)[0] = body[1] + (is("instruction") ? 4096 : 16);
	(*at)[2] = code;
	(*at)[4] = is("environment place") ? FAR : word_of(env + 2);
	return word_of(env + 2);
}

static void run_ruby(uint64_t **current, uint64_t *array)
{
	uint64_t *stack = between_edges(STACK_WORDS * 8UL, 1), *at = stack + STACK_WORDS,
		 *state = calloc(8, 8);
	uint64_t outer = ruby_code("outer", "outer", 0),
		 entry = is("circle") ? 0 : ruby_entry(outer), env = 0;

	*array = ruby_array();
	ruby_frame(&at, outer, 0x79990821, 0, 0);
	ruby_frame(&at, ruby_code("<main>", "<main>", 0), 0x77770021, 0, 0);
	for (int i = is("depth") ? STACK_WORDS / 8 - 8 : 1; i > 0; i--)
		env = ruby_frame(&at, outer, 0x11110003, entry, 0);
	ruby_frame(&at, 0, 0x55550083, 0, 0);
	ruby_frame(&at, ruby_code("block in outer", "outer", outer), 0x22220021, 0, env);
	state[0] = word_of(stack);
	state[1] = STACK_WORDS;
	state[2] = word_of(is("stack") ? at - STACK_WORDS : at) + (is("frame place") ? 8 : 0);
	*current = is("state place") ? (uint64_t *)FAR : state;
	loop(inner);
}

/* ---- PHP ---- */

static uint64_t php_text(const char *text)
{
	uint64_t *s = calloc(1, 32 + strlen(text));

	s[0] = (is("text type") ? 7ULL : 6ULL) << 32 | 1;
	s[2] = is("text size") ? 1ULL << 40 : strlen(text);
	strcpy((char *)(s + 3), text);
	return is("text place") ? FAR : word_of(s);
}

static uint64_t php_code(const char *name)
{
	uint64_t *code = calloc(32, 8);

	code[0] = is("code type") ? 9 : 2;
	code[1] = name ? php_text(name) : 0;
	code[10] = 4; /* instructions */
	code[11] = word_of(calloc(4, 32));
	code[19] = php_text("/srv/made_up.php");
	code[20] = 20ULL << 32 | 10; /* its lines */
	return word_of(code);
}

/* {opline, .., func, .., flags, prev}. */
static uint64_t *php_frame(uint64_t *previous, uint64_t code, uint64_t flags)
{
	uint64_t *frame = between_edges(80, !!previous), instr = ((uint64_t *)code)[11] + 32;

	((uint32_t *)instr)[6] = is("line") ? 21 : 12;
	frame[0] = instr + (is("instruction") ? 4096 : 0);
	frame[3] = is("body place") ? FAR : code;
	frame[5] = flags;
	frame[6] = is("depth") && !previous ? word_of(frame) : word_of(previous);
	return is("frame place") ? (uint64_t *)FAR : frame;
}

static void run_php(uint8_t *globals)
{
	uint64_t *frame = php_frame(NULL, php_code(is("name") ? "f" : NULL), 3 << 16);

	if (!is("frame place"))
		frame = php_frame(frame, php_code("outer"), 0);
	if (!is("frame place"))
		frame = php_frame(frame, php_code("inner"), 1 << 17);
	memcpy(globals + 488, &frame, sizeof(frame));
	loop(inner);
}

/* ---- Perl ---- */

#define PERL_CONTEXT_BYTES 104

static void put32(void *object, size_t at, uint32_t value)
{
	memcpy((uint8_t *)object + at, &value, sizeof(value));
}

static uint64_t perl_value(uint32_t type, void *body, uint64_t of)
{
	uint64_t *value = calloc(3, 8);

	value[0] = word_of(body);
	value[1] = (uint64_t)type << 32 | 1;
	value[2] = of;
	return word_of(value);
}

static uint64_t perl_key(const char *text)
{
	uint8_t *key = calloc(1, 16 + strlen(text));

	put32(key, 4, is("text size") ? 1u << 25 : (uint32_t)strlen(text));
	strcpy((char *)key + 8, is("name") ? "\1" : text);
	if (is("text type"))
		key[8 + strlen(text) + 1] = 0x40;
	return is("text place") ? FAR : word_of(key);
}

static uint64_t perl_sub(const char *name)
{
	uint64_t *stash = calloc(8, 8), *glob = calloc(8, 8), *code = calloc(16, 8);

	stash[4] = perl_key("Made");
	glob[4] = perl_key(name);
	glob[5] = is("environment place") ? FAR : perl_value(12 | 1u << 25, stash, 0);
	code[7] = perl_value(9, glob, word_of(calloc(8, 8)));
	code[8] = word_of("/srv/made_up.pl");
	return perl_value(is("code type") ? 5 : 13, is("body place") ? (void *)FAR : code, 0);
}

static uint64_t perl_statement(uint32_t line)
{
	uint64_t *statement = calloc(11, 8);

	put32(statement, 32, is("instruction") ? 99 : 195);
	put32(statement, 36, line);
	put32(statement, 60, line);
	statement[6] = word_of("/srv/made_up.pl");
	return word_of(statement);
}

static void perl_context(uint8_t *stack, uint32_t index, uint64_t code, uint64_t from, uint64_t to)
{
	uint64_t *context = (uint64_t *)(stack + (size_t)index * PERL_CONTEXT_BYTES);

	*(uint8_t *)context = is("frame flags") ? 12 : 9;
	context[2] = from;
	context[6] = to;
	put32(context, 56, is("line") ? index : index - 1); /* the one around it */
	context[9] = code;
}

/* A function alone between two loops would be an eval's, which is no entry. */
static int call_sub(void)
{
	return inner() + 1;
}

static void run_perl(uint64_t **current, int (*run)(int (*fn)(void)))
{
	uint64_t *interpreter = calloc(500, 8), *stack = calloc(7, 8);
	uint8_t *contexts = calloc(2, PERL_CONTEXT_BYTES);

	perl_context(contexts, 0, perl_sub("outer"), perl_statement(3), word_of(stack));
	perl_context(contexts, 1, perl_sub("inner"), perl_statement(12), 0);
	stack[1] = word_of(contexts);
	stack[2] = is("depth") ? word_of(stack) : 0;
	put32(stack, 32, 1);
	put32(stack, 36, 2);
	put32(stack, 40, is("stack") ? 7 : 1);
	put32(stack, 44, 1);
	interpreter[1] = word_of(calloc(8, 8));
	interpreter[26] = perl_statement(22);
	interpreter[28] = is("frame place") ? FAR : word_of(stack);
	*current = is("state place") ? (uint64_t *)FAR : interpreter;
	run(call_sub);
}

int main(int argc, char **argv)
{
	int (*run)(int (*fn)(void));
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL, *globals;

	if (!library)
		return 2;
	fault = argv[2];
	globals = dlsym(library, "executor_globals");
	*(void **)&loop = dlsym(library, globals ? "execute_ex" : "rb_vm_exec");
	*(void **)&run = dlsym(library, "perl_run");
	if (run)
		*(void **)&loop = dlsym(library, "Perl_runops_standard");
	usleep(300000); /* until the mappings are known */
	if (run)
		run_perl(dlsym(library, "PL_current_context"), run);
	else if (globals)
		run_php(globals);
	else
		run_ruby(dlsym(library, "ruby_current_ec"), dlsym(library, "rb_cArray"));
	return 0;
}
