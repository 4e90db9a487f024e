/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab, resolve: variables of this very program, as the linker put them and dlsym() would find them */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "analyze/sym/bundle.h"
#include "analyze/sym/symtab/symtab.h"
#include "tests/unit/nameroot.h"

struct pair {
	long first, second;
};

struct pair set_pair = { 1, 2 };
struct pair zero_pair;
static const struct pair constant_pair = { 3, 4 };
static _Thread_local struct pair own_pair;

/* Where this program is in memory, and the code of it. */
struct place {
	uint64_t bias, code_vaddr, code_off_bytes;
	bool has_code;
};

static int take_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;

	p->bias = info->dlpi_addr;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		p->has_code = true;
		p->code_vaddr = info->dlpi_phdr[i].p_vaddr;
		p->code_off_bytes = info->dlpi_phdr[i].p_offset;
	}
	return 1; /* the program comes first */
}

static struct place program(void)
{
	struct place p = { 0 };

	dl_iterate_phdr(take_program, &p);
	assert_true(p.has_code); /* its address may be 0 */
	return p;
}

static void check_variable(struct symtab *t, const struct place *p, const void *at,
			   const char *name, uint64_t into_bytes)
{
	uint64_t vaddr = (uint64_t)(uintptr_t)at - p->bias, start = 0;
	const char *found = symtab_find(t, vaddr, true, &start);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(vaddr - start, into_bytes);
}

static void symtab_of_variables_has_data_and_no_code(void **state)
{
	const struct place p = program();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file *elf;
	struct symtab *t;

	assert_int_equal(elf_file_open(fd, &elf), 0);
	assert_int_equal(symtab_new_variables(elf, NULL, &t), 0);
	check_variable(t, &p, &set_pair, "set_pair", 0);
	check_variable(t, &p, &zero_pair.second, "zero_pair", sizeof(long));
	check_variable(t, &p, &constant_pair, "constant_pair", 0);
	check_variable(t, &p, (const void *)(uintptr_t)&check_variable, NULL, 0);
	check_variable(t, &p, &own_pair, NULL, 0); /* each thread has its own */
	check_variable(t, &p, t, NULL, 0);         /* the heap */
	symtab_free(t);
	elf_file_close(elf);
	close(fd);
}

/* Behind the code of the program, as far as it is in memory. */
static const struct resolved *variable_at(struct resolver *r, const char *path,
					  const struct place *p, const void *at)
{
	struct resolver_file f = file_of(path, false);
	uint64_t code = p->bias + p->code_vaddr;

	return resolver_variable(r, resolver_add_file(r, &f), p->code_off_bytes,
				 p->code_off_bytes + ((uint64_t)(uintptr_t)at - code));
}

static void resolver_variables_travel_in_a_bundle(void **state)
{
	struct resolver_opts opts = { .roots = { .symfs = "/nowhere" },
				      .demangle = true,
				      .bundle_count = 1 };
	struct resolver *r = resolver_of(NULL, NULL), *away;
	const struct place p = program();
	const struct resolved *x;
	char path[4096] = "";
	struct bundle *b;
	size_t size_bytes;
	uint8_t *data;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	x = variable_at(r, path, &p, &zero_pair.second);
	assert_int_equal(x->reason, NAME_FOUND);
	assert_string_equal(x->name, "zero_pair");
	assert_int_equal(x->into_bytes, sizeof(long));
	assert_ptr_equal(x, variable_at(r, path, &p, &zero_pair.second));
	assert_int_equal(variable_at(r, path, &p, r)->reason, NAME_BETWEEN);
	assert_int_equal(resolver_bundle(r, 0, false, &data, &size_bytes), 0);
	resolver_free(r);

	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_int_equal(bundle_count(b), 1); /* nothing for a location without a name */
	opts.bundles = &b;
	assert_int_equal(resolver_new(&opts, &away), 0);
	x = variable_at(away, path, &p, &zero_pair.second);
	assert_int_equal(x->reason, NAME_FOUND);
	assert_string_equal(x->name, "zero_pair");
	assert_int_equal(x->into_bytes, sizeof(long));
	assert_int_equal(variable_at(away, path, &p, &set_pair)->reason, NAME_BETWEEN);
	resolver_free(away);
	bundle_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symtab_of_variables_has_data_and_no_code),
		cmocka_unit_test(resolver_variables_travel_in_a_bundle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
