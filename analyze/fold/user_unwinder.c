/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/user_unwinder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/sym/locate/file_search.h"
#include "format/perf/perfregs.h"
#include "format/unwind/table/rule_table.h"
#include "format/unwind/table/walk.h"

#define KERNEL_FRAME_MAX 512 /* of a chain's kernel part; the kernel itself stops at 127 */

/* A file's table; filled once, under the lock, and then announced by done. */
struct slot {
	struct module_table *table; /* NULL: there is none, */
	bool is_absent;             /* as the file that was recorded is not here */
	atomic_bool done;
};

struct user_unwinder {
	const struct process_model *model;
	struct name_roots roots;
	enum unwind_arch arch;
	struct slot *slots; /* by file of the model */
	uint32_t slot_count;
	pthread_mutex_t lock; /* of rules and of filling slots */
	struct rule_table *rules;
};

struct user_unwinder_context {
	struct user_unwinder *unwinder;
	uint32_t space;
	uint64_t frames[USER_UNWINDER_FRAME_MAX];
	uint8_t chain[8 * (KERNEL_FRAME_MAX + 1 + USER_UNWINDER_FRAME_MAX)];
};

/* ---- tables ---- */

static void fill_slot(struct user_unwinder *u, const struct process_model_file *file,
		      struct slot *slot)
{
	struct resolver_file want = { .path = file->path, .id = file->id };
	struct located found;

	if (file_search_open(&u->roots, &want, &found) != NAME_FOUND) {
		slot->is_absent = !file_search_is_anonymous(file->path);
		return;
	}
	/* Broken: as if it had none. */
	(void)module_table_from_fd(found.fd, u->rules, &slot->table, NULL);
	located_done(&found);
}

static const struct slot *slot_of(struct user_unwinder *u, uint32_t file)
{
	struct slot *slot = &u->slots[file];

	if (atomic_load_explicit(&slot->done, memory_order_acquire))
		return slot;
	pthread_mutex_lock(&u->lock);
	if (!atomic_load_explicit(&slot->done, memory_order_relaxed)) {
		fill_slot(u, process_model_file(u->model, file), slot);
		atomic_store_explicit(&slot->done, true, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return slot;
}

static void lookup(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	const struct user_unwinder_context *context = ctx;
	struct user_unwinder *u = context->unwinder;
	struct process_model_place place;
	const struct slot *slot;

	if (!process_model_place(u->model, context->space, pc, &place))
		return;
	out->executable = true;
	slot = slot_of(u, place.file);
	out->table = slot->table;
	out->lacks = slot->is_absent ? UNWIND_NO_FILE : UNWIND_OK;
	if (out->table && module_table_bias(out->table, pc, place.file_off_bytes, &out->bias))
		out->table = NULL;
}

/* ---- one sample ---- */

static size_t walk(struct user_unwinder_context *context, const struct perf_sample *sample,
		   const __u64 *gprs, struct stack_result *info)
{
	enum unwind_arch arch = context->unwinder->arch;
	uint64_t sp = gprs[unwind_sp_regno(arch)];
	struct walk_stack how = {
		.arch = arch, .lookup = lookup, .ctx = context, .frame_max = USER_UNWINDER_FRAME_MAX
	};
	struct unwind_copy copy;
	struct unwind_regs regs;

	unwind_copy_init(&copy, sample->user_stack, sample->user_stack_bytes, sp, gprs,
			 PERFREGS_MAX);
	unwind_regs_leaf(&regs, gprs[unwind_pc_regno(arch)], sp, gprs[unwind_fp_regno(arch)],
			 arch == UNWIND_AARCH64 ? gprs[UNWIND_ARM_LR] : 0);
	return walk_stack_run(&how, &regs, &copy.mem, context->frames, info);
}

/* The kernel part as it was, then the frames. */
static void join_chain(struct user_unwinder_context *context, struct perf_sample *sample,
		       size_t frame_count)
{
	size_t n = 0;

	for (size_t i = 0; i < sample->chain_count && n < KERNEL_FRAME_MAX; i++) {
		uint64_t addr = le64_load(sample->chain + 8 * i);

		if (addr == PERF_CONTEXT_USER)
			break;
		le64_store(context->chain + 8 * n++, addr);
	}
	if (!n && sample->cpumode == PERF_RECORD_MISC_KERNEL) {
		le64_store(context->chain, PERF_CONTEXT_KERNEL);
		le64_store(context->chain + 8, sample->ip);
		n = 2;
	}
	if (frame_count)
		le64_store(context->chain + 8 * n++, PERF_CONTEXT_USER);
	for (size_t i = 0; i < frame_count; i++)
		le64_store(context->chain + 8 * n++, context->frames[i]);
	sample->chain = context->chain;
	sample->chain_count = n;
}

/*
 * A copy whose pc and stack pointer are both 0 was blanked (ebprec scrub): the sample's ip, which is the same as the pc
 * where a user's code was interrupted, is all that is known.  Returns how many frames that is.
 */
static size_t take_ip(struct user_unwinder_context *context, const struct perf_sample *sample,
		      struct stack_result *info)
{
	bool is_user = sample->cpumode == PERF_RECORD_MISC_USER && sample->ip;

	context->frames[0] = sample->ip;
	*info = (struct stack_result){ .how = is_user ? STACK_RESULT_PC : STACK_RESULT_NONE,
				       .why = is_user ? UNWIND_READ_FAULT : UNWIND_OK };
	return is_user;
}

bool user_unwinder_sample(struct user_unwinder_context *context, struct perf_sample *sample,
			  uint64_t regs_mask, uint32_t space, struct stack_result *info)
{
	enum unwind_arch arch = context->unwinder->arch;
	__u64 gprs[PERFREGS_MAX] = { 0 }, pc;
	size_t count = 1;

	if (!sample->user_stack_bytes || !perfregs_load(arch, sample, regs_mask, gprs))
		return false;
	context->space = space;
	pc = gprs[unwind_pc_regno(arch)];
	if (!pc && !gprs[unwind_sp_regno(arch)]) {
		count = take_ip(context, sample, info);
	} else if (sample->user_regs_abi == PERF_SAMPLE_REGS_ABI_64) {
		count = walk(context, sample, gprs, info);
	} else {
		context->frames[0] = pc;
		*info = (struct stack_result){ .how = STACK_RESULT_PC,
					       .why = UNWIND_UNSUPPORTED,
					       .flags = STACK_RESULT_COMPAT };
	}
	if (info->how != STACK_RESULT_NONE)
		info->flags |= STACK_RESULT_COPY;
	join_chain(context, sample, count);
	return true;
}

/* ---- the unwinder ---- */

bool user_unwinder_can(const struct capture *c, const struct capture_attr *attr,
		       enum unwind_arch *arch)
{
	const uint64_t need = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const char *name = capture_feature_string(c, PERFFILE_ARCH);

	if ((attr->attr.sample_type & need) != need)
		return false;
	if (name && strcmp(name, "x86_64") != 0 && strcmp(name, "aarch64") != 0)
		return false; /* registers we do not know */
	*arch = name && !strcmp(name, "aarch64") ? UNWIND_AARCH64 : UNWIND_X86_64;
	return true;
}

int user_unwinder_context_new(struct user_unwinder *u, struct user_unwinder_context **out)
{
	struct user_unwinder_context *context = malloc(sizeof(*context));

	if (!context)
		return -ENOMEM;
	context->unwinder = u;
	*out = context;
	return 0;
}

void user_unwinder_context_free(struct user_unwinder_context *context)
{
	free(context);
}

int user_unwinder_new(const struct process_model *model, const struct name_roots *roots,
		      enum unwind_arch arch, struct user_unwinder **out)
{
	struct user_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	*u = (struct user_unwinder){ .model = model,
				     .arch = arch,
				     .slot_count = process_model_file_count(model) };
	if (roots)
		u->roots = *roots;
	pthread_mutex_init(&u->lock, NULL);
	u->slots = calloc(u->slot_count + 1, sizeof(*u->slots));
	if (!u->slots || rule_table_new(&u->rules)) {
		user_unwinder_free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

void user_unwinder_free(struct user_unwinder *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; u->slots && i < u->slot_count; i++)
		module_table_free(u->slots[i].table);
	free(u->slots);
	rule_table_free(u->rules);
	pthread_mutex_destroy(&u->lock);
	free(u);
}
