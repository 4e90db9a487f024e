/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/dimensions.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/metric/containers.h"
#include "analyze/process/container_names.h"

/* ---- texts ---- */

static void text_syscall(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	metric_names_syscall((uint32_t)values[0], values[1], out);
}

static void text_errno(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	metric_names_errno((uint32_t)values[0], out);
}

/* include/uapi/linux/sched.h */
static void text_policy(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	static const char *const names[] = { "OTHER", "FIFO", "RR",       "BATCH",
					     "",      "IDLE", "DEADLINE", "EXT" };
	const char *name = values[0] < sizeof(names) / sizeof(names[0]) ? names[values[0]] : "";

	if (*name)
		snprintf(out, METRIC_NAMES_BYTES, "%s", name);
	else
		snprintf(out, METRIC_NAMES_BYTES, "policy_%" PRIu64, values[0]);
}

/* A status as wait() has it. */
static void text_ended(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	const char *name = sigabbrev_np((int)(values[0] & 0x7f));

	if (!(values[0] & 0x7f))
		snprintf(out, METRIC_NAMES_BYTES, "%" PRIu64, values[0] >> 8 & 0xff);
	else if (name)
		snprintf(out, METRIC_NAMES_BYTES, "SIG%s", name);
	else
		snprintf(out, METRIC_NAMES_BYTES, "signal_%" PRIu64, values[0] & 0x7f);
}

/* include/linux/blk_types.h: enum req_op; the rest of the texts is whether it is waited for. */
static void text_op(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	static const char *const names[] = { "read", "write",        "flush", "discard",
					     "",     "secure-erase", "",      "zone-append",
					     "",     "write-zeroes" };
	const char *name = values[0] < sizeof(names) / sizeof(names[0]) ? names[values[0]] : "";

	if (*name)
		snprintf(out, METRIC_NAMES_BYTES, "%s%s", name, values[1] ? " sync" : "");
	else
		snprintf(out, METRIC_NAMES_BYTES, "op_%" PRIu64 "%s", values[0],
			 values[1] ? " sync" : "");
}

/* include/linux/interrupt.h: the soft ones have no names of their own. */
static void text_softirq(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	static const char *const names[] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	if (values[1] < sizeof(names) / sizeof(names[0]))
		snprintf(out, METRIC_NAMES_BYTES, "%s", names[values[1]]);
	else
		snprintf(out, METRIC_NAMES_BYTES, "soft_%" PRIu64, values[1]);
}

static void text_address(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	snprintf(out, METRIC_NAMES_BYTES, "0x%" PRIx64, values[0]);
}

/* High bytes first; IPv4 is mapped into IPv6. */
static void text_ip(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	uint8_t bytes[16];

	for (int i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(values[0] >> (56 - 8 * i));
		bytes[8 + i] = (uint8_t)(values[1] >> (56 - 8 * i));
	}
	if (!values[0] && values[1] >> 32 == 0xffff)
		inet_ntop(AF_INET, bytes + 12, out, METRIC_NAMES_BYTES);
	else
		inet_ntop(AF_INET6, bytes, out, METRIC_NAMES_BYTES);
}

static void text_family(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	snprintf(out, METRIC_NAMES_BYTES, "%s", values[0] == AF_INET ? "4" : "6");
}

static void text_protocol(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	const char *six = values[0] == AF_INET6 ? "6" : "";

	if (values[0] == AF_UNIX || values[0] == AF_NETLINK)
		snprintf(out, METRIC_NAMES_BYTES, "%s", values[0] == AF_UNIX ? "unix" : "netlink");
	else if (values[0] != AF_INET && values[0] != AF_INET6)
		snprintf(out, METRIC_NAMES_BYTES, "family_%" PRIu64, values[0]);
	else if (values[1] == IPPROTO_TCP || values[1] == IPPROTO_UDP)
		snprintf(out, METRIC_NAMES_BYTES, "%s%s", values[1] == IPPROTO_TCP ? "tcp" : "udp",
			 six);
	else
		snprintf(out, METRIC_NAMES_BYTES, "ip%s_%" PRIu64, six, values[1]);
}

static void text_fault(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	snprintf(out, METRIC_NAMES_BYTES, "%s", values[0] ? "major" : "minor");
}

static void text_result(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	if (values[0])
		metric_names_errno((uint32_t)values[0], out);
	else
		snprintf(out, METRIC_NAMES_BYTES, "ok");
}

/* include/trace/events/lock.h: LCB_F_* */
static void text_lock(const uint64_t *values, char out[METRIC_NAMES_BYTES])
{
	uint64_t kind = values[0];
	const char *name = kind & 0x20   ? "mutex"
			   : kind & 0x10 ? "percpu-rwsem"
			   : kind & 0x8  ? "rtmutex"
			   : kind & 0x6  ? kind & 0x1 ? "rwlock" : "rwsem"
			   : kind & 0x1  ? "spinlock"
					 : "semaphore";

	snprintf(out, METRIC_NAMES_BYTES, "%s%s%s", name, kind & 0x2 ? " read" : "",
		 kind & 0x4 ? " write" : "");
}

static const struct metric_dim dims[] = {
	{ "fault", "FAULT", { "major" }, text_fault, NULL },
	{ "address", "ADDRESS", { "address" }, text_address, "symbol" },
	{ "symbol", "LOCK", { "symbol" }, NULL, NULL },
	{ "ip", "IP", { "family" }, text_family, NULL },
	{ "saddr", "SADDR", { "saddr_hi", "saddr_lo" }, text_ip, NULL },
	{ "daddr", "DADDR", { "daddr_hi", "daddr_lo" }, text_ip, NULL },
	{ "protocol", "PROTOCOL", { "family", "protocol" }, text_protocol, NULL },
	{ "result", "RESULT", { "error" }, text_result, NULL },
	{ "lock", "LOCK", { "kind" }, text_lock, NULL },
	{ "memory", "MEMORY", { "memory" }, NULL, NULL },
	{ "zone", "ZONE", { "zone" }, NULL, NULL },
	{ "battery", "BATTERY", { "battery" }, NULL, NULL },
	{ "resource", "RESOURCE", { "resource" }, NULL, NULL },
	{ "device", "DEVICE", { "device" }, NULL, NULL },
	{ "reason", "REASON", { "reason" }, NULL, NULL },
	{ "netns", "NETNS", { "netns" }, NULL, NULL },
	{ "holder", "HOLDER", { "holder" }, NULL, "holder_comm" },
	{ "exit", "PID", { "start_ns", "pid" }, NULL, "comm" },
	{ "policy", "POLICY", { "is_policy" }, text_policy, NULL },
	{ "ended", "ENDED", { "is_exit_code" }, text_ended, NULL },
	{ "disk", "DISK", { "disk" }, NULL, NULL },
	{ "op", "OP", { "op", "sync" }, text_op, NULL },
	{ "cpu", "CPU", { "cpu" }, NULL, NULL },
	{ "irq", "IRQ", { "irq_kind", "irq", "name" }, text_softirq, NULL },
	{ "process", "PID", { "pid" }, NULL, "comm" },
	{ "thread", "TID", { "pid", "tid" }, NULL, "comm" },
	{ "comm", "COMM", { "comm" }, NULL, NULL },
	{ "cgroup", "CGROUP", { "cgroup" }, NULL, NULL },
	{ "container", "CONTAINER", { "cgroup" }, NULL, NULL },
	{ "syscall", "SYSCALL", { "nr", "abi" }, text_syscall, "category" },
	{ "category", "CATEGORY", { "category" }, NULL, NULL },
	{ "error", "ERROR", { "error" }, text_errno, NULL },
};

static bool is_of_cgroup(const struct metric_dim *d)
{
	return !strcmp(d->fields[0], "cgroup");
}

bool metric_dimension_is_container(const struct metric_dim *d)
{
	return is_of_cgroup(d) && !strcmp(d->name, "container");
}

/*
 * A field that becomes a text must have the kind that it has in our tables; hard interrupts have
 * names.
 */
static uint32_t slot_of(const struct metric_table *t, const struct metric_dim *d, const char *field)
{
	if (d->text == text_softirq && !strcmp(field, "name"))
		return metric_rows_text_slot(t, field);
	return d->text || metric_dimension_is_container(d) ? metric_rows_number_slot(t, field)
							   : metric_rows_slot(t, field);
}

size_t metric_dimension_slots(const struct metric_table *t, const struct metric_dim *d,
			      uint32_t slots[4])
{
	size_t count = 0;

	for (size_t i = 0; i < 4 && d->fields[i]; i++) {
		slots[count] = slot_of(t, d, d->fields[i]);
		if (slots[count] == METRIC_ROWS_NONE)
			return 0;
		count++;
	}
	return count;
}

const struct metric_dim *metric_dimension_find(const struct metric_table *t, const char *name,
					       struct metric_dim *own)
{
	uint32_t slots[4];

	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
		if (!strcmp(dims[i].name, name) && metric_dimension_slots(t, &dims[i], slots))
			return &dims[i];
	}
	*own = (struct metric_dim){ .name = name, .title = name, .fields = { name } };
	return metric_dimension_slots(t, own, slots) ? own : NULL;
}

size_t metric_dimension_names(const struct metric_table *t, const char **out, size_t max)
{
	uint32_t slots[4];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]) && count < max; i++)
		if (metric_dimension_slots(t, &dims[i], slots))
			out[count++] = dims[i].name;
	for (size_t i = 0; i < t->fmt.field_count && count < max; i++)
		if (t->fmt.fields[i].is_key && t->slots[i] != t->interval &&
		    t->slots[i] != t->since)
			out[count++] = t->fmt.fields[i].name;
	return count;
}

const char *metric_dimension_with(const struct metric_table *t, const struct metric_dim *d)
{
	return d->with && metric_rows_slot(t, d->with) != METRIC_ROWS_NONE ? d->with : NULL;
}

const char *metric_dimension_shown_with(const struct metric_table *t, const struct metric_dim *d)
{
	const char *with = metric_dimension_with(t, d);

	if (!with)
		return NULL;
	if (!strcmp(with, "symbol"))
		return "LOCK";
	return !strcmp(with, "comm") || !strcmp(with, "holder_comm") ? "COMM" : NULL;
}

static void cgroup_text(const struct metric_dim *d, uint64_t id, const struct metric_texts *texts,
			FILE *to)
{
	uint32_t path = texts->model ? process_model_cgroup(texts->model, id) : PROCESS_MODEL_NONE;
	char container[CONTAINER_NAMES_TEXT_MAX];

	if (path == PROCESS_MODEL_NONE) {
		fprintf(to, "%" PRIu64, id);
		return;
	}
	if (!metric_dimension_is_container(d)) {
		fputs(string_table_text(texts->names, path), to);
		return;
	}
	container_names_text(texts->containers, string_table_text(texts->names, path), container);
	fputs(*container ? container : CONTAINERS_HOST, to);
}

void metric_dimension_put(const struct metric_table *t, const struct metric_dim *d,
			  const uint64_t *slots, const struct metric_texts *texts, FILE *to)
{
	uint32_t places[4];
	size_t count = metric_dimension_slots(t, d, places);
	const struct metric_field *f;
	uint64_t values[4] = { 0 };
	char text[METRIC_NAMES_BYTES] = "";

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = slots[places[i]];
	f = metric_format_find(&t->fmt, d->fields[count - 1]);
	if (d->text == text_softirq && !values[0]) {
		fputs(string_table_text(texts->names, (uint32_t)values[2]), to);
	} else if (is_of_cgroup(d) && f->kind != METRIC_TEXT) {
		cgroup_text(d, values[0], texts, to);
	} else if (d->text) {
		d->text(values, text);
		fputs(text, to);
	} else if (f->kind == METRIC_TEXT) {
		fputs(string_table_text(texts->names, (uint32_t)values[count - 1]), to);
	} else if (f->kind == METRIC_SIGNED) {
		fprintf(to, "%" PRId64, (int64_t)values[count - 1]);
	} else {
		fprintf(to, "%" PRIu64, values[count - 1]);
	}
}
