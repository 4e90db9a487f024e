/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/quality/runtimes.h"
#include "analyze/sym/function_label.h"

#include <assert.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "analyze/names/function_table.h"

static const struct {
	const char *name;
	const char *files[4]; /* patterns of what its processes map */
	const char *names_cure, *stacks_cure;
} compilers[RUNTIMES_COMPILERS] = {
	{ "node",
	  { "node", "nodejs", "libnode.so*" },
	  "run it with --perf-basic-prof --interpreted-frames-native-stack",
	  NULL },
	{ "java",
	  { "libjvm.so" },
	  "ebprec record with BPF reads the methods of Java 17 to 25 on x86-64; from Java 17 on 'jcmd PID "
	  "Compiler.perfmap' before the recording ends names stubs, too",
	  "ebprec record with BPF follows those of Java 17 to 25 on x86-64; else run it with "
	  "-XX:+PreserveFramePointer" },
	{ ".NET", { "libcoreclr.so" }, "run it with DOTNET_PerfMapEnabled=1", NULL },
	{ "mono", { "mono", "mono-sgen", "libmonosgen-*.so*" }, "run it with --jitmap", NULL },
	{ "ruby",
	  { "ruby", "ruby[0-9]*", "libruby*.so*" },
	  "from Ruby 3.3 on run it with --yjit-perf",
	  NULL },
	/* src/lj_trace.c writes the map; Debian's build does not. */
	{ "LuaJIT",
	  { "luajit", "luajit-[0-9]*", "libluajit-*.so*" },
	  "only one that was built with -DLUAJIT_USE_PERFTOOLS has names",
	  NULL },
	{ "erlang", { "beam.smp" }, "run it with +JPperf true", NULL },
	/* Only -X perf makes code, which has names. */
	{ "Python",
	  { "libpython3*.so*", "python3", "python3.[0-9]*" },
	  NULL,
	  "build it with -fno-omit-frame-pointer" },
	/* ext/opcache/jit/zend_jit_perf_dump.c writes the map. */
	{ "PHP",
	  { "php", "php[0-9]*", "php-fpm*", "libphp*.so*" },
	  "run it with -d opcache.jit_debug=0x10",
	  NULL },
};

/* The one of `interpreters` that a compiler also has, and that the recorder reads, and 1; 0: none. */
static const uint8_t interpreter_of[RUNTIMES_COMPILERS] = {
	[0] = 2, [1] = 3, [4] = 4, [7] = 1, [8] = 5
};

#define NOT_READ "ebprec does not read them"

static const struct runtimes_interpreter interpreters[RUNTIMES_INTERPRETERS] = {
	{ "Python", "_PyEval_EvalFrameDefault", "py::",
	  "ebprec record with BPF reads those of CPython 3.8 to 3.13; else 'python3 -X perf', from 3.12 on, "
	  "names the innermost of them",
	  "CPython 3.8 to 3.13, with the GIL, is" },
	{ "JavaScript", "Builtins_InterpreterEntryTrampoline", "js::",
	  "ebprec record with BPF reads those of node 18 to 26; else run it with --perf-basic-prof "
	  "--interpreted-frames-native-stack",
	  "that of node 18 to 26 is" },
	/* Compiler.perfmap calls its interpreter so. */
	{ "Java", "Interpreter",
	  "java::", "ebprec record with BPF reads those of Java 17 to 25 on x86-64",
	  "that of Java 17 to 25 on x86-64 is" },
	/* It calls vm_exec_core(), which is no name in a stripped library. */
	{ "Ruby", "rb_vm_exec", "rb::", "ebprec record with BPF reads those of Ruby 3.1",
	  "that of Ruby 3.1 is" },
	{ "PHP", "execute_ex",
	  "php::", "ebprec record with BPF reads those of PHP 8.2, built without threads",
	  "that of PHP 8.2 is" },
	{ "Perl", "Perl_runops_standard",
	  "perl::", "ebprec record with BPF reads those of Perl 5.36, built with threads",
	  "that of Perl 5.36, built with threads, is" },
	{ "Lua", "luaV_execute", NULL, NOT_READ, NULL },
};

uint16_t runtimes_of_file(const char *path)
{
	size_t size;
	const char *start = function_label_base(path, &size);
	char base[64];

	if (size >= sizeof(base))
		return 0;
	memcpy(base, start, size); /* without " (deleted)" */
	base[size] = '\0';
	for (unsigned i = 0; i < RUNTIMES_COMPILERS; i++)
		for (unsigned k = 0; k < 4 && compilers[i].files[k]; k++)
			/* Each begins with a letter of its own; fnmatch() takes a thousand times as long as this. */
			if (compilers[i].files[k][0] == base[0] &&
			    !fnmatch(compilers[i].files[k], base, 0))
				return (uint16_t)(1u << i);
	return 0;
}

uint16_t runtimes_unnamed(void)
{
	uint16_t set = 0;

	for (unsigned i = 0; i < RUNTIMES_COMPILERS; i++)
		if (compilers[i].names_cure)
			set |= (uint16_t)(1u << i);
	return set;
}

const char *runtimes_compiler(unsigned number)
{
	assert(number < RUNTIMES_COMPILERS);
	return compilers[number].name;
}

const char *runtimes_names_cure(unsigned number)
{
	assert(number < RUNTIMES_COMPILERS);
	return compilers[number].names_cure;
}

const char *runtimes_stacks_cure(unsigned number)
{
	assert(number < RUNTIMES_COMPILERS);
	return compilers[number].stacks_cure;
}

const struct runtimes_interpreter *runtimes_interpreter(unsigned number)
{
	assert(number < RUNTIMES_INTERPRETERS);
	return &interpreters[number];
}

unsigned runtimes_interpreter_of(uint16_t set)
{
	for (unsigned i = 0; i < RUNTIMES_COMPILERS; i++)
		if (set & 1u << i && interpreter_of[i])
			return interpreter_of[i] - 1u;
	return RUNTIMES_INTERPRETERS;
}

/* gcc calls a part of a function that it moved away "NAME.cold". */
static int is_part_of(const char *name, const char *function)
{
	size_t n = strlen(function);

	return !strncmp(name, function, n) && (!name[n] || name[n] == '.');
}

uint8_t runtimes_of_function(const char *name)
{
	for (unsigned i = 0; i < RUNTIMES_INTERPRETERS; i++)
		if (is_part_of(name, interpreters[i].function))
			return (uint8_t)(1u << i);
	return 0;
}

uint8_t runtimes_of_named(const char *name)
{
	for (unsigned i = 0; i < RUNTIMES_INTERPRETERS; i++)
		if (interpreters[i].prefix &&
		    !strncmp(name, interpreters[i].prefix, strlen(interpreters[i].prefix)))
			return (uint8_t)(1u << i);
	return 0;
}
