/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec push - what captures count, sent to databases and collectors */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/base/read_file.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/lock_folder.h"
#include "analyze/cmd/common/name_options.h"
#include "analyze/cmd/common/secret_file.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/cmd/push/cmd_push.h"
#include "analyze/cmd/push/reader_process.h"
#include "analyze/out/message.h"
#include "format/base/vec.h"
#include "format/os/clock.h"
#include "format/reader/capture.h"

#define AT(field)      offsetof(struct push_opts, field)
#define SECOND_NS      1000000000ull
#define SCAN_MS        2000
#define SCAN_MOST_MS   60000
#define LEDGER_WAIT_US 1000000
#define SEEN_MAX       4096
#define LABELS_BYTES   65536

static const struct option push_options[] = {
	{ OPT_LIST, 0, "to", "URL", AT(to), 0, 0,
	  "where to send (repeatable): clickhouse://HOST/DATABASE, FORM+http://HOST/PATH" },
	{ OPT_LIST, 'i', "input", "FILE", AT(inputs), 0, 0,
	  "a capture, or a folder of them (repeatable; default: ebprec.data)" },
	{ OPT_STRING, 'd', "dir", "DIR", AT(folder), 0, 0,
	  "where batches wait, and the ledger (default: ebprec.push)" },
	{ OPT_FLAG, 0, "setup", NULL, AT(setup), 0, 0, "make the tables in the database, and end" },
	{ OPT_FLAG, 0, "replicated", NULL, AT(replicated), 0, 0,
	  "with --setup: tables that a cluster replicates" },
	{ OPT_UINT, 0, "days", "N", AT(days), 0, 36500,
	  "with --setup: the database forgets samples after N days (default: 14, 0: never)" },
	{ OPT_FLAG, 0, "status", NULL, AT(status), 0, 0,
	  "list what was sent, what waits and what was refused" },
	{ OPT_FLAG, 0, "follow", NULL, AT(follow), 0, 0,
	  "go on with captures that appear in the folders" },
	{ OPT_STRING, 0, "host", "NAME", AT(host), 0, 0,
	  "the host of the rows (default: the one that was recorded)" },
	{ OPT_LIST, 0, "label", "KEY=VALUE", AT(labels), 0, 0,
	  "of the host, in each row: region=eu (repeatable)" },
	{ OPT_STRING, 0, "labels", "FILE", AT(labels_file), 0, 0,
	  "the same, a line each, of a file" },
	{ OPT_SECONDS, 0, "interval", "SECONDS", AT(interval_ns), 0, 0,
	  "add samples up over so long (default: 60)" },
	{ OPT_FLAG, 0, "waits", NULL, AT(waits), 0, 0,
	  "what threads waited for, and how long, too; --no-waits: samples alone" },
	{ OPT_SIZE, 0, "queue", "SIZE", AT(queue_bytes), 0, 0,
	  "captures wait while batches of so much do, for each server (default: 1G)" },
	{ OPT_SIZE, 0, "max-rate", "SIZE", AT(max_rate_bytes), 0, 0,
	  "send a server no more than this in a second (256K)" },
	{ OPT_SECONDS, 0, "timeout", "SECONDS", AT(timeout_ns), 0, 0,
	  "a request may take so long (default: 60)" },
	{ OPT_SECONDS, 0, "retry", "SECONDS", AT(most_wait_ns), 0, 0,
	  "the longest wait between two tries (default: 60)" },
	{ OPT_SECONDS, 0, "give-up", "SECONDS", AT(give_up_ns), 0, 0,
	  "without --follow: end when nothing was taken for so long (default: 60)" },
	{ OPT_LIST, 0, "token-file", "FILE", AT(tokens), 0, 0,
	  "the secret of a server, of all or each in the order of --to (mode 0600)" },
	{ OPT_STRING, 0, "ca", "FILE", AT(ca), 0, 0,
	  "certificates that sign the servers' (default: the system's)" },
	{ OPT_STRING, 0, "cert", "FILE", AT(cert), 0, 0, "the certificate to show to servers" },
	{ OPT_STRING, 0, "key", "FILE", AT(key), 0, 0, "its private key" },
	{ OPT_STRING, 0, "proxy", "URL", AT(proxy), 0, 0,
	  "ask through this proxy; the environment's are not used" },
	{ OPT_STRING, 0, "proxy-login", "FILE", AT(proxy_login), 0, 0,
	  "USER:PASSWORD of the proxy (mode 0600)" },
	{ OPT_STRING, 0, "service-rules", "FILE", AT(pick.service_rules), 0, 0,
	  "rules that name services: lines 'SERVICE unit:PATTERN ...'" },
	NAMEOPTS(AT(pick.names)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage push_usage;

static int read_labels(struct push_opts *o)
{
	const char *problem = NULL;
	char *text = NULL;
	size_t line = 0;
	int err = 0;

	for (unsigned i = 0; i < o->labels.count && !err; i++) {
		err = push_labels_add(&o->host_labels, o->labels.values[i], &problem);
		if (err == -EINVAL)
			return usage_error(&push_usage, "option '--label' cannot be '%s': %s",
					   o->labels.values[i], problem);
	}
	if (!err && o->labels_file)
		err = read_file_text(o->labels_file, LABELS_BYTES, &text);
	if (!err && text)
		err = push_labels_read(&o->host_labels, text, &line, &problem);
	free(text);
	if (problem)
		return message_error("cannot read '%s': line %zu: %s", o->labels_file, line,
				     problem);
	return err ? message_error("cannot read '%s': %s", o->labels_file, strerror(-err)) : 0;
}

/* Before there are secrets. */
static int start_reader(void *arg)
{
	struct push_opts *o = arg;
	int status = read_labels(o);

	if (status)
		return status;
	o->reader = o->status || o->setup ? -ENOENT : reader_process_start(push_read, o);
	return o->reader < 0 && o->reader != -ENOENT
		       ? message_error("cannot push: the process that reads cannot be started: %s",
				       strerror(-o->reader))
		       : 0;
}

static const struct usage push_usage = {
	.command = "push",
	.words = "--to URL [OPTIONS] [[-i] FILE]...",
	.about = "Adds up what captures have, interval by interval, and sends it to servers.\n"
		 "Batches wait in DIR/out until they are taken, each is sent as it was encoded\n"
		 "once, and nothing that was taken is sent again.\n",
	.options = push_options,
	.reads = USAGE_READS,
	.sends = "dir",
	.looks = "status",
	.starts = start_reader,
};

/* ---- servers ---- */

static int add_target(struct push_state *p, size_t i)
{
	const struct push_opts *o = p->opts;
	const char *problem, *secret = NULL;
	int err = push_target_parse(o->to.values[i], &p->targets[i], &problem), status = 0;

	if (err == -ENOMEM)
		return message_error("cannot push: %s", strerror(ENOMEM));
	if (err == -EACCES)
		return usage_error(p->usage, "option '--to': %s", problem);
	if (err)
		return usage_error(p->usage, "option '--to' cannot be '%s': %s", o->to.values[i],
				   problem);
	p->count++;
	if (o->tokens.count)
		secret = o->tokens.values[o->tokens.count == 1 ? 0 : i];
	if (secret)
		status = secret_file_read(secret, &p->secrets[i]);
	p->targets[i].secret = p->secrets[i];
	return status;
}

static int add_targets(struct push_state *p)
{
	const struct push_opts *o = p->opts;
	int status = 0;

	if (!o->to.count && !o->status)
		return usage_error(p->usage, "'ebprec push' needs a server: '--to'");
	if (o->tokens.count > 1 && o->tokens.count != o->to.count)
		return usage_error(p->usage,
				   "one --token-file for all servers, or one for each --to");
	for (size_t i = 0; i < o->to.count && !status; i++)
		status = add_target(p, i);
	return status;
}

static int read_proxy(struct push_state *p)
{
	const struct push_opts *o = p->opts;
	char *colon;
	int status;

	if (o->proxy && push_url_has_secret(o->proxy))
		return usage_error(
			p->usage,
			"option '--proxy': it has a password, which all users of the machine see (--proxy-login FILE, mode 0600, has it)");
	if (!o->proxy_login)
		return 0;
	if (!o->proxy)
		return usage_error(p->usage, "--proxy-login goes with --proxy");
	status = secret_file_read(o->proxy_login, &p->proxy_user);
	if (status)
		return status;
	colon = strchr(p->proxy_user, ':');
	if (!colon)
		return message_error("cannot use '%s': USER:PASSWORD was expected in it",
				     o->proxy_login);
	*colon = '\0';
	p->proxy_password = colon + 1;
	return 0;
}

/* ---- the folder ---- */

/* To look at it, one that is not there is not made. */
static int open_ledger(struct push_state *p)
{
	char *path, *problem = NULL;
	int err = 0;

	if (asprintf(&path, "%s/push.sqlite", p->opts->folder) < 0)
		return message_error("cannot push: %s", strerror(ENOMEM));
	if (!p->opts->status || !access(path, F_OK) || errno != ENOENT)
		err = push_ledger_open(path, &p->ledger, &problem);
	if (err)
		message_error("cannot open the ledger '%s': %s", path,
			      problem ? problem : strerror(-err));
	free(problem);
	free(path);
	return err ? MESSAGE_FAILED : 0;
}

static int name_folder(struct push_state *p)
{
	if (asprintf(&p->out, "%s/out", p->opts->folder) >= 0)
		return 0;
	p->out = NULL;
	return message_error("cannot push: %s", strerror(ENOMEM));
}

static int open_folder(struct push_state *p)
{
	int status, err = 0;

	if (mkdir(p->opts->folder, 0700) && errno != EEXIST)
		return message_error("cannot make '%s': %s", p->opts->folder, strerror(errno));
	if (mkdir(p->out, 0700) && errno != EEXIST)
		return message_error("cannot make '%s': %s", p->out, strerror(errno));
	status = lock_folder(p->opts->folder, "push");
	if (!status)
		status = open_ledger(p);
	if (!status)
		push_folder_clean(p->out, p->ledger);
	for (size_t i = 0; i < p->count && !status && !err; i++)
		err = push_ledger_target(p->ledger, p->targets[i].name, &p->ids[i]);
	return err ? push_ledger_error(p, err) : status;
}

static void on_event(void *arg, enum push_event event, const struct push_target *t,
		     const struct push_waiting *w, const char *words)
{
	struct push_state *p = arg;

	if (event == PUSH_EVENT_SENT) {
		p->sent++;
		p->sent_samples += w->samples;
		p->reported &= ~(unsigned)PUSH_PLACE_LEDGER;
	} else if (event == PUSH_EVENT_REFUSED || event == PUSH_EVENT_GONE) {
		p->refused++;
		message_error("batch %" PRIu64 " of '%s' was not taken by '%s': %s", w->seq,
			      w->host, t->name, words);
	} else if (event == PUSH_EVENT_REPEATED) {
		message_note(
			"a part of batch %" PRIu64
			" of '%s' was sent to '%s' again, as its answer was lost: it may be there twice",
			w->seq, w->host, t->name);
	} else if (event == PUSH_EVENT_LATER && !p->opts->quiet) {
		message_note("'%s' takes nothing now: %s", t->name, words);
	}
}

static int open_sender(struct push_state *p)
{
	const struct push_opts *o = p->opts;
	struct push_sender_opts s = {
		.folder = p->out,
		.http = { .ca_file = o->ca,
			  .cert_file = o->cert,
			  .key_file = o->key,
			  .proxy = o->proxy,
			  .proxy_user = p->proxy_user,
			  .proxy_password = p->proxy_password,
			  .most_bytes_per_s = o->max_rate_bytes,
			  .timeout_ms = o->timeout_ns / 1000000 },
		.most_wait_ms = o->most_wait_ns / 1000000,
		.on_event = on_event,
		.arg = p,
	};
	int err = push_sender_new(&s, p->ledger, p->targets, p->ids, p->count, &p->sender);

	if (err == -ENOENT)
		return message_error(
			"cannot push: libcurl.so.4 cannot be loaded (Debian: libcurl4; a static "
			"ebprec cannot load it at all)");
	return err ? message_error("cannot push: %s", strerror(-err)) : 0;
}

/* ---- captures ---- */

/* Whether captures have to wait for all servers.  One that takes nothing does not stop the others. */
static bool is_full(struct push_state *p)
{
	struct push_sums sums;
	size_t count = 0;

	p->full = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (push_ledger_sums(p->ledger, p->ids[i], &sums) ||
		    sums.waiting_bytes < p->opts->queue_bytes)
			continue;
		p->full |= 1ull << i;
		count++;
	}
	p->held |= p->full != 0;
	return p->count && count == p->count;
}

static void note_unfinished(const char *path)
{
	message_note(
		"'%s' is being recorded, or its recorder was killed, skipping (ebprec recover)",
		path);
}

static int push_file(struct push_state *p, const char *path, uint64_t *added)
{
	enum push_file file;
	uint64_t missing;
	int status = push_capture(p, path, added, &file, &missing);

	if (file == PUSH_FILE_UNFINISHED && !p->opts->follow)
		note_unfinished(path);
	return status;
}

/* ---- folders ---- */

/* NULL: it was not looked at, or was written to since. */
static struct push_seen_file *find_seen(struct push_state *p, const struct push_file_state *f)
{
	for (size_t i = 0; i < p->seen_count; i++)
		if (!memcmp(&p->seen[i].state, f, sizeof(*f)))
			return &p->seen[i];
	return NULL;
}

/* Without memory, or of very many, it is looked at again. */
static void note_seen(struct push_state *p, const char *path, const struct push_file_state *f,
		      uint64_t missing)
{
	struct push_seen_file *seen = find_seen(p, f);
	char *name;

	if (seen) {
		seen->missing = missing;
		return;
	}
	name = p->seen_count < SEEN_MAX ? strdup(path) : NULL;
	if (!name || vec_reserve(&p->seen, &p->seen_capacity, p->seen_count + 1)) {
		free(name);
		return;
	}
	p->seen[p->seen_count++] =
		(struct push_seen_file){ .state = *f, .missing = missing, .path = name };
}

/* Servers will never have it. */
static int count_removed(struct push_state *p, const struct push_seen_file *f)
{
	int err = 0;

	for (size_t i = 0; i < p->count && !err; i++) {
		if (!(f->missing & 1ull << i))
			continue;
		message_note(
			"'%s' was removed before it was sent to '%s' (a larger --queue, or limits of its folder, keep more)",
			f->path, p->targets[i].name);
		err = push_ledger_add_removed(p->ledger, p->ids[i]);
	}
	return err ? push_ledger_error(p, err) : 0;
}

/* Forgets files that are gone. */
static int find_removed(struct push_state *p)
{
	size_t count = 0;
	struct stat st;
	int status = 0;

	for (size_t i = 0; i < p->seen_count; i++) {
		struct push_seen_file *f = &p->seen[i];

		if (status || !lstat(f->path, &st) || errno != ENOENT) {
			p->seen[count++] = *f;
			continue;
		}
		status = count_removed(p, f);
		free(f->path);
	}
	p->seen_count = count;
	return status;
}

/* One that cannot be read costs itself alone. */
static void push_file_of_folder(struct push_state *p, const char *path, uint64_t *added)
{
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const struct push_seen_file *seen;
	struct push_file_state f;
	enum push_file file;
	uint64_t missing;
	struct stat st;
	bool is_old;
	int status;

	if (stat(path, &st))
		return;
	f = (struct push_file_state){ .device = st.st_dev,
				      .inode = st.st_ino,
				      .mtime_ns = clock_timespec_ns(st.st_mtim),
				      .size_bytes = (uint64_t)st.st_size };
	/* Recorders write each second. */
	is_old = (now_ns > f.mtime_ns ? now_ns - f.mtime_ns : f.mtime_ns - now_ns) > 60 * SECOND_NS;
	seen = find_seen(p, &f);
	if ((seen && !(seen->missing & ~p->full)) || capture_begins_at(path) != 1)
		return;
	status = push_capture(p, path, added, &file, &missing);
	p->failed |= status != 0;
	if (file == PUSH_FILE_UNFINISHED && is_old)
		note_unfinished(path);
	if (file == PUSH_FILE_UNREADABLE || (file == PUSH_FILE_UNFINISHED && is_old))
		note_seen(p, path, &f, 0);
	else if (file == PUSH_FILE_COMPLETE && !status)
		note_seen(p, path, &f, missing);
}

static int is_visible(const struct dirent *e)
{
	return *e->d_name != '.';
}

/*
 * Back-pressure.  Batches that a server does not take wait in DIR/out, up to --queue bytes for each server.  Then captures wait for this
 * server where they are, the oldest first when there is room again: an agent's names sort by time, as versions do.  Only the limits of
 * their folder remove them, and what was not sent by then is printed and counted in the ledger.  Recording never waits.
 */
static int push_folder(struct push_state *p, const char *folder, uint64_t *added)
{
	struct dirent **list;
	int count = scandir(folder, &list, is_visible, versionsort);
	char *path;

	if (count < 0)
		return message_error("cannot read '%s': %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!p->blocked && asprintf(&path, "%s/%s", folder, list[i]->d_name) >= 0) {
			(void)is_full(p);
			push_file_of_folder(p, path, added);
			free(path);
		}
		free(list[i]);
	}
	free(list);
	return 0;
}

static int push_input(struct push_state *p, const char *path, uint64_t *added)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return push_folder(p, path, added);
	return is_full(p) ? 0 : push_file(p, path, added);
}

static int push_inputs(struct push_state *p, char *const *words, uint64_t *added)
{
	const struct option_list *inputs = &p->opts->inputs;
	int status;

	*added = 0;
	p->blocked = false;
	status = find_removed(p);
	for (unsigned i = 0; i < inputs->count && !status && !p->blocked; i++)
		status = push_input(p, inputs->values[i], added);
	for (; *words && !status && !p->blocked; words++)
		status = push_input(p, *words, added);
	return p->blocked ? 0 : status;
}

/* ---- sending ---- */

/* Until nothing waits, or no server has taken anything for too long. */
static int send_all(struct push_state *p, uint64_t *waiting)
{
	uint64_t took, last_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	do {
		err = push_sender_work(p->sender, 1000, waiting, &took);
		if (err)
			return push_ledger_error(p, err);
		if (took)
			last_ns = clock_ns(CLOCK_MONOTONIC);
		else if (*waiting)
			usleep(20000);
	} while (*waiting && clock_ns(CLOCK_MONOTONIC) - last_ns < p->opts->give_up_ns);
	return 0;
}

/* Captures that did not find room in the queue come when it has been sent. */
static int push_once(struct push_state *p, char *const *words)
{
	uint64_t waiting = 0, added, sent;
	int status;

	do {
		sent = p->sent;
		p->held = p->failed = false;
		status = push_inputs(p, words, &added);
		if (!status)
			status = send_all(p, &waiting);
	} while (!status && added && p->held && p->sent != sent);
	if (status)
		return status;
	if (!p->opts->quiet)
		message_note("sent %" PRIu64 " batches, %" PRIu64 " samples or points", p->sent,
			     p->sent_samples);
	if (waiting)
		return message_error("%" PRIu64
				     " batches wait in '%s' (the same command sends them)",
				     waiting, p->out);
	return p->refused || p->failed ? MESSAGE_FAILED : MESSAGE_OK;
}

static int send_or_wait(struct push_state *p)
{
	uint64_t waiting, took;
	int status, err = push_sender_work(p->sender, 1000, &waiting, &took);

	if (!err) {
		if (!took)
			usleep(100000);
		return 0;
	}
	p->blocked = false;
	status = push_ledger_error(p, err);
	if (!p->blocked)
		return status;
	push_ledger_make_room(p->ledger);
	usleep(LEDGER_WAIT_US);
	return 0;
}

/* Captures are looked for less and less often while their batches cannot be written. */
static int push_always(struct push_state *p, char *const *words)
{
	uint64_t added, next_ns = 0, pause_ms = SCAN_MS;
	int status = 0;

	while (!status) {
		if (clock_ns(CLOCK_MONOTONIC) >= next_ns) {
			status = push_inputs(p, words, &added);
			pause_ms = !p->blocked                   ? SCAN_MS
				   : pause_ms < SCAN_MOST_MS / 2 ? 2 * pause_ms
								 : SCAN_MOST_MS;
			next_ns = clock_ns(CLOCK_MONOTONIC) + pause_ms * 1000000;
		}
		if (!status)
			status = send_or_wait(p);
	}
	return status;
}

/* Batches that wait are sent without any capture, too. */
static bool has_waiting(struct push_state *p)
{
	struct push_sums sums;

	for (size_t i = 0; i < p->count; i++)
		if (!push_ledger_sums(p->ledger, p->ids[i], &sums) && sums.waiting)
			return true;
	return false;
}

static int run(struct push_state *p, char *const *words)
{
	char usual[] = "ebprec.data", *const usual_words[] = { usual, NULL };
	int status;

	secret_keep_in_memory(); /* also of --key, which libcurl reads */
	status = add_targets(p);
	if (!status)
		status = read_proxy(p);
	if (!status)
		status = name_folder(p);
	if (!status && p->opts->status) {
		status = open_ledger(p);
		return status ? status : push_status(p);
	}
	if (!status)
		status = open_folder(p);
	if (!status)
		status = open_sender(p);
	if (!status && p->opts->setup)
		return push_setup(p);
	if (!status && !*words && !p->opts->inputs.count && !has_waiting(p))
		words = usual_words;
	if (!status)
		status = p->opts->follow ? push_always(p, words) : push_once(p, words);
	return status;
}

static void done(struct push_state *p)
{
	push_sender_free(p->sender);
	push_ledger_close(p->ledger);
	for (size_t i = 0; i < p->count; i++)
		push_target_done(&p->targets[i]);
	for (size_t i = 0; i < OPTION_LIST_MAX; i++)
		free(p->secrets[i]);
	free(p->proxy_user);
	for (size_t i = 0; i < p->seen_count; i++)
		free(p->seen[i].path);
	free(p->seen);
	free(p->out);
	free(p);
}

int cmd_push(int argc, char **argv)
{
	struct push_opts opts = {
		.folder = "ebprec.push",
		.pick = PICK_OPTIONS_DEFAULTS,
		.interval_ns = 60 * SECOND_NS,
		.timeout_ns = 60 * SECOND_NS,
		.most_wait_ns = 60 * SECOND_NS,
		.give_up_ns = 60 * SECOND_NS,
		.queue_bytes = 1ull << 30,
		.days = 14,
		.waits = true,
	};
	struct push_state *p;
	char **words;
	int status;

	if (!usage_parse(&push_usage, &opts, argc, argv, 0, INT_MAX, &words, &status))
		return status;
	p = calloc(1, sizeof(*p));
	if (!p)
		return message_error("cannot push: %s", strerror(ENOMEM));
	p->opts = &opts;
	p->reader = opts.reader;
	p->usage = &push_usage;
	status = run(p, words);
	done(p);
	push_labels_done(&opts.host_labels);
	return status;
}
