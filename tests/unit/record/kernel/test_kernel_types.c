/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/kernel/kernel_types.h"

static struct btf *picked; /* what the last pick wrote, as libbpf reads it */

static struct btf *pick(const struct btf *all, const struct btf *programs)
{
	int fd = memfd_create("types", MFD_CLOEXEC);
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(0, kernel_types_pick(all, programs, fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	picked = btf__parse(path, NULL);
	assert_non_null(picked);
	close(fd);
	return picked;
}

/* The types of programs that have structs of these names, each with one field. */
static struct btf *programs_with(const char *const *names)
{
	struct btf *b = btf__new_empty();
	int number = btf__add_int(b, "int", 4, BTF_INT_SIGNED);

	for (; *names; names++) {
		assert_true(btf__add_struct(b, *names, 4) > 0);
		assert_int_equal(0, btf__add_field(b, "field", number, 0, 0));
	}
	return b;
}

/* struct task { int pid; const u32 flag : 3; struct mm *mm; struct { struct times { long sum[2]; } t; }; }; struct mm; */
static struct btf *small_kernel(void)
{
	struct btf *b = btf__new_empty();
	int number = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int word = btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	int constant = btf__add_const(b, btf__add_typedef(b, "u32", number));
	int mm = btf__add_struct(b, "mm", 8), sums, times, inner;

	btf__add_field(b, "users", word, 0, 0);
	sums = btf__add_array(b, number, word, 2);
	times = btf__add_struct(b, "times", 16);
	btf__add_field(b, "sum", sums, 0, 0);
	inner = btf__add_struct(b, NULL, 16);
	btf__add_field(b, "t", times, 0, 0);
	mm = btf__add_ptr(b, mm);
	btf__add_struct(b, "task", 32);
	btf__add_field(b, "pid", number, 0, 0);
	btf__add_field(b, "flag", constant, 32, 3);
	btf__add_field(b, "mm", mm, 64, 0);
	btf__add_field(b, NULL, inner, 128, 0);
	return b;
}

static const struct btf_type *struct_of(const struct btf *b, const char *name)
{
	int id = btf__find_by_name_kind(b, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(b, (uint32_t)id) : NULL;
}

static const struct btf_type *type_of(const struct btf *b, const struct btf_type *t,
				      uint32_t member)
{
	return btf__type_by_id(b, (uint32_t)btf__resolve_type(b, btf_members(t)[member].type));
}

static void a_struct_comes_with_what_is_in_it_and_without_what_it_points_to(void **state)
{
	struct btf *kernel = small_kernel(),
		   *programs = programs_with((const char *const[]){ "task", "other", NULL });
	const struct btf *b = pick(kernel, programs);
	const struct btf_type *task = struct_of(b, "task"), *inner;

	(void)state;
	assert_non_null(task);
	assert_int_equal(32, task->size);
	assert_int_equal(4, btf_vlen(task));
	assert_string_equal("flag", btf__name_by_offset(b, btf_members(task)[1].name_off));
	assert_int_equal(32, btf_member_bit_offset(task, 1));
	assert_int_equal(3, btf_member_bitfield_size(task, 1));
	assert_int_equal(BTF_KIND_INT, btf_kind(type_of(b, task, 1)));
	assert_int_equal(64, btf_member_bit_offset(task, 2));
	assert_int_equal(BTF_KIND_PTR, btf_kind(type_of(b, task, 2)));
	assert_int_equal(128, btf_member_bit_offset(task, 3));
	inner = type_of(b, type_of(b, task, 3), 0);
	assert_string_equal("times", btf__name_by_offset(b, inner->name_off));
	assert_int_equal(16, btf__resolve_size(b, btf_members(inner)[0].type));
	assert_null(struct_of(b, "mm"));
	btf__free(picked);
	btf__free(programs);
	btf__free(kernel);
}

static void what_is_behind_three_underscores_is_no_part_of_the_name(void **state)
{
	struct btf *kernel = small_kernel(),
		   *programs = programs_with((const char *const[]){ "mm___6_1", "tas", NULL });
	const struct btf *b = pick(kernel, programs);

	(void)state;
	assert_non_null(struct_of(b, "mm"));
	assert_null(struct_of(b, "task"));
	btf__free(picked);
	btf__free(programs);
	btf__free(kernel);
}

/* The place and size of each field of a struct, and of those in it, as libbpf finds them. */
static void assert_same_fields(const struct btf *a, const struct btf_type *of_a,
			       const struct btf *b, const struct btf_type *of_b, size_t *count)
{
	assert_int_equal(btf_kind(of_a), btf_kind(of_b));
	assert_int_equal(of_a->size, of_b->size);
	assert_int_equal(btf_vlen(of_a), btf_vlen(of_b));
	for (uint32_t i = 0; i < btf_vlen(of_a); i++) {
		const struct btf_member *m = &btf_members(of_a)[i], *n = &btf_members(of_b)[i];
		const struct btf_type *in_a = type_of(a, of_a, i), *in_b = type_of(b, of_b, i);

		assert_string_equal(btf__name_by_offset(a, m->name_off),
				    btf__name_by_offset(b, n->name_off));
		assert_int_equal(btf_member_bit_offset(of_a, i), btf_member_bit_offset(of_b, i));
		assert_int_equal(btf_member_bitfield_size(of_a, i),
				 btf_member_bitfield_size(of_b, i));
		assert_int_equal(btf__resolve_size(a, m->type), btf__resolve_size(b, n->type));
		assert_int_equal(btf_kind(in_a), btf_kind(in_b));
		if (btf_is_composite(in_a))
			assert_same_fields(a, in_a, b, in_b, count);
		++*count;
	}
}

static void fields_of_the_running_kernel_are_where_its_own_types_have_them(void **state)
{
	static const char *const names[] = { "task_struct", "mm_struct", "signal_struct", "file",
					     NULL };
	struct btf *kernel = btf__load_vmlinux_btf(), *programs;
	const struct btf *b;
	size_t count = 0;

	(void)state;
	if (!kernel)
		skip();
	programs = programs_with(names);
	b = pick(kernel, programs);
	for (size_t i = 0; names[i]; i++)
		assert_same_fields(kernel, struct_of(kernel, names[i]), b, struct_of(b, names[i]),
				   &count);
	assert_true(count > 500);
	btf__free(picked);
	btf__free(programs);
	btf__free(kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_struct_comes_with_what_is_in_it_and_without_what_it_points_to),
		cmocka_unit_test(what_is_behind_three_underscores_is_no_part_of_the_name),
		cmocka_unit_test(fields_of_the_running_kernel_are_where_its_own_types_have_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
