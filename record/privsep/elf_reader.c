/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf_reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/privsep/elf/elf_symbol.h"
#include "record/privsep/elf_reader_priv.h"
#include "record/privsep/subprocess.h"

#define TABLE_MAX_NS 10000000000ULL /* the largest takes a second */
#define FACTS_MAX_NS 1000000000ULL  /* a few reads; the recorder waits for them */
#define TEXT_MAX_NS  5000000000ULL  /* a jitdump of gigabytes */
#define DEATHS_FREE  16             /* after so many it is started once a second at most */
#define REST_NS      1000000000ULL
#define END_NS       100000000ULL /* to be gone after SIGKILL */
#define END_STEP_NS  200000
#define LEFT_MAX     8 /* that SIGKILL did not end */

struct elf_reader {
	pthread_mutex_t lock; /* one question at a time */
	atomic_uint users;
	const char *program, *option;
	pid_t pid; /* 0: none runs */
	int socket;
	pid_t left[LEFT_MAX]; /* these hang in the kernel, in a file that does not answer */
	unsigned left_count;
	uint32_t deaths;
	uint64_t died_ns, dead_cpu_ns;
	char death[80];
};

/* All of it, until the time is up: -ETIMEDOUT; -EPIPE: the other side is gone. */
static int hear(struct elf_reader *w, void *to, size_t bytes, uint64_t until_ns)
{
	struct pollfd p = { .fd = w->socket, .events = POLLIN };
	size_t done = 0;
	uint64_t now_ns;
	ssize_t n;

	while (done < bytes) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= until_ns)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0)
			continue;
		n = read(w->socket, (char *)to + done, bytes - done);
		if (!n || (n < 0 && errno != EINTR))
			return -EPIPE;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

/* ---- its life ---- */

static bool is_gone(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) != 0;
}

/* True: it is gone.  A reader that waits for a file system without an answer cannot be ended, and is left behind. */
static bool end(struct elf_reader *w, int *status)
{
	const struct timespec step = { .tv_nsec = END_STEP_NS };
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + END_NS;
	bool gone;

	w->dead_cpu_ns += cpu_ns_of(w->pid);
	(void)kill(w->pid, SIGKILL);
	while (!(gone = is_gone(w->pid, status)) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		nanosleep(&step, NULL);
	if (!gone && w->left_count < LEFT_MAX)
		w->left[w->left_count++] = w->pid;
	close(w->socket);
	w->pid = 0;
	return gone;
}

static int died(struct elf_reader *w, bool hangs)
{
	int status = 0;
	bool gone = end(w, &status);

	w->deaths++;
	w->died_ns = clock_ns(CLOCK_MONOTONIC);
	if (hangs || !gone)
		snprintf(w->death, sizeof(w->death), "no answer in time");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		snprintf(w->death, sizeof(w->death), "it did what it may not");
	else if (WIFSIGNALED(status))
		snprintf(w->death, sizeof(w->death), "killed by signal %d", WTERMSIG(status));
	else
		snprintf(w->death, sizeof(w->death), "exited with %d", WEXITSTATUS(status));
	return -ECHILD;
}

/* Whether it has closed the file of the last question: that may take as long as to read it. */
static bool is_ready(struct elf_reader *w)
{
	char word;
	int err = hear(w, &word, 1, clock_ns(CLOCK_MONOTONIC) + FACTS_MAX_NS);

	if (err || word != *ELF_READER_READY)
		(void)died(w, err == -ETIMEDOUT);
	return w->pid;
}

static void forget_gone(struct elf_reader *w)
{
	int status;

	for (unsigned i = w->left_count; i-- > 0;)
		if (is_gone(w->left[i], &status))
			w->left[i] = w->left[--w->left_count];
}

static int start(struct elf_reader *w)
{
	int err;

	if (w->pid && is_ready(w))
		return 0;
	forget_gone(w);
	if (w->left_count == LEFT_MAX) {
		snprintf(w->death, sizeof(w->death), "too many that did not answer are left");
		return -ECHILD;
	}
	if (w->deaths >= DEATHS_FREE && clock_ns(CLOCK_MONOTONIC) - w->died_ns < REST_NS)
		return -ECHILD;
	err = subprocess_start(w->program, w->option, &w->pid, &w->socket);
	if (err) {
		w->pid = 0;
		snprintf(w->death, sizeof(w->death), "cannot be started: %s", strerror(-err));
		return -ECHILD;
	}
	return 0;
}

/* ---- questions and answers ---- */

static int answer(struct elf_reader *w, struct rule_table *set, struct module_table **out,
		  uint64_t until)
{
	struct elf_reader_answer head;
	int err = hear(w, &head, sizeof(head), until);
	uint8_t *bytes;

	if (err)
		return died(w, err == -ETIMEDOUT);
	if (head.err > 0 || head.err < -4095 || head.size_bytes > ELF_READER_TABLE_MAX)
		return died(w, false);
	if (head.err || !head.size_bytes)
		return head.err;
	bytes = malloc(head.size_bytes);
	if (!bytes) {
		died(w, false);
		return -ENOMEM;
	}
	err = hear(w, bytes, head.size_bytes, until);
	if (err)
		err = died(w, err == -ETIMEDOUT);
	else
		err = module_table_from_cache(bytes, head.size_bytes, &elf_reader_key, set, out);
	free(bytes);
	return err;
}

static int ask_table(struct elf_reader *w, int fd, struct rule_table *set,
		     struct module_table **out)
{
	int err = start(w);

	if (err)
		return err;
	*out = NULL;
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_TABLE, 1))
		return died(w, false);
	return answer(w, set, out, clock_ns(CLOCK_MONOTONIC) + TABLE_MAX_NS);
}

/* A bool that came as a byte: other values than these are none of C's. */
static bool is_bool(const bool *b)
{
	uint8_t byte;

	memcpy(&byte, b, sizeof(byte));
	return byte <= 1;
}

static bool is_runtime(const struct elf_runtime *p)
{
	return p->state <= ELF_RUNTIME_THREADED && p->kind < RUNTIME_KINDS &&
	       p->desc.kind < RUNTIME_KINDS &&
	       (p->state != ELF_RUNTIME_UNDERSTOOD || (p->kind && p->desc.kind == p->kind));
}

static bool are_facts(const struct elf_facts *f)
{
	return f->build_id.size_bytes <= BUILDID_MAX_BYTES &&
	       f->segment_count <= FILE_FACTS_SEGMENTS_MAX &&
	       f->site_count <= ELF_NOTES_SITES_MAX && is_bool(&f->sum.has_loaded) &&
	       is_bool(&f->sum.has_spread) && is_runtime(&f->runtime);
}

static int ask_facts(struct elf_reader *w, int fd, struct elf_facts *out)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + FACTS_MAX_NS;
	struct elf_facts facts;
	int err = start(w);

	if (err)
		return err;
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_FACTS, 1))
		return died(w, false);
	err = hear(w, &facts, sizeof(facts), until);
	if (err)
		return died(w, err == -ETIMEDOUT);
	if (!are_facts(&facts))
		return died(w, false);
	*out = facts;
	return 0;
}

static int ask_symbol(struct elf_reader *w, int fd, const char *name, uint64_t *out)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + TABLE_MAX_NS;
	char room[ELF_SYMBOL_NAME_MAX] = "";
	struct elf_reader_place place;
	int err;

	if (strlen(name) >= sizeof(room))
		return -ENOENT;
	memcpy(room, name, strlen(name));
	err = start(w);
	if (err)
		return err;
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_SYMBOL, 1) ||
	    subprocess_send(w->socket, -1, room, sizeof(room)))
		return died(w, false);
	err = hear(w, &place, sizeof(place), until);
	if (err)
		return died(w, err == -ETIMEDOUT);
	if (place.err > 0 || place.err < -4095)
		return died(w, false);
	if (!place.err)
		*out = place.off_bytes;
	return (int)place.err;
}

static int ask_probe(struct elf_reader *w, int fd, const char *provider, const char *name,
		     struct elf_usdt_probe *out)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + TABLE_MAX_NS;
	struct elf_reader_probe ask = { 0 };
	struct elf_reader_found found;
	int err;

	if (strlen(provider) >= sizeof(ask.provider) || strlen(name) >= sizeof(ask.name))
		return -ENOENT;
	memcpy(ask.provider, provider, strlen(provider));
	memcpy(ask.name, name, strlen(name));
	err = start(w);
	if (err)
		return err;
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_PROBE, 1) ||
	    subprocess_send(w->socket, -1, &ask, sizeof(ask)))
		return died(w, false);
	err = hear(w, &found, sizeof(found), until);
	if (!err && (found.err > 0 || found.err < -4095 || found.count > ELF_USDT_SITES_MAX))
		return died(w, false);
	if (!err && !found.err)
		err = hear(w, out->sites, found.count * sizeof(*out->sites), until);
	if (err)
		return died(w, err == -ETIMEDOUT);
	out->count = found.err ? 0 : found.count;
	out->zero = 0;
	return found.err;
}

static int ask_jit(struct elf_reader *w, int fd, size_t limit_bytes, struct outbuf *out,
		   bool *complete)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + TEXT_MAX_NS;
	const struct elf_reader_limit limit = { limit_bytes };
	struct elf_reader_jit head;
	uint8_t *to;
	int err = start(w);

	if (err)
		return err;
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_JIT, 1) ||
	    subprocess_send(w->socket, -1, &limit, sizeof(limit)))
		return died(w, false);
	err = hear(w, &head, sizeof(head), until);
	if (err || head.complete > 1 || head.size_bytes > limit_bytes)
		return died(w, err == -ETIMEDOUT);
	to = outbuf_reserve(out, head.size_bytes);
	if (!to) {
		died(w, false);
		return -ENOMEM;
	}
	err = hear(w, to, head.size_bytes, until);
	if (err)
		return died(w, err == -ETIMEDOUT);
	out->size_bytes += head.size_bytes;
	*complete = head.complete;
	return 0;
}

/* The entries, owned; not yet checked. */
static int ask_store(struct elf_reader *w, int fd, enum store_file form, const char *key,
		     uint8_t **entries, size_t *size_bytes)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + TEXT_MAX_NS;
	struct elf_reader_store ask = { .form = (uint32_t)form };
	struct elf_reader_answer head;
	uint8_t *bytes;
	int err = start(w);

	if (err)
		return err;
	memcpy(ask.key, key, strnlen(key, sizeof(ask.key) - 1));
	if (subprocess_send(w->socket, fd, ELF_READER_ASK_STORE, 1) ||
	    subprocess_send(w->socket, -1, &ask, sizeof(ask)))
		return died(w, false);
	err = hear(w, &head, sizeof(head), until);
	if (err || head.err > 0 || head.err < -4095 || head.size_bytes > ELF_READER_STORE_MAX)
		return died(w, err == -ETIMEDOUT);
	bytes = malloc(head.size_bytes + 1);
	if (!bytes) {
		died(w, false);
		return -ENOMEM;
	}
	err = hear(w, bytes, head.size_bytes, until);
	if (err) {
		free(bytes);
		return died(w, err == -ETIMEDOUT);
	}
	*entries = bytes;
	*size_bytes = head.size_bytes;
	return head.err;
}

static bool is_entry(enum store_file form, const struct elf_reader_entry *e, const char *text)
{
	if (form >= STORE_FILE_CONF)
		return !*e->id && e->text_bytes && e->text_bytes < STORE_PATH_MAX && *text == '/' &&
		       !memchr(text, '\0', e->text_bytes);
	return store_file_is_id(e->id, CONTAINER_RECORD_DIGITS) &&
	       container_record_is_name(text, e->text_bytes);
}

/* The process may be compromised, so its answers are checked like the contents of a file. */
static void report_entries(enum store_file form, const uint8_t *entries, size_t size_bytes,
			   store_file_fn fn, void *ctx)
{
	struct elf_reader_entry e;
	size_t at = 0;

	while (size_bytes - at >= sizeof(e)) {
		const char *text = (const char *)entries + at + sizeof(e);

		memcpy(&e, entries + at, sizeof(e));
		at += sizeof(e);
		if (e.text_bytes > size_bytes - at)
			return;
		at += e.text_bytes;
		e.id[CONTAINER_RECORD_DIGITS] = '\0';
		if (is_entry(form, &e, text))
			fn(ctx, e.id, text, e.text_bytes);
	}
}

int elf_reader_jitdump(struct elf_reader *w, int fd, size_t limit_bytes, struct outbuf *out,
		       bool *complete)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_jit(w, fd, limit_bytes, out, complete);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int elf_reader_store_file(struct elf_reader *w, int fd, enum store_file form, const char *key,
			  store_file_fn fn, void *ctx)
{
	uint8_t *entries = NULL;
	size_t size_bytes = 0;
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_store(w, fd, form, key, &entries, &size_bytes);
	pthread_mutex_unlock(&w->lock);
	if (entries)
		report_entries(form, entries, size_bytes, fn, ctx);
	free(entries);
	return err;
}

int elf_reader_table(struct elf_reader *w, int fd, struct rule_table *set,
		     struct module_table **out)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_table(w, fd, set, out);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int elf_reader_facts(struct elf_reader *w, int fd, struct elf_facts *out)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_facts(w, fd, out);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int elf_reader_facts_safely(struct elf_reader *w, int fd, struct elf_facts *out)
{
	struct stat st;
	int err;

	if (!w || (!fstat(fd, &st) && !elf_facts_is_of_others(&st))) {
		elf_facts_read(fd, out);
		return 0;
	}
	err = elf_reader_facts(w, fd, out);
	if (err)
		*out = (struct elf_facts){ 0 };
	return err;
}

int elf_reader_symbol(struct elf_reader *w, int fd, const char *name, uint64_t *out)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_symbol(w, fd, name, out);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int elf_reader_probe(struct elf_reader *w, int fd, const char *provider, const char *name,
		     struct elf_usdt_probe *out)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = ask_probe(w, fd, provider, name, out);
	pthread_mutex_unlock(&w->lock);
	return err;
}

uint64_t elf_reader_cpu_ns(struct elf_reader *w)
{
	return w->dead_cpu_ns + (w->pid ? cpu_ns_of(w->pid) : 0);
}

const char *elf_reader_death(const struct elf_reader *w)
{
	return w->death;
}

int elf_reader_new(const char *program, const char *option, struct elf_reader **out)
{
	struct elf_reader *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	atomic_init(&w->users, 1);
	w->program = program;
	w->option = option;
	*out = w;
	return 0;
}

struct elf_reader *elf_reader_share(struct elf_reader *w)
{
	if (w)
		atomic_fetch_add(&w->users, 1);
	return w;
}

void elf_reader_free(struct elf_reader *w)
{
	int status;

	if (!w || atomic_fetch_sub(&w->users, 1) != 1)
		return;
	if (w->pid)
		(void)end(w, &status);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
