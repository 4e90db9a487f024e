/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * user_marks - moments that programs and people name, and probes that are taken for such moments
 *
 * The probe of format/include/ebprec-mark.h is looked for in each file that a recorded process maps, when it
 * is first seen, in the command that is recorded and in the `ebprec` of this recorder (for `ebprec
 * mark`), which lies beside it (a build tree) or where `make install` puts it.  A uprobe belongs to
 * a file: a process that maps it later has it from its first instruction.  Probes that the user
 * named (--mark) are attached from the beginning.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/core/user_marks.skel.h"
#include "format/perf/trace_data.h"
#include "record/instrument/bpf_load.h"
#include "record/instrument/instrument.h"
#include "record/instrument/mark_spec.h"
#include "record/instrument/probe_file.h"
#include "record/privsep/elf/elf_facts.h"
#include "record/privsep/io_timeout.h"
#include "record/process/file/mapped_files.h"
#include "record/privsep/caps.h"
#include "record/events/tracepoint/format_text.h"
#include "record/events/tracepoint/tracefs.h"
#include "record/events/uprobe_multi.h"

#define LISTEN_NS 2000000000ULL

/* A probe that the user named. */
struct mark_probe {
	struct mark_spec spec;
	struct tracepoint_format_text text; /* of a tracepoint */
	struct bpf_link *link;              /* the same; NULL: it is no tracepoint */
};

struct listening;

struct mark_state {
	struct user_marks_bpf *skel;
	struct bpf_load load;
	struct uprobe_multi uprobes;
	struct io_timeout *io; /* borrowed */
	struct prober *prober; /* where uprobes are perf events; NULL: we may do it ourselves */
	struct listening *listening; /* what threads begin */
	struct u64map files;         /* that have been looked into, by device and inode */
	struct mark_probe *probes;
	size_t probe_count;
	uint32_t usdt_count; /* lists in the map of arguments */
	bool stopped;
};

/* Attaches in all processes. */
static int attach(struct mark_state *s, const struct bpf_program *prog, int fd,
		  const struct uprobe_multi_place *places, size_t count)
{
	const struct uprobe_multi_file file = { .fd = fd, .pid = -1 };

	return uprobe_multi_attach(&s->uprobes, prog, &file, places, count);
}

/* ---- marks of programs ---- */

/* 1: the file is new and has marks; 0: it is not.  Files without marks are remembered by the caller. */
static int remember_file(struct mark_state *s, const struct stat *st, const struct elf_facts *facts)
{
	int err;

	if (!facts->site_count || !S_ISREG(st->st_mode) ||
	    u64map_get(&s->files, st->st_dev, st->st_ino))
		return 0;
	err = u64map_put(&s->files, st->st_dev, st->st_ino, 0);
	return err ? err : 1;
}

static size_t places_of(const struct elf_facts *facts, enum mark_source source,
			struct uprobe_multi_place places[ELF_NOTES_SITES_MAX])
{
	for (size_t i = 0; i < facts->site_count; i++)
		places[i] = (struct uprobe_multi_place){ facts->sites[i].nop_bytes,
							 facts->sites[i].semaphore_bytes, source };
	return facts->site_count;
}

/* Listens to all marks of a file.  0 also when it has none; negative errno of the first that failed. */
static int listen_in(struct mark_state *s, int fd, const struct stat *st,
		     const struct elf_facts *facts, enum mark_source source, size_t *count)
{
	struct uprobe_multi_place places[ELF_NOTES_SITES_MAX];
	int err;

	*count = 0;
	err = remember_file(s, st, facts);
	if (err <= 0)
		return err;
	*count = places_of(facts, source, places);
	return attach(s, s->skel->progs.mark_hit, fd, places, *count);
}

static void note_listening(struct notes *notes, const char *path, int err, size_t count)
{
	if (err)
		note(notes, NOTE_WARNING, "cannot listen for marks in '%s': %s, skipping", path,
		     strerror(-err));
	else if (count)
		note(notes, NOTE_DETAIL, "listening for marks in '%s' (%zu places)", path, count);
}

static void listen_in_program(struct instrument_ctx *c, const struct mapped_files_found *f)
{
	size_t count;
	int err = listen_in(c->state, f->fd, f->st, f->facts, MARK_SOURCE_PROGRAM, &count);

	note_listening(c->notes, f->path, err, count);
}

/* ---- marks of programs that start while it is recorded ---- */

/* The kernel sets probes for as long as a process that maps the file holds its mmap lock: a thread waits for it. */
struct listening {
	struct io_job base;
	struct listening *next;   /* of those that the owner waits for */
	struct mark_state *owner; /* its thread's alone; NULL: it is gone */
	struct io_timeout *io;
	struct notes *notes; /* the owner's */
	char *path;          /* owned */
	int fd, link_fd;     /* owned; link_fd: negative errno, or the result */
	int prog_fd;         /* owned: the thread may begin when the owner's program is gone */
	size_t count;
	struct uprobe_multi_place places[ELF_NOTES_SITES_MAX];
};

static void listening_work(struct io_job *job)
{
	struct listening *l = (struct listening *)job;
	const struct uprobe_multi_file file = { .fd = l->fd, .pid = -1 };

	l->link_fd = uprobe_multi_link(l->prog_fd, &file, l->places, l->count);
}

static void listening_drop(struct io_job *job)
{
	struct listening *l = (struct listening *)job;

	if (l->link_fd >= 0)
		close(l->link_fd);
	if (l->fd >= 0)
		close(l->fd);
	if (l->prog_fd >= 0)
		close(l->prog_fd);
	free(l->path);
	free(l);
}

static void forget_listening(struct listening *l)
{
	struct listening **at = &l->owner->listening;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
}

static void listening_done(struct io_job *job)
{
	struct listening *l = (struct listening *)job;
	struct mark_state *s = l->owner;
	int err = l->link_fd < 0 ? l->link_fd : 0;

	if (s)
		forget_listening(l);
	if (s && !s->stopped && !err) {
		err = uprobe_multi_add(&s->uprobes, l->link_fd);
		l->link_fd = err ? l->link_fd : -1;
	}
	if (s && !s->stopped)
		note_listening(l->notes, l->path, err, l->count);
	io_timeout_drop(l->io, job);
}

static void listening_given_up(struct io_job *job)
{
	struct listening *l = (struct listening *)job;

	if (!l->owner)
		return;
	forget_listening(l);
	note(l->notes, NOTE_WARNING,
	     "cannot listen for marks in '%s': a process that maps it, or an earlier such file, holds its mmap lock, "
	     "skipping",
	     l->path);
}

static struct listening *listening_new(struct instrument_ctx *c, const struct mapped_files_found *f)
{
	struct listening *l = calloc(1, sizeof(*l));
	struct mark_state *s = c->state;

	if (!l)
		return NULL;
	*l = (struct listening){
		.base = { .work = listening_work,
			  .done = listening_done,
			  .given_up = listening_given_up,
			  .drop = listening_drop,
			  /* The kernel sets them one after the other. */
			  .key = io_key(IO_KIND_PROBES, 0, 0) },
		.owner = s,
		.io = s->io,
		.notes = c->notes,
		.path = strdup(f->path),
		.fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0),
		.link_fd = -EINTR,
		.prog_fd = fcntl(bpf_program__fd(s->skel->progs.mark_hit), F_DUPFD_CLOEXEC, 0),
	};
	l->count = places_of(f->facts, MARK_SOURCE_PROGRAM, l->places);
	if (l->path && l->fd >= 0 && l->prog_fd >= 0) {
		l->next = s->listening;
		s->listening = l;
		return l;
	}
	listening_drop(&l->base);
	return NULL;
}

static void listen_in_newcomer(struct instrument_ctx *c, const struct mapped_files_found *f)
{
	struct mark_state *s = c->state;
	int err = remember_file(s, f->st, f->facts);
	struct listening *l = err > 0 ? listening_new(c, f) : NULL;

	if (!err)
		return;
	if (!l) {
		note_listening(c->notes, f->path, err < 0 ? err : -ENOMEM, 0);
	} else if (io_timeout_run(s->io, &l->base, true, LISTEN_NS) == -EBUSY) {
		listening_given_up(&l->base);
		listening_drop(&l->base);
	}
}

/*
 * The kernel reads the page of a probe while it holds off every fork of the machine (register_for_each_vma() takes
 * dup_mmap_sem), so a FUSE server that does not answer would stop the machine.
 */
static void mark_on_file(struct instrument_ctx *c, const struct mapped_files_found *f)
{
	struct mark_state *s = c->state;

	if (s->stopped)
		return;
	if (!mapped_files_is_fuse(f->fs_type) && s->uprobes.by_links)
		listen_in_newcomer(c, f);
	else if (!mapped_files_is_fuse(f->fs_type))
		listen_in_program(c, f);
	else if (remember_file(s, f->st, f->facts) > 0)
		note(c->notes, NOTE_WARNING,
		     "cannot listen for marks in '%s': to set probes in a file of FUSE could stop the machine, skipping",
		     f->path);
}

/* Before it runs: its first mark comes sooner than word of its mappings. */
static void listen_in_command(struct instrument_ctx *c)
{
	const char *name = c->opts->command[0], *path = getenv("PATH"), *end;
	struct elf_facts facts;
	char file[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (strchr(name, '/')) {
		snprintf(file, sizeof(file), "%s", name);
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	for (; fd < 0 && !strchr(name, '/') && path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		if (snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, name) <
		    (int)sizeof(file))
			fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0)
		return;
	(void)elf_reader_facts_safely(c->reader, fd, &facts); /* then it has no marks */
	if (!fstat(fd, &st))
		listen_in_program(c, &(struct mapped_files_found){
					     .path = file, .fd = fd, .st = &st, .facts = &facts });
	close(fd);
}

/* false: there is no ebprec. */
static bool find_ebprec(char out[PATH_MAX])
{
	static const char *const places[] = { "ebprec", "../../bin/ebprec", "../bin/ebprec" };
	char self[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	size_t i;

	if (bytes <= 0)
		return false;
	self[bytes] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(out, PATH_MAX, "%s/%s", self, places[i]) < PATH_MAX &&
		    !access(out, R_OK))
			return true;
	}
	return false;
}

/* Others than root may not set uprobes, whatever else they may. */
static const char *hint_of_uprobe(int err)
{
	if ((err == -EACCES || err == -EPERM) && !(caps_effective() & RIGHT(CAP_SYS_ADMIN)))
		return "CAP_SYS_ADMIN is missing, which uprobes take; --without mark does without";
	return instrument_hint(err);
}

static int listen_in_ebprec(struct instrument_ctx *c)
{
	struct elf_facts facts;
	char path[PATH_MAX];
	struct stat st;
	size_t count = 0;
	int fd = -1, err;

	if (!find_ebprec(path)) {
		note(c->notes, NOTE_WARNING,
		     "cannot find 'ebprec' to listen for `ebprec mark`: it belongs beside "
		     "ebprec-record, skipping");
		return 0;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return note_fail(c->notes, -errno, NULL, "cannot open '%s'", path);
	elf_facts_read(fd, &facts);
	err = fstat(fd, &st) ? -errno
			     : listen_in(c->state, fd, &st, &facts, MARK_SOURCE_EBPREC, &count);
	close(fd);
	if (!err && !count)
		err = -ENOEXEC;
	return err ? note_fail(c->notes, err, hint_of_uprobe(err),
			       "cannot listen for marks in '%s'", path)
		   : 0;
}

/* ---- probes that the user named ---- */

static int attach_tracepoint(struct instrument_ctx *c, struct mark_probe *p, uint64_t cookie)
{
	struct mark_state *s = c->state;
	char *format = tracefs_format(p->spec.group, p->spec.name);
	int err = format ? tracepoint_format_text_from_format(format, &p->text) : -ENOENT;
	LIBBPF_OPTS(bpf_tracepoint_opts, opts);

	free(format);
	if (err)
		return err;
	/* Texts behind the record are read as far as there is room. */
	opts.bpf_cookie = cookie |
			  (uint64_t)(p->text.size_bytes < PROBE_DATA_BYTES ? PROBE_DATA_BYTES
									   : p->text.size_bytes)
				  << 32;
	p->link = bpf_program__attach_tracepoint_opts(s->skel->progs.tracepoint_hit, p->spec.group,
						      p->spec.name, &opts);
	return p->link ? 0 : -errno;
}

static int attach_function(struct instrument_ctx *c, const struct mark_probe *p, uint64_t cookie)
{
	struct uprobe_multi_place place = { .cookie = cookie };
	struct mark_state *s = c->state;
	int err, fd = probe_file_open(p->spec.file);

	if (fd < 0)
		return fd;
	err = probe_file_function(fd, c->reader, p->spec.name, &place.off_bytes);
	if (!err)
		err = attach(s, s->skel->progs.function_hit, fd, &place, 1);
	close(fd);
	return err;
}

/* The cookie of a location holds its arguments and its probe. */
static int place_of(struct mark_state *s, const struct elf_usdt_probe *probe, uint32_t i,
		    uint64_t cookie, struct uprobe_multi_place *out)
{
	const struct elf_usdt_site *site = &probe->sites[i];
	struct bpf_map *map = s->skel->maps.usdt_places;
	uint32_t at = s->usdt_count;
	int err;

	if (!i || memcmp(&site->args, &site[-1].args, sizeof(site->args)) != 0) {
		if (at == USDT_ARGS_MAX)
			return -EOVERFLOW;
		err = bpf_map__update_elem(map, &at, sizeof(at), &site->args, sizeof(site->args),
					   BPF_ANY);
		if (err)
			return err;
		s->usdt_count++;
	}
	*out = (struct uprobe_multi_place){ site->nop_bytes, site->semaphore_bytes,
					    (uint64_t)(s->usdt_count - 1) << 32 | cookie };
	return 0;
}

static int attach_usdt(struct instrument_ctx *c, const struct mark_probe *p, uint64_t cookie)
{
	struct elf_usdt_probe *probe = calloc(1, sizeof(*probe));
	struct uprobe_multi_place places[ELF_USDT_SITES_MAX];
	struct mark_state *s = c->state;
	int fd, err;

	if (!probe)
		return -ENOMEM;
	err = fd = probe_file_open(p->spec.file);
	if (fd >= 0)
		err = probe_file_usdt(fd, c->reader, p->spec.group, p->spec.name, probe);
	for (uint32_t i = 0; !err && i < probe->count; i++)
		err = place_of(s, probe, i, cookie, &places[i]);
	if (!err)
		err = attach(s, s->skel->progs.usdt_hit, fd, places, probe->count);
	if (fd >= 0)
		close(fd);
	free(probe);
	return err;
}

static int attach_probe(struct instrument_ctx *c, struct mark_probe *p, uint64_t cookie)
{
	switch (p->spec.kind) {
	case MARK_SPEC_USDT:
		return attach_usdt(c, p, cookie);
	case MARK_SPEC_UPROBE:
		return attach_function(c, p, cookie);
	default:
		return attach_tracepoint(c, p, cookie);
	}
}

static const char *hint_of(const struct mark_spec *spec, int err)
{
	const char *hint = spec->kind == MARK_SPEC_TP ? NULL : probe_file_hint(err);

	if (spec->kind == MARK_SPEC_USDT && err == -ENOENT)
		return "no such file, or it has no such probe (readelf -n lists them)";
	if (hint)
		return hint;
	if (spec->kind != MARK_SPEC_TP)
		return hint_of_uprobe(err);
	return err != -ENOENT && err != -ESRCH && err != -EINVAL
		       ? instrument_hint(err)
		       : "there is no such tracepoint (see /sys/kernel/tracing/events)";
}

static int attach_probes(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;
	int err;

	for (size_t i = 0; i < s->probe_count; i++) {
		err = attach_probe(c, &s->probes[i], MARK_SOURCE_FIRST + i);
		if (err)
			return note_fail(c->notes, err, hint_of(&s->probes[i].spec, err),
					 "cannot listen to '%s'", c->opts->marks.values[i]);
	}
	return 0;
}

static int read_specs(struct instrument_ctx *c, struct mark_state *s)
{
	s->probe_count = c->opts->marks.count;
	s->probes = calloc(s->probe_count + 1, sizeof(*s->probes));
	if (!s->probes)
		return -ENOMEM;
	for (size_t i = 0; i < s->probe_count; i++) {
		if (mark_spec_parse(c->opts->marks.values[i], &s->probes[i].spec))
			return -EINVAL; /* opts has looked at them */
	}
	return 0;
}

/* ---- the instrument ---- */

static void mean_uprobes(struct mark_state *s)
{
	s->uprobes.by_links = uprobe_multi_have_links();
	uprobe_multi_mean(&s->uprobes, s->skel->progs.mark_hit);
	uprobe_multi_mean(&s->uprobes, s->skel->progs.function_hit);
	uprobe_multi_mean(&s->uprobes, s->skel->progs.usdt_hit);
}

static int mark_prepare(struct instrument_ctx *c)
{
	struct mark_state *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->io = c->io;
	err = read_specs(c, s);
	if (err)
		return err;
	s->skel = user_marks_bpf__open_opts(bpf_load_options(&s->load, c->types));
	err = s->skel ? instrument_share(c, s->skel) : -errno;
	if (err)
		return instrument_fail(c, err, "cannot load the recorder of marks");
	mean_uprobes(s);
	bpf_load_begin(&s->load, s->skel->skeleton);
	return 0;
}

static int mark_complete(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;
	int err = bpf_load_end(&s->load);

	if (err)
		return instrument_fail(c, err, "cannot load the recorder of marks");
	if (c->opts->self_program && !s->uprobes.by_links)
		err = prober_new(c->opts->self_program, &s->prober);
	if (err)
		return note_fail(c->notes, err, NULL, "cannot start the helper for marks");
	s->uprobes.prober = s->prober;
	return listen_in_ebprec(c);
}

static int mark_attach(struct instrument_ctx *c)
{
	if (c->opts->command)
		listen_in_command(c);
	return attach_probes(c);
}

static int emit_mark(struct instrument_ctx *c, const struct event_header *h, uint32_t pid,
		     uint32_t tid, const struct trace_data_mark *m)
{
	uint8_t raw[SAMPLE_RECORD_RAW_MAX];
	struct sample_record rec = {
		.pid = pid,
		.tid = tid,
		.cpu = h->cpu,
		.time_ns = h->time_ns,
		.period = 1,
		.raw = raw,
	};

	snapshot_triggers_mark(c->triggers, m, h->time_ns);
	rec.raw_bytes = trace_data_mark_encode(raw, sizeof(raw), tid, m);
	return rec.raw_bytes ? sink_sample(c->emit, ATTR_MARK, &rec) : -EBADMSG;
}

/* "arg1=1 arg2=? arg3=-7" */
static void arguments_text(const struct probe_event *ev, char *out, size_t out_bytes)
{
	const long long *words = (const void *)ev->data;
	size_t count = ev->data_bytes / sizeof(*words), used = 0;

	for (size_t i = 1; i < count && used < out_bytes; i++) {
		const char *space = i > 1 ? " " : "";

		if (words[0] >> (i - 1) & 1)
			used += (size_t)snprintf(out + used, out_bytes - used, "%sarg%zu=?", space,
						 i);
		else
			used += (size_t)snprintf(out + used, out_bytes - used, "%sarg%zu=%lld",
						 space, i, words[i]);
	}
}

static int on_probe(struct instrument_ctx *c, const struct probe_event *ev)
{
	const struct mark_state *s = c->state;
	const struct mark_probe *p;
	char text[MARK_TEXT_BYTES] = "";
	struct trace_data_mark m = { .message = text };

	if (ev->h.size_bytes < sizeof(*ev) || ev->source < MARK_SOURCE_FIRST ||
	    ev->source - MARK_SOURCE_FIRST >= s->probe_count || ev->data_bytes > PROBE_DATA_BYTES)
		return -EBADMSG;
	p = &s->probes[ev->source - MARK_SOURCE_FIRST];
	m.group = p->spec.group;
	m.name = p->spec.name;
	if (p->spec.kind == MARK_SPEC_TP)
		tracepoint_format_text_write(&p->text, ev->data, ev->data_bytes, text,
					     sizeof(text));
	else if (p->spec.kind == MARK_SPEC_USDT)
		arguments_text(ev, text, sizeof(text));
	return emit_mark(c, &ev->h, ev->pid, ev->tid, &m);
}

static int mark_on_event(struct instrument_ctx *c, const struct event_header *h)
{
	static const char unread[] = "(not in memory)", foreign[] = "program:";
	const struct mark_event *ev = (const void *)h;
	/* A program's mark is no line of the journal, whatever group it names. */
	char own_group[sizeof(foreign) - 1 + MARK_NAME_BYTES],
		*group = own_group + sizeof(foreign) - 1;
	char name[MARK_NAME_BYTES], text[MARK_TEXT_BYTES];
	struct trace_data_mark m = { .group = group, .name = name, .message = text };
	const char *at = (const char *)(ev + 1);
	size_t left;

	if (h->type == EBPREC_EV_PROBE)
		return on_probe(c, (const void *)h);
	if (h->size_bytes < sizeof(*ev) ||
	    h->size_bytes - sizeof(*ev) < (size_t)ev->group_bytes + ev->name_bytes)
		return -EBADMSG;
	left = h->size_bytes - sizeof(*ev) - ev->group_bytes - ev->name_bytes;
	snprintf(group, MARK_NAME_BYTES, "%.*s", ev->group_bytes,
		 ev->unread & MARK_UNREAD_GROUP ? unread : at);
	if (trace_data_mark_is_reserved(group)) {
		m.group = memcpy(own_group, foreign, sizeof(foreign) - 1);
		c->emit->account.renamed_mark_count++;
	}
	at += ev->group_bytes;
	snprintf(name, sizeof(name), "%.*s", ev->name_bytes,
		 ev->unread & MARK_UNREAD_NAME ? unread : at);
	at += ev->name_bytes;
	snprintf(text, sizeof(text), "%.*s", (int)left,
		 ev->unread & MARK_UNREAD_TEXT ? unread : at);
	m.duration_ns = ev->duration_ns;
	m.id = ev->id;
	m.kind = ev->kind;
	c->emit->account.unread_mark_count += ev->unread != 0;
	return emit_mark(c, h, ev->pid, ev->tid, &m);
}

static void mark_stop(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;

	if (!s)
		return;
	s->stopped = true;
	for (size_t i = 0; s->probes && i < s->probe_count; i++) {
		bpf_link__destroy(s->probes[i].link); /* NULL is fine */
		s->probes[i].link = NULL;
	}
	instrument_note_probes(c, uprobe_multi_end(&s->uprobes));
}

static void mark_detach(struct instrument_ctx *c)
{
	struct mark_state *s = c->state;

	if (!s)
		return;
	(void)bpf_load_end(&s->load);
	mark_stop(c);
	for (struct listening *l = s->listening; l; l = l->next)
		l->owner = NULL;
	user_marks_bpf__destroy(s->skel);
	prober_free(s->prober);
	u64map_done(&s->files);
	free(s->probes);
	free(s);
	c->state = NULL;
}

const struct instrument inst_mark = {
	.name = "mark",
	.summary = "moments that programs and people name",
	.costs = "1.4 to 2.2 us a mark, nothing between them",
	.needs = NEED_BPF,
	.events = 1u << EBPREC_EV_MARK | 1u << EBPREC_EV_PROBE,
	.prepare = mark_prepare,
	.complete = mark_complete,
	.attach = mark_attach,
	.on_event = mark_on_event,
	.on_file = mark_on_file,
	.stop = mark_stop,
	.detach = mark_detach,
};
