/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/cmdline_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/events.h"
#include "format/base/vec.h"
#include "format/os/slurp.h"
#include "record/process/proc/process_user.h"

#define READ_NS     2000000000ULL
#define COPY_OBJECT 1 /* the only one of a window's capture */

struct cmdline_log_text {
	size_t use_count;
	uint32_t flags, args_bytes, env_bytes;
	char bytes[]; /* args, then env */
};

static void text_free(struct cmdline_log_text *t)
{
	if (t && !--t->use_count)
		free(t);
}

void cmdline_log_done(struct cmdline_log *k)
{
	for (size_t i = 0; i < k->count; i++)
		text_free(k->list[i].text);
	free(k->list);
	u64map_done(&k->last);
	outbuf_done(&k->pending);
	*k = (struct cmdline_log){ 0 };
}

/* ---- the window ---- */

/* The last entry of a process; `before` leads to the earlier ones.  NULL: none. */
static struct cmdline_log_entry *last_of(const struct cmdline_log *k, uint32_t pid)
{
	const uint32_t *at = u64map_get(&k->last, pid, 0);

	return at ? &k->list[*at] : NULL;
}

static struct cmdline_log_entry *before(const struct cmdline_log *k,
					const struct cmdline_log_entry *e)
{
	return e->before ? &k->list[e->before - 1] : NULL;
}

/* The entry that holds for the process at that time; NULL: none. */
static struct cmdline_log_entry *entry_at(const struct cmdline_log *k, uint32_t pid,
					  uint64_t time_ns)
{
	struct cmdline_log_entry *e = last_of(k, pid);

	while (e && (e->since_ns > time_ns || (e->until_ns && e->until_ns <= time_ns)))
		e = before(k, e);
	return e;
}

/* When something else is known of the process from then on; 0: not so. */
static uint64_t next_after(const struct cmdline_log *k, uint32_t pid, uint64_t time_ns)
{
	const struct cmdline_log_entry *e;
	uint64_t next_ns = 0;

	for (e = last_of(k, pid); e; e = before(k, e))
		if (e->since_ns > time_ns && (!next_ns || e->since_ns < next_ns))
			next_ns = e->since_ns;
	return next_ns;
}

/* Puts it behind the others; there is room. */
static int append(struct cmdline_log *k, const struct cmdline_log_entry *e)
{
	struct cmdline_log_entry *last = last_of(k, e->pid), own = *e;
	int err;

	own.before = last ? (uint32_t)(last - k->list) + 1 : 0;
	err = u64map_put(&k->last, e->pid, 0, (uint32_t)k->count);
	if (!err)
		k->list[k->count++] = own;
	return err;
}

/*
 * Execs and forks come through different rings, so older entries may come later.  text NULL: the
 * process ended, which also limits an exec that comes afterwards.
 */
static int keep(struct cmdline_log *k, uint32_t pid, uint64_t time_ns,
		struct cmdline_log_text *text)
{
	struct cmdline_log_entry *was = entry_at(k, pid, time_ns);
	struct cmdline_log_entry fresh = { .pid = pid, .since_ns = time_ns, .text = text };
	int err;

	fresh.until_ns = text ? next_after(k, pid, time_ns) : time_ns + 1;

	if (was)
		was->until_ns = time_ns ? time_ns : 1;
	err = vec_reserve(&k->list, &k->room, k->count + 1);
	if (!err)
		err = append(k, &fresh);
	if (!err && text)
		text->use_count++;
	return err;
}

static int keep_new(struct cmdline_log *k, const struct cmdline_record *p)
{
	struct cmdline_log_text *t = malloc(sizeof(*t) + p->args_bytes + p->env_bytes);
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct cmdline_log_text){ 1, p->flags, p->args_bytes, p->env_bytes };
	if (p->args_bytes)
		memcpy(t->bytes, p->args, p->args_bytes);
	if (p->env_bytes)
		memcpy(t->bytes + p->args_bytes, p->env, p->env_bytes);
	err = keep(k, p->pid, p->time_ns, t);
	text_free(t);
	return err;
}

static bool is_over(const struct cmdline_log_entry *e, uint64_t before_ns)
{
	return e->until_ns && e->until_ns < before_ns;
}

/* When it is a quarter of them: the others are found by their places. */
void cmdline_log_drop(struct cmdline_log *k, uint64_t before_ns)
{
	size_t count = k->count, over = 0;

	for (size_t i = 0; i < count; i++)
		over += is_over(&k->list[i], before_ns);
	if (over * 4 < count || !over)
		return;
	u64map_done(&k->last);
	k->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct cmdline_log_entry e = k->list[i];

		if (is_over(&e, before_ns) || append(k, &e))
			text_free(e.text);
	}
}

/* ---- entries ---- */

static void put(struct outbuf *to, const struct cmdline_record *p)
{
	uint8_t head[CMDLINE_RECORD_HEAD_BYTES];

	cmdline_record_encode(p, head);
	outbuf_add(to, head, sizeof(head));
	outbuf_add(to, p->args, p->args_bytes);
	outbuf_add(to, p->env, p->env_bytes);
}

int cmdline_log_add(struct cmdline_log *k, const struct cmdline_record *p)
{
	k->entry_count++;
	k->cut_count += !!(p->flags & (CMDLINE_RECORD_ARGS_CUT | CMDLINE_RECORD_ENV_CUT));
	if (k->in_window)
		return keep_new(k, p);
	put(&k->pending, p);
	return outbuf_ok(&k->pending) ? 0 : -ENOMEM;
}

/* Reads one byte more than the limit, so that a truncated text is known. */
static bool read_text(int proc_fd, const char *name, uint32_t most, struct outbuf *text)
{
	int err = slurp_some(proc_fd, name, most, text);

	return (!err || err == -EOVERFLOW) && outbuf_ok(text);
}

void cmdline_log_read(int proc_fd, struct cmdline_log_texts *t)
{
	t->has_args = read_text(proc_fd, "cmdline", EXEC_ARGS_MAX, &t->args);
	t->has_env = t->environment && t->has_args && t->args.size_bytes &&
		     read_text(proc_fd, "environ", EXEC_ENV_MAX, &t->env);
}

void cmdline_log_texts_done(struct cmdline_log_texts *t)
{
	outbuf_done(&t->args);
	outbuf_done(&t->env);
}

static uint32_t cut_at(size_t size_bytes, uint32_t most, uint32_t flag, uint32_t *flags)
{
	*flags |= size_bytes > most ? flag : 0;
	return size_bytes > most ? most : (uint32_t)size_bytes;
}

int cmdline_log_take(struct cmdline_log *k, uint32_t pid, uint64_t time_ns,
		     const struct cmdline_log_texts *t)
{
	struct cmdline_record p = { .pid = pid, .time_ns = time_ns };

	if (!k->wanted)
		return 0;
	k->missing_count += !t->has_args;
	if (!t->has_args || !t->args.size_bytes)
		return 0; /* gone; or a kernel thread, or one that is about to end */
	p.args = (const char *)t->args.data;
	p.args_bytes = cut_at(t->args.size_bytes, EXEC_ARGS_MAX, CMDLINE_RECORD_ARGS_CUT, &p.flags);
	if (t->has_env) {
		p.flags |= CMDLINE_RECORD_ENV;
		p.env = (const char *)t->env.data;
		p.env_bytes = cut_at(t->env.size_bytes, EXEC_ENV_MAX, CMDLINE_RECORD_ENV_CUT,
				     &p.flags);
	}
	return cmdline_log_add(k, &p);
}

/* ---- execs that no BPF program sees ---- */

struct exec_job {
	struct io_job base;
	struct cmdline_log *to;
	uint32_t pid;
	uint64_t time_ns;
	struct cmdline_log_texts texts;
};

static void read_exec(struct io_job *job)
{
	struct exec_job *e = (struct exec_job *)job;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", e->pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	cmdline_log_read(fd, &e->texts);
	close(fd);
}

static void drop_exec(struct io_job *job)
{
	struct exec_job *e = (struct exec_job *)job;

	cmdline_log_texts_done(&e->texts);
	free(e);
}

static void take_exec(struct io_job *job)
{
	struct exec_job *e = (struct exec_job *)job;
	int err = cmdline_log_take(e->to, e->pid, e->time_ns, &e->texts);

	e->to->late_err = e->to->late_err ? e->to->late_err : err;
	drop_exec(job);
}

static void miss_exec(struct io_job *job)
{
	((struct exec_job *)job)->to->missing_count++;
}

static int begin_exec(struct cmdline_log *k, uint32_t pid, uint64_t time_ns)
{
	struct exec_job *e = k->io ? calloc(1, sizeof(*e)) : NULL;

	if (!e)
		return k->io ? -ENOMEM : 0;
	*e = (struct exec_job){ .base = { .work = read_exec,
					  .done = take_exec,
					  .given_up = miss_exec,
					  .drop = drop_exec,
					  .key = io_key(IO_KIND_PROCESS, pid, 0),
					  .user = process_user(pid) },
				.to = k,
				.pid = pid,
				.time_ns = time_ns,
				.texts = { .environment = k->environment } };
	/* Soon: it may end in a moment. */
	if (io_timeout_run(k->io, &e->base, true, READ_NS) == -EBUSY) {
		k->missing_count++;
		drop_exec(&e->base);
	}
	return 0;
}

/* COMM: pid, tid, name.  FORK and EXIT: pid, ppid, tid, ptid. */
int cmdline_log_record(struct cmdline_log *k, const struct perf_event_header *record,
		       uint64_t time_ns, bool read_execs)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	struct cmdline_log_entry *e;
	uint32_t pid, second;

	if (!k->wanted || record->size < sizeof(*record) + 16)
		return 0;
	pid = le32_load(body);
	second = le32_load(body + 4);
	if (record->type == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC) &&
	    read_execs)
		return begin_exec(k, pid, time_ns);
	if (!k->in_window)
		return 0;
	if (record->type == PERF_RECORD_FORK && pid != second) {
		e = entry_at(k, second, time_ns);
		return e && e->text ? keep(k, pid, time_ns, e->text) : 0;
	}
	if (record->type == PERF_RECORD_EXIT && pid == le32_load(body + 8))
		return keep(k, pid, time_ns, NULL);
	return 0;
}

int cmdline_log_flush(struct cmdline_log *k)
{
	int err;

	if (k->late_err)
		return k->late_err;
	if (!k->writer || !k->pending.size_bytes || !outbuf_ok(&k->pending))
		return 0;
	err = writer_object(k->writer, EBX_ARGS, ++k->next_object, k->pending.data,
			    k->pending.size_bytes);
	outbuf_clear(&k->pending);
	return err;
}

int cmdline_log_copy(const struct cmdline_log *k, struct writer *to)
{
	struct outbuf all = { 0 };
	int err = 0;

	for (size_t i = 0; i < k->count; i++) {
		const struct cmdline_log_text *t = k->list[i].text;
		struct cmdline_record p;

		if (!t)
			continue;
		p = (struct cmdline_record){
			.pid = k->list[i].pid,
			.flags = t->flags,
			.time_ns = k->list[i].since_ns,
			.args = t->bytes,
			.env = t->bytes + t->args_bytes,
			.args_bytes = t->args_bytes,
			.env_bytes = t->env_bytes,
		};

		put(&all, &p);
	}
	if (all.size_bytes)
		err = outbuf_ok(&all)
			      ? writer_object(to, EBX_ARGS, COPY_OBJECT, all.data, all.size_bytes)
			      : -ENOMEM;
	outbuf_done(&all);
	return err;
}
