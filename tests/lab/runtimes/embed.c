/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* embed LIBRARY SCRIPT ARGUMENTS... - runs a script by the Perl in that library, as a server does that embeds it */
#include <dlfcn.h>
#include <stdio.h>

static void *library;

static void *find(const char *name)
{
	void *at = dlsym(library, name);

	if (!at)
		fprintf(stderr, "embed: %s\n", dlerror());
	return at;
}

static void load_modules(void *perl)
{
	void (*new_xs)(void *, const char *, void *, const char *) = find("Perl_newXS");

	new_xs(perl, "DynaLoader::boot_DynaLoader", find("boot_DynaLoader"), __FILE__);
}

int main(int argc, char **argv, char **environment)
{
	void *perl, (*init)(int *, char ***, char ***), *(*allocate)(void), (*construct)(void *);
	int (*parse)(void *, void (*)(void *), int, char **, char **), (*run)(void *);

	library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (argc < 3 || !library)
		return 2;
	argc--;
	argv++;
	init = find("Perl_sys_init3");
	allocate = find("perl_alloc");
	construct = find("perl_construct");
	parse = find("perl_parse");
	run = find("perl_run");
	init(&argc, &argv, &environment);
	perl = allocate();
	construct(perl);
	return parse(perl, load_modules, argc, argv, NULL) || run(perl);
}
