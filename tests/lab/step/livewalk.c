/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "format/unwind/table/module_table.h"
#include "tests/lab/step/livewalk.h"
#include "tests/lib/table_of_file.h"

enum { MAX_MAPS = 64, N_GPRS = 16, PAGE_BYTES = 4096, RED_ZONE_BYTES = 128 };

struct map {
	uint64_t start, end, bias;
	struct module_table *table; /* owned; NULL when it has none */
};

struct livewalk {
	pid_t pid;
	struct rule_table *rules;
	struct map maps[MAX_MAPS]; /* executable ones, ascending */
	uint32_t n_maps;
};

struct process_mem {
	struct unwind_mem mem;
	pid_t pid;
};

static ssize_t read_process(pid_t pid, uint64_t addr, void *to, size_t size_bytes)
{
	struct iovec local = { .iov_base = to, .iov_len = size_bytes };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)addr, .iov_len = size_bytes };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static int process_read(const struct unwind_mem *mem, uint64_t addr, __u64 *out)
{
	const struct process_mem *p = (const struct process_mem *)mem;

	return read_process(p->pid, addr, out, 8) != 8;
}

/* The vdso is an ELF file that exists only in memory. */
static int add_vdso(struct livewalk *lw, struct map *map)
{
	size_t size_bytes = map->end - map->start;
	uint8_t *image = malloc(size_bytes);
	int err = -ENOMEM;

	if (image && read_process(lw->pid, map->start, image, size_bytes) == (ssize_t)size_bytes)
		err = module_table_from_bytes(image, size_bytes, lw->rules, &map->table, NULL);
	free(image);
	return err ? err : module_table_bias(map->table, map->start, 0, &map->bias);
}

static void add_map(struct livewalk *lw, uint64_t start, uint64_t end, uint64_t off,
		    const char *path)
{
	struct map *map = &lw->maps[lw->n_maps];
	int err = -ENOENT;

	if (lw->n_maps == MAX_MAPS)
		return;
	*map = (struct map){ .start = start, .end = end };
	if (!strcmp(path, "[vdso]")) {
		err = add_vdso(lw, map);
	} else if (*path == '/') {
		err = table_of_file(path, lw->rules, &map->table, NULL);
		if (!err)
			err = module_table_bias(map->table, start, off, &map->bias);
	}
	if (err) {
		module_table_free(map->table);
		map->table = NULL;
	}
	lw->n_maps++;
}

int livewalk_new(pid_t pid, struct livewalk **out)
{
	char name[64], line[4096 + 128], perms[8], path[4096];
	struct livewalk *lw = calloc(1, sizeof(*lw));
	uint64_t start, end, off;
	FILE *f = NULL;
	int err = -ENOMEM, n;

	if (!lw)
		return err;
	lw->pid = pid;
	err = rule_table_new(&lw->rules);
	if (err)
		goto out;
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	err = f ? 0 : -errno;
	while (f && fgets(line, sizeof(line), f)) {
		*path = 0;
		n = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s", &start,
			   &end, perms, &off, path);
		if (n >= 4 && perms[2] == 'x')
			add_map(lw, start, end, off, path);
	}
	if (!err) {
		*out = lw;
		lw = NULL;
	}
out:
	if (f)
		fclose(f);
	livewalk_free(lw);
	return err;
}

void livewalk_free(struct livewalk *lw)
{
	uint32_t i;

	if (!lw)
		return;
	for (i = 0; i < lw->n_maps; i++)
		module_table_free(lw->maps[i].table);
	rule_table_free(lw->rules);
	free(lw);
}

static const struct map *find_map(const struct livewalk *lw, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < lw->n_maps; i++)
		if (pc >= lw->maps[i].start && pc < lw->maps[i].end)
			return &lw->maps[i];
	return NULL;
}

static void fill_gprs(const struct user_regs_struct *r, __u64 *gprs)
{
	const __u64 by_number[N_GPRS] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
					  r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
					  r->r12, r->r13, r->r14, r->r15 };

	memcpy(gprs, by_number, sizeof(by_number));
}

static void walk(const struct livewalk *lw, const struct user_regs_struct *regs,
		 const struct unwind_mem *mem, struct livewalk_stack *stack)
{
	const struct unwind_rule *rule;
	struct unwind_regs r;
	const struct map *map;
	uint64_t pc;

	unwind_regs_leaf(&r, regs->rip, regs->rsp, regs->rbp, 0);
	stack->n = 0;
	for (;;) {
		if (stack->n == LIVEWALK_MAX_FRAMES) {
			stack->why = UNWIND_MAX_FRAMES;
			return;
		}
		stack->pc[stack->n] = r.pc;
		stack->is_return[stack->n] = r.flags & UNWIND_F_CALLER;
		pc = unwind_lookup_pc(&r);
		map = find_map(lw, pc);
		stack->why = map ? UNWIND_NO_TABLE : UNWIND_NO_MAPPING;
		if (!map || !map->table) {
			stack->n++;
			return;
		}
		rule = module_table_find(map->table, pc - map->bias);
		stack->is_return[stack->n++] = unwind_pc_is_return(&r, rule);
		stack->why = unwind_step(UNWIND_X86_64, rule, &r, mem);
		if (stack->why)
			return;
	}
}

void livewalk_process(const struct livewalk *lw, const struct user_regs_struct *regs,
		      struct livewalk_stack *stack)
{
	__u64 gprs[N_GPRS];
	struct process_mem p = {
		.mem = { .read = process_read, .gprs = gprs, .n_gprs = N_GPRS },
		.pid = lw->pid,
	};

	fill_gprs(regs, gprs);
	walk(lw, regs, &p.mem, stack);
}

int livewalk_copy(const struct livewalk *lw, const struct user_regs_struct *regs, size_t max_bytes,
		  struct livewalk_stack *stack)
{
	uint64_t base = regs->rsp - RED_ZONE_BYTES;
	size_t got = 0, n;
	uint8_t *data = malloc(max_bytes);
	struct unwind_copy copy;
	__u64 gprs[N_GPRS];

	if (!data)
		return -ENOMEM;
	while (got < max_bytes) { /* page by page: the stack ends somewhere */
		n = PAGE_BYTES - (base + got) % PAGE_BYTES;
		n = n < max_bytes - got ? n : max_bytes - got;
		if (read_process(lw->pid, base + got, data + got, n) != (ssize_t)n)
			break;
		got += n;
	}
	fill_gprs(regs, gprs);
	unwind_copy_init(&copy, data, got, base, gprs, N_GPRS);
	walk(lw, regs, &copy.mem, stack);
	free(data);
	return 0;
}
