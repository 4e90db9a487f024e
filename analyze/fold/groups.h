/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * groups - whose samples are counted together
 *
 * A report by process keeps the samples of processes apart, one by CPU those of CPUs, and an export
 * of single moments those of each time.  A group is what samples that are added up have in common;
 * only the asked fields count, the others are 0.  One table serves all threads that count (it is
 * locked; they ask it only for groups they have not met lately), so their group numbers agree.
 */
#ifndef EBPREC_ANALYZE_FOLD_GROUPS_H
#define EBPREC_ANALYZE_FOLD_GROUPS_H

#include <stddef.h>
#include <stdint.h>

enum group_fields {
	GROUP_COMM = 1,
	GROUP_PID = 2,
	GROUP_TID = 4,
	GROUP_CPU = 8,
	GROUP_CGROUP = 16,
	GROUP_TIME = 32, /* rounded down to the table's quantum */
	GROUP_CONTEXT = 64,
	GROUP_SERVICE = GROUP_COMM | GROUP_CGROUP | GROUP_CONTEXT, /* what services are named by */
};

struct group {
	uint64_t cgroup; /* id; once named: a number in the strings */
	uint64_t time_ns;
	uint32_t comm; /* in the strings, or STACK_COUNTER_TID_GROUP and the tid */
	uint32_t pid, tid;
	int32_t cpu; /* -1: not known */
	uint32_t
		context; /* name of the service that the process published, in the strings; 0: none */
	uint32_t zero;
};

struct groups; /* opaque */

/* fields: enum group_fields or-ed.  quantum_ns: at least 1.  -ENOMEM. */
int groups_new(unsigned fields, uint64_t quantum_ns, struct groups **out);
void groups_free(struct groups *g); /* NULL is fine */

/* Leaves the fields that do not count 0.  Any thread.  -ENOMEM, -EOVERFLOW. */
int groups_add(struct groups *g, const struct group *group, uint32_t *out);
/* The fields that distinguish the groups of a table. */
struct groups_key {
	unsigned fields; /* enum group_fields or-ed */
	uint64_t quantum_ns;
};

struct groups_key groups_key(const struct groups *g);

/* Sets what does not count to 0, so that equal groups are equal in all bytes. */
static inline void groups_trim(const struct groups_key *key, struct group *group)
{
	group->comm = key->fields & GROUP_COMM ? group->comm : 0;
	group->pid = key->fields & GROUP_PID ? group->pid : 0;
	group->tid = key->fields & GROUP_TID ? group->tid : 0;
	group->cpu = key->fields & GROUP_CPU ? group->cpu : 0;
	group->cgroup = key->fields & GROUP_CGROUP ? group->cgroup : 0;
	group->context = key->fields & GROUP_CONTEXT ? group->context : 0;
	group->time_ns = key->fields & GROUP_TIME
				 ? group->time_ns - group->time_ns % key->quantum_ns
				 : 0;
}

/* Call it when no thread adds any more.  Borrowed, to be changed at will. */
struct group *groups_list(struct groups *g, size_t *count);

#endif
