/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/container_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/payload/container_record.h"
#include "record/process/container/cgroup_paths.h"
#include "record/process/container/container_stores.h"
#include "record/process/proc/proc_stat.h"
#include "record/process/proc/process_user.h"
#include "format/os/slurp.h"

#define COUNT_MAX     8192
#define UNNAMED_MAX   (COUNT_MAX / 2)
#define TRIES         10 /* the engine may be about to write it */
#define TRY_NS        200000000ULL
#define LOOKS_A_TRY   8           /* at a time: users can make many cgroups, and large files */
#define PAUSE_NS      50000000ULL /* after so many */
#define ANCESTORS_MAX 64
#define MAKERS_MAX    4
#define SEARCH_NS     5000000000ULL /* with files that the reader gives up after a second each */
#define NAMES_BYTES   (4u << 20)
#define ARGS_BYTES    (64u << 10)

struct container_watch_one {
	char id[CONTAINER_RECORD_DIGITS];
	uint8_t tries_left;
	uint64_t next_ns; /* of trying */
	bool is_asked;    /* a search is under way */
	char *cgroup;     /* owned; NULL: it is given up, or named */
};

void container_watch_done(struct container_watch *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].cgroup);
	free(c->list);
	free(c->mount);
	u64map_done(&c->by_id);
	outbuf_done(&c->fresh);
	*c = (struct container_watch){ 0 };
}

static uint64_t hex_of(const char *digits)
{
	char text[17];

	memcpy(text, digits, 16);
	text[16] = '\0';
	return strtoull(text, NULL, 16);
}

static struct container_watch_one *find(const struct container_watch *c, const char *id)
{
	const uint32_t *at = u64map_get(&c->by_id, hex_of(id), hex_of(id + 16));

	return at && !memcmp(c->list[*at].id, id, CONTAINER_RECORD_DIGITS) ? &c->list[*at] : NULL;
}

static void settle(struct container_watch *c, struct container_watch_one *one)
{
	free(one->cgroup);
	one->cgroup = NULL;
	c->unnamed_count--;
}

/*
 * Those that have a name, or never will, need not be known: one that comes back is looked for again.
 * -ENOMEM: some are no longer known, none twice.
 */
static int forget_settled(struct container_watch *c)
{
	size_t count = c->count;
	int err = 0;

	u64map_done(&c->by_id);
	c->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct container_watch_one one = c->list[i];

		if (!one.cgroup)
			continue;
		err = err ? err
			  : u64map_put(&c->by_id, hex_of(one.id), hex_of(one.id + 16),
				       (uint32_t)c->count);
		if (!err) {
			c->list[c->count++] = one;
			continue;
		}
		settle(c, &one);
		c->missed_count++;
	}
	return err;
}

static int reserve(struct container_watch *c)
{
	if (c->unnamed_count == UNNAMED_MAX)
		return -EOVERFLOW;
	if (c->count == COUNT_MAX)
		return forget_settled(c);
	return vec_reserve(&c->list, &c->room, c->count + 1);
}

void container_watch_saw(struct container_watch *c, const char *cgroup)
{
	const char *id = container_record_in(cgroup);
	struct container_watch_one *one;
	char *copy;

	if (!id || find(c, id))
		return;
	copy = reserve(c) ? NULL : strdup(cgroup);
	if (!copy || u64map_put(&c->by_id, hex_of(id), hex_of(id + 16), (uint32_t)c->count)) {
		free(copy);
		c->missed_count++;
		return;
	}
	one = &c->list[c->count++];
	*one = (struct container_watch_one){ .tries_left = TRIES, .cgroup = copy };
	memcpy(one->id, id, CONTAINER_RECORD_DIGITS);
	c->unnamed_count++;
}

/* ---- what is found ---- */

/* The container is called so; only: the one of which the source is believed; NULL: of any. */
static void set_name(struct container_watch *c, const char *only, const char *id, const char *name,
		     size_t name_bytes)
{
	uint8_t entry[CONTAINER_RECORD_ENTRY_MAX];
	struct container_watch_one *one = find(c, id);

	if (!one || !one->cgroup || (only && memcmp(only, id, CONTAINER_RECORD_DIGITS) != 0))
		return;
	outbuf_add(&c->fresh, entry,
		   container_record_encode(
			   &(struct container_record_entry){ one->id, name, CONTAINER_RECORD_DIGITS,
							     name_bytes },
			   entry));
	settle(c, one);
	if (c->on_name)
		c->on_name(c->on_name_arg, id, name, name_bytes);
}

/* ---- what is read, in a thread ---- */

/* One container that is looked for. */
struct query {
	char id[CONTAINER_RECORD_DIGITS + 1];
	char *cgroup;     /* owned */
	uint32_t watcher; /* out: the process that supervises its processes; 0: none */
	uint32_t user;    /* out: whose that is */
};

/*
 * All stores of the system, for some containers; or, for one, its watcher and the stores of whose it is: these hang on
 * their own.
 */
struct search {
	struct io_job base;
	struct container_watch *c;
	struct elf_reader *reader; /* a share */
	char *mount;               /* owned, of the cgroups */
	bool ask_watcher;
	struct query query[LOOKS_A_TRY];
	unsigned count;
	struct outbuf names; /* entries, as in a capture */
};

static void on_name(void *ctx, const char *id, const char *name, size_t name_bytes)
{
	uint8_t entry[CONTAINER_RECORD_ENTRY_MAX];
	struct search *s = ctx;

	if (s->names.size_bytes < NAMES_BYTES)
		outbuf_add(&s->names, entry,
			   container_record_encode(
				   &(struct container_record_entry){
					   id, name, CONTAINER_RECORD_DIGITS, name_bytes },
				   entry));
}

/* ---- the supervisor of a container ---- */

static uint32_t first_pid(int dir_fd, const char *path)
{
	struct outbuf text = { 0 };
	uint32_t pid = 0;

	if (!slurp_at(dir_fd, path, &text) && text.size_bytes)
		pid = (uint32_t)strtoul((const char *)text.data, NULL, 10);
	outbuf_done(&text);
	return pid;
}

static const char *mount_of(struct container_watch *c)
{
	char mount[PATH_MAX] = "";

	if (!c->mount) {
		(void)cgroup_paths_find(mount);
		c->mount = strdup(mount);
	}
	return c->mount ? c->mount : "";
}

/* A process in the cgroup, or in one right below it; 0: none. */
static uint32_t member_of(const char *mount, const char *cgroup)
{
	char path[PATH_MAX], procs[NAME_MAX + 16];
	uint32_t pid = 0;
	struct dirent *d;
	DIR *dir;

	if (!*mount || snprintf(path, sizeof(path), "%s%s", mount, cgroup) >= (int)sizeof(path))
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0;
	pid = first_pid(dirfd(dir), "cgroup.procs");
	while (!pid && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || *d->d_name == '.')
			continue;
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", d->d_name);
		pid = first_pid(dirfd(dir), procs);
	}
	closedir(dir);
	return pid;
}

static uint32_t parent_of(uint32_t pid)
{
	struct outbuf text = { 0 };
	struct proc_stat stat = { 0 };
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (slurp(path, &text) || !text.size_bytes || proc_stat_parse((char *)text.data, &stat))
		stat.ppid = 0;
	outbuf_done(&text);
	return stat.ppid;
}

static bool is_inside(uint32_t pid, const char *id)
{
	struct outbuf text = { 0 };
	const char *own = NULL;
	bool inside;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (!slurp(path, &text) && text.size_bytes)
		own = container_record_in((const char *)text.data);
	inside = own && !memcmp(own, id, CONTAINER_RECORD_DIGITS);
	outbuf_done(&text);
	return inside;
}

/* The first ancestor of the container's processes that is not one of them; 0: none. */
static uint32_t watcher_of(const char *mount, const struct query *q)
{
	uint32_t pid = member_of(mount, q->cgroup);
	unsigned steps = 0;

	while (pid && steps++ < ANCESTORS_MAX && is_inside(pid, q->id))
		pid = parent_of(pid);
	return steps < ANCESTORS_MAX ? pid : 0;
}

const char *container_watch_conmon_name(const char *args, size_t size_bytes, const char *id)
{
	const char *end = args + size_bytes, *at = args, *next, *name = NULL, *base;
	bool same = false;

	if (!size_bytes || end[-1])
		return NULL;
	base = strrchr(args, '/');
	if (strcmp(base ? base + 1 : args, "conmon") != 0)
		return NULL;
	for (; at < end; at = next) {
		next = at + strlen(at) + 1;
		if (next >= end)
			break;
		if (!strcmp(at, "-c") || !strcmp(at, "--cid"))
			same = !strncmp(next, id, CONTAINER_RECORD_DIGITS);
		else if (!strcmp(at, "-n") || !strcmp(at, "--name"))
			name = next;
	}
	return same && name && container_record_is_name(name, strlen(name)) ? name : NULL;
}

static bool is_conmon(struct search *s, uint32_t pid)
{
	const char *name = NULL, *id = s->query[0].id;
	struct outbuf args = { 0 };
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	if (!slurp_some(AT_FDCWD, path, ARGS_BYTES, &args) && args.size_bytes)
		name = container_watch_conmon_name((const char *)args.data, args.size_bytes, id);
	if (name)
		on_name(s, id, name, strlen(name));
	outbuf_done(&args);
	return name;
}

/* While a container is being made its watcher's child, runc, stands between them. */
static bool ask_conmon(struct search *s, uint32_t pid)
{
	for (unsigned steps = 0; pid && steps < MAKERS_MAX; steps++, pid = parent_of(pid))
		if (is_conmon(s, pid))
			return true;
	return false;
}

/* A root's own stores have been asked. */
static bool is_asked(int root_fd, uint32_t uid)
{
	struct stat own, theirs;

	return !uid && !stat("/", &own) && !fstat(root_fd, &theirs) &&
	       own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino;
}

static void ask_watcher(struct search *s)
{
	const struct query *q = &s->query[0];
	char path[48];
	struct stat st;
	int root_fd;

	if (ask_conmon(s, q->watcher))
		return;
	snprintf(path, sizeof(path), "/proc/%u", q->watcher);
	if (stat(path, &st))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", q->watcher);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return;
	if (!is_asked(root_fd, st.st_uid))
		container_stores_look(s->reader, root_fd, st.st_uid, q->id, CONTAINER_STORES_ALL,
				      on_name, s);
	close(root_fd);
}

static void ask_system(struct search *s)
{
	enum container_stores_which which = CONTAINER_STORES_ALL;
	int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = 0; i < s->count && root_fd >= 0; i++) {
		struct query *q = &s->query[i];

		container_stores_look(s->reader, root_fd, CONTAINERSTORES_NO_HOME, q->id, which,
				      on_name, s);
		which = CONTAINER_STORES_SINGLE; /* the lists had all */
		q->watcher = watcher_of(s->mount, q);
		q->user = q->watcher ? process_user(q->watcher) : 0;
	}
	if (root_fd >= 0)
		close(root_fd);
}

static void search_work(struct io_job *job)
{
	struct search *s = (struct search *)job;

	if (s->ask_watcher)
		ask_watcher(s);
	else
		ask_system(s);
}

/* ---- and what comes of it ---- */

static void search_drop(struct io_job *job)
{
	struct search *s = (struct search *)job;

	for (unsigned i = 0; i < s->count; i++)
		free(s->query[i].cgroup);
	outbuf_done(&s->names);
	elf_reader_free(s->reader);
	free(s->mount);
	free(s);
}

/* The first one where several ids begin with the same digits. */
static struct container_watch_one *find_exactly(const struct container_watch *c, const char *id)
{
	struct container_watch_one *one = find(c, id);

	for (size_t i = 0; !one && i < c->count; i++)
		if (!memcmp(c->list[i].id, id, CONTAINER_RECORD_DIGITS))
			one = &c->list[i];
	return one;
}

/* Ends the look-up for now; after the last try, or when a store does not answer, for ever. */
static void end_try(struct container_watch *c, const char *id, bool is_last)
{
	struct container_watch_one *one = find_exactly(c, id);

	if (!one || !one->cgroup)
		return;
	one->is_asked = false;
	if (is_last || !--one->tries_left)
		settle(c, one);
}

static void end_tries(const struct search *s, bool is_last)
{
	for (unsigned i = 0; i < s->count; i++)
		end_try(s->c, s->query[i].id, is_last);
	s->c->is_searching &= s->ask_watcher;
}

static void search_given_up(struct io_job *job)
{
	struct search *s = (struct search *)job;

	s->c->unanswered_count += s->count;
	end_tries(s, true);
}

static void search_done(struct io_job *job);

static struct search *new_search(struct container_watch *c, bool ask_watcher)
{
	struct search *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base = (struct io_job){ .work = search_work,
				   .done = search_done,
				   .given_up = search_given_up,
				   .drop = search_drop,
				   .key = io_key(IO_KIND_STORE, ask_watcher, 0) };
	s->c = c;
	s->reader = elf_reader_share(c->reader);
	s->ask_watcher = ask_watcher;
	s->mount = strdup(mount_of(c));
	if (s->mount)
		return s;
	search_drop(&s->base);
	return NULL;
}

static void begin_search(struct search *s)
{
	if (io_timeout_run(s->c->io, &s->base, true, SEARCH_NS) == -EBUSY) {
		search_given_up(&s->base);
		search_drop(&s->base);
	}
}

/* False: it has no supervisor. */
static bool ask_watcher_of(struct container_watch *c, const struct query *q)
{
	struct search *s = q->watcher ? new_search(c, true) : NULL;

	if (!s)
		return false;
	s->query[0] = *q;
	s->query[0].cgroup = NULL;
	s->count = 1;
	s->base.key = io_key(IO_KIND_STORE, 1, q->user);
	s->base.user = q->user;
	begin_search(s);
	return true;
}

static void take_names(const struct search *s)
{
	struct cursor names = cursor_of(s->names.data, s->names.size_bytes);
	struct container_record_entry e;

	while (outbuf_ok(&s->names) && container_record_next(&names, &e) == 1)
		set_name(s->c, s->ask_watcher ? s->query[0].id : NULL, e.id, e.name, e.name_bytes);
}

static void search_done(struct io_job *job)
{
	struct search *s = (struct search *)job;
	struct container_watch *c = s->c;

	take_names(s);
	if (s->ask_watcher) {
		end_tries(s, false);
		search_drop(job);
		return;
	}
	c->is_searching = false;
	for (unsigned i = 0; i < s->count; i++) {
		const struct container_watch_one *one = find_exactly(c, s->query[i].id);

		if (one && one->cgroup && !ask_watcher_of(c, &s->query[i]))
			end_try(c, s->query[i].id, false);
	}
	search_drop(job);
}

/* The next ones in their turn, but for those that are being asked about. */
static void choose(struct container_watch *c, struct search *s, uint64_t now_ns)
{
	for (size_t i = 0; i < c->count && s->count < LOOKS_A_TRY; i++) {
		struct container_watch_one *one = &c->list[c->at++ % c->count];
		struct query *q = &s->query[s->count];

		if (!one->cgroup || one->is_asked || one->next_ns > now_ns)
			continue;
		q->cgroup = strdup(one->cgroup);
		if (!q->cgroup)
			return;
		memcpy(q->id, one->id, sizeof(one->id));
		one->is_asked = true;
		one->next_ns = now_ns + TRY_NS;
		s->count++;
	}
}

static bool is_any_due(const struct container_watch *c, uint64_t now_ns)
{
	size_t i = 0;

	while (i < c->count &&
	       (!c->list[i].cgroup || c->list[i].is_asked || c->list[i].next_ns > now_ns))
		i++;
	return i < c->count;
}

void container_watch_look(struct container_watch *c, uint64_t now_ns)
{
	struct search *s;

	if (c->is_searching || c->next_ns > now_ns || !c->unnamed_count || !is_any_due(c, now_ns))
		return;
	s = new_search(c, false);
	if (!s)
		return;
	choose(c, s, now_ns);
	if (s->count == LOOKS_A_TRY)
		c->next_ns = now_ns + PAUSE_NS;
	c->is_searching = true;
	begin_search(s);
}

int container_watch_flush(struct container_watch *c)
{
	int err = 0;

	if (c->writer && c->fresh.size_bytes && outbuf_ok(&c->fresh))
		err = writer_object(c->writer, EBX_CONTAINERS, c->next_object++, c->fresh.data,
				    c->fresh.size_bytes);
	outbuf_clear(&c->fresh);
	return err;
}
