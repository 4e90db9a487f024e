/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec name - names in a database the functions that the hosts which sent them could not name
 *
 * The process that has the network and the secret reads no debug file: for each build another one does (reader_process.h), which gets addresses
 * and returns names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/cmd/common/name_options.h"
#include "analyze/cmd/common/sandbox_policy.h"
#include "analyze/cmd/common/secret_file.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/cmd/push/reader_process.h"
#include "analyze/out/message.h"
#include "analyze/push/forms/forms.h"
#include "analyze/push/messages.h"
#include "analyze/push/ask/unnamed.h"
#include "analyze/sym/build_names.h"
#include "format/text/escape.h"

#define TIMEOUT_MS     120000
#define MOST_ADDRESSES 10000 /* of a build at a time */
#define SERVER_GONE    3     /* what a reader ends with: no debuginfod server can be reached */

struct name_opts {
	const char *from, *token, *ca;
	struct name_options names;
	unsigned most;
	bool quiet;
	int reader; /* reader_process.h */
};

#define AT(field) offsetof(struct name_opts, field)

static const struct option name_opts[] = {
	{ OPT_STRING, 0, "from", "URL", AT(from), 0, 0,
	  "the database: clickhouse://HOST/DATABASE" },
	{ OPT_UINT, 0, "limit", "N", AT(most), 1, 10000000,
	  "look for the names of so many functions (default: 100000)" },
	{ OPT_STRING, 0, "token-file", "FILE", AT(token), 0, 0,
	  "the secret of the database (mode 0600)" },
	{ OPT_STRING, 0, "ca", "FILE", AT(ca), 0, 0,
	  "certificates that sign the server's (default: the system's)" },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0, "print only errors" },
	NAMEOPTS_PLACES(AT(names)),
	{ 0 },
};

/* ---- the reader ---- */

/* Without --from and --token-file: it may read neither. */
static const struct option reader_options[] = {
	NAMEOPTS_PLACES(AT(names)),
	{ 0 },
};

static const struct usage reader_usage = {
	.command = "name",
	.words = "",
	.about = "",
	.options = reader_options,
	.reads = USAGE_READS,
};

static bool read_build_id(const char *hex, struct buildid *out)
{
	unsigned byte;

	*out = (struct buildid){ 0 };
	for (; hex[0] && hex[1] && out->size_bytes < BUILDID_MAX_BYTES; hex += 2) {
		if (sscanf(hex, "%2x", &byte) != 1)
			return false;
		out->bytes[out->size_bytes++] = (uint8_t)byte;
	}
	return !*hex && out->size_bytes;
}

static int send_name(void *arg, size_t i, const char *text)
{
	char *plain = escape_copy(ESCAPE_TEXT, text, strlen(text));
	int err = plain ? push_message_send(*(const int *)arg, PUSH_MESSAGE_NAME, 0, i, plain,
					    strlen(plain) + 1)
			: -ENOMEM;

	free(plain);
	return err;
}

/* hex: the build; its addresses come through the socket. */
static int read_names(void *arg, const char *hex, unsigned flags, int socket)
{
	struct name_opts opts = *(const struct name_opts *)arg;
	static char *const no_words[] = { NULL };
	struct push_message m = { 0 };
	struct name_root_options roots;
	struct buildid id;
	int status = 0;

	(void)flags;
	if (!confine(&reader_usage, &opts, no_words) || !read_build_id(hex, &id) ||
	    push_message_receive(socket, &m))
		return MESSAGE_FAILED;
	if (name_roots_make(&opts.names, &roots, true) == -ENOMEM)
		return message_error("cannot name '%s': %s", hex, strerror(ENOMEM));
	if (build_names_find(&roots.roots, &id, (const uint64_t *)(const void *)m.bytes.data,
			     m.bytes.size_bytes / sizeof(uint64_t), send_name,
			     &socket) == -ENOENT &&
	    roots.roots.fetcher && debuginfod_counts(roots.roots.fetcher)->err)
		status = SERVER_GONE;
	name_roots_done(&roots);
	outbuf_done(&m.bytes);
	return status;
}

static int start_reader(void *arg)
{
	struct name_opts *o = arg;

	o->reader = reader_process_start(read_names, o);
	return o->reader < 0
		       ? message_error("cannot name: the process that reads cannot be started: %s",
				       strerror(-o->reader))
		       : 0;
}

static const struct usage name_usage = {
	.command = "name",
	.words = "--from URL [OPTIONS]",
	.about = "Names functions in a database that 'ebprec push' sent to, which hosts could not\n"
		 "name: by build-id, from debuginfod servers and folders of debug files.\n",
	.options = name_opts,
	.reads = USAGE_READS,
	.asks = "from",
	.starts = start_reader,
};

/* ---- a build ---- */

/* Names of [first, end), which are of one build.  *ended: the status of its reader. */
static int find_names(const struct name_opts *o, struct push_unnamed_list *l, size_t first,
		      size_t end, int *ended)
{
	uint64_t addresses[MOST_ADDRESSES];
	struct push_message m = { 0 };
	int socket, err = reader_process_ask(o->reader, l->list[first].build_id, 0, &socket);

	if (err)
		return err;
	for (size_t i = first; i < end; i++)
		addresses[i - first] = l->list[i].address;
	err = push_message_send(socket, PUSH_MESSAGE_NAME, 0, 0, addresses,
				(end - first) * sizeof(*addresses));
	while (!err && !push_message_receive(socket, &m)) {
		const char *text = (const char *)m.bytes.data;

		if (m.kind != PUSH_MESSAGE_NAME || m.number >= end - first || !m.bytes.size_bytes ||
		    text[m.bytes.size_bytes - 1])
			break;
		free(l->list[first + m.number].found);
		l->list[first + m.number].found = strdup(text);
	}
	outbuf_done(&m.bytes);
	close(socket);
	return reader_process_wait(o->reader, ended);
}

static size_t end_of_build(const struct push_unnamed_list *l, size_t first)
{
	size_t end = first;

	while (end < l->count && end - first < MOST_ADDRESSES &&
	       !strcmp(l->list[end].build_id, l->list[first].build_id))
		end++;
	return end;
}

static int report_end(const struct push_unnamed *one, int ended)
{
	if (WIFSIGNALED(ended))
		return message_error(
			"cannot read debug files of '%s' (%s): the process that read them ended by signal %d",
			one->file, one->build_id, WTERMSIG(ended));
	if (WEXITSTATUS(ended) == SERVER_GONE)
		return message_error("cannot name: no debuginfod server can be reached");
	return 0;
}

/* ---- the database ---- */

static int fail(const struct push_target *t, int err, const char *words)
{
	if (err == -ENOENT)
		return message_error(
			"cannot ask '%s': libcurl.so.4 cannot be loaded (Debian: libcurl4; a static "
			"ebprec cannot load it at all)",
			t->name);
	return message_error("cannot ask '%s': %s", t->name, err == -EIO ? words : strerror(-err));
}

static void count_found(const struct push_unnamed_list *l, size_t *found, size_t *builds)
{
	*found = *builds = 0;
	for (size_t i = 0; i < l->count; i++) {
		*found += l->list[i].found != NULL;
		*builds += !i || strcmp(l->list[i].build_id, l->list[i - 1].build_id);
	}
}

static int name_all(const struct name_opts *o, const struct push_target *t, struct push_http *h,
		    struct push_unnamed_list *l)
{
	char words[PUSH_WORDS_BYTES] = "";
	size_t found, builds;
	int status = 0, ended, err = 0;

	for (size_t first = 0, end; first < l->count && !err && !status; first = end) {
		end = end_of_build(l, first);
		err = find_names(o, l, first, end, &ended);
		if (err)
			return message_error("cannot name: %s", strerror(-err));
		status = report_end(&l->list[first], ended);
		if (WIFSIGNALED(ended))
			status = 0; /* it costs this build alone */
		err = push_unnamed_store(h, t, l, first, end, words);
	}
	if (err)
		return fail(t, err, words);
	count_found(l, &found, &builds);
	if (!o->quiet)
		message_note("named %zu of %zu functions of %zu builds in '%s'", found, l->count,
			     builds, t->name);
	return status;
}

static int run(const struct name_opts *o, struct push_target *t)
{
	const struct push_http_opts http = { .ca_file = o->ca, .timeout_ms = TIMEOUT_MS };
	struct push_unnamed_list l = { 0 };
	char words[PUSH_WORDS_BYTES] = "", *secret = NULL;
	struct push_http *h = NULL;
	int err = 0, status = o->token ? secret_file_read(o->token, &secret) : 0;

	t->secret = secret;
	if (!status)
		err = push_http_new(&http, &h);
	if (!status && !err)
		err = push_unnamed_ask(h, t, o->most, &l, words);
	if (err)
		status = fail(t, err, words);
	if (!status)
		status = name_all(o, t, h, &l);
	push_unnamed_done(&l);
	push_http_free(h);
	free(secret);
	return status;
}

int cmd_name(int argc, char **argv)
{
	struct name_opts opts = { .names = NAME_OPTIONS_DEFAULTS, .most = 100000 };
	struct push_target t;
	const char *problem;
	int status, err;

	if (!usage_parse(&name_usage, &opts, argc, argv, 0, 0, NULL, &status))
		return status;
	if (!opts.from)
		return usage_error(&name_usage, "'ebprec name' needs a database: '--from'");
	err = push_target_parse(opts.from, &t, &problem);
	if (!err && t.form != &push_clickhouse) {
		push_target_done(&t);
		problem = "only clickhouse:// can be asked";
		err = -EINVAL;
	}
	if (err == -EACCES)
		return usage_error(&name_usage, "option '--from': %s", problem);
	if (err == -EINVAL)
		return usage_error(&name_usage, "option '--from' cannot be '%s': %s", opts.from,
				   problem);
	if (err)
		return message_error("cannot name: %s", strerror(-err));
	status = run(&opts, &t);
	push_target_done(&t);
	return status;
}
