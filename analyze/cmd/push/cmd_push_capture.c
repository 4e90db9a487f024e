/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The batches that a reader of a capture sends become files, and rows of the ledger. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/cmd/push/cmd_push.h"
#include "analyze/cmd/push/reader_process.h"
#include "analyze/out/message.h"
#include "analyze/push/encode.h"
#include "analyze/push/messages.h"
#include "analyze/push/store.h"

#define IDENTITY_BYTES 1024

/* A capture on its way. */
struct incoming {
	struct push_state *p;
	const char *path;
	char *host, *identity;           /* owned; NULL: not known yet */
	uint64_t missing, wanted, ended; /* a bit for each target */
	struct push_store store;         /* of the target whose batches come */
	size_t target;
	uint64_t *added; /* batches */
};

/* Whether it is waited for, once it sends.  It is printed once. */
static bool waits_for(struct push_state *p, enum push_place place, int err, const char *why)
{
	if (!p->opts->follow || !p->sender || (err != -EAGAIN && err != -ENOSPC && err != -EDQUOT))
		return false;
	if (!(p->reported & place))
		message_error("cannot write %s '%s/%s': %s (it goes on when it can)",
			      place == PUSH_PLACE_LEDGER ? "the ledger" : "batches to",
			      p->opts->folder, place == PUSH_PLACE_LEDGER ? "push.sqlite" : "out",
			      why);
	p->reported |= place;
	p->blocked = true;
	return true;
}

int push_ledger_error(struct push_state *p, int err)
{
	const char *why = err == -EIO || err == -EAGAIN ? push_ledger_problem(p->ledger)
							: strerror(-err);

	return waits_for(p, PUSH_PLACE_LEDGER, err, why)
		       ? MESSAGE_FAILED
		       : message_error("cannot write the ledger '%s/push.sqlite': %s",
				       p->opts->folder, why);
}

static int fail_store(struct incoming *in, int err)
{
	struct push_state *p = in->p;

	push_store_abandon(&in->store);
	if (err == -EBADMSG)
		return message_error(
			"cannot push '%s': what the process that reads it sent is none of its batches",
			in->path);
	if (err == -EIO || err == -EAGAIN)
		return push_ledger_error(p, err);
	if (waits_for(p, PUSH_PLACE_OUT, err, strerror(-err)))
		return MESSAGE_FAILED;
	return message_error("cannot write the batches of '%s' to '%s': %s", in->path, p->out,
			     strerror(-err));
}

/* ---- which capture it is ---- */

/* A bit for each target that has not had it; and of those, that there is room for. */
static int find_wanted(struct push_state *p, const char *identity, uint64_t *missing,
		       uint64_t *wanted)
{
	bool has;
	int err = 0;

	*missing = 0;
	for (size_t i = 0; i < p->count && !err; i++) {
		err = push_ledger_has_capture(p->ledger, p->ids[i], identity, &has);
		if (!err && !has)
			*missing |= 1ull << i;
	}
	*wanted = *missing & ~p->full;
	return err;
}

/* Two texts.  The host must be one that a name of a file may have. */
static int read_names(struct incoming *in, const struct outbuf *bytes)
{
	const char *host = (const char *)bytes->data, *identity;
	size_t host_bytes = bytes->size_bytes ? strnlen(host, bytes->size_bytes) + 1 : 1;
	char *plain;

	if (in->host || host_bytes >= bytes->size_bytes || bytes->size_bytes > IDENTITY_BYTES ||
	    bytes->data[bytes->size_bytes - 1])
		return -EBADMSG;
	identity = host + host_bytes;
	plain = push_host_name(host);
	in->identity = strdup(identity);
	if (!plain || !in->identity || strcmp(plain, host) != 0) {
		free(plain);
		return -EBADMSG;
	}
	in->host = plain;
	return 0;
}

static int on_capture(struct incoming *in, const struct push_message *m, int socket)
{
	struct push_state *p = in->p;
	uint64_t answer[1 + OPTION_LIST_MAX] = { push_ledger_sender(p->ledger) };
	int err = read_names(in, &m->bytes);

	if (!err)
		err = find_wanted(p, in->identity, &in->missing, &in->wanted);
	for (size_t i = 0; i < p->count && !err; i++)
		if (in->wanted & 1ull << i)
			err = push_ledger_next_seq(p->ledger, p->ids[i], in->host, &answer[1 + i]);
	if (err)
		return fail_store(in, err);
	if (!in->missing && !p->opts->follow && !p->opts->quiet)
		message_note("'%s' was pushed before, skipping", in->path);
	/* A reader that is gone is noticed when it is waited for. */
	(void)push_message_send(socket, PUSH_MESSAGE_WANTED, 0, 0, answer,
				(1 + p->count) * sizeof(*answer));
	return 0;
}

/* ---- its batches ---- */

/* Target by target, each that wanted it once. */
static int begin_target(struct incoming *in, uint32_t target)
{
	struct push_state *p = in->p;

	if (in->store.open)
		return in->target == target ? 0 : -EBADMSG;
	if (target >= p->count || !(in->wanted & 1ull << target) || in->ended & 1ull << target)
		return -EBADMSG;
	in->target = target;
	in->store = (struct push_store){
		.ledger = p->ledger, .folder = p->out, .target = p->ids[target], .host = in->host
	};
	return push_store_begin(&in->store);
}

static int on_batch(struct incoming *in, const struct push_message *m)
{
	struct push_batch b;
	int err = begin_target(in, m->target);

	if (!err)
		err = push_batch_decode(m->bytes.data, m->bytes.size_bytes, &b);
	if (!err) {
		err = push_store_add(&in->store, &b);
		push_batch_done(&b);
		++*in->added;
	}
	return err ? fail_store(in, err) : 0;
}

static int on_end(struct incoming *in, const struct push_message *m)
{
	struct push_state *p = in->p;
	const struct push_target *t = &p->targets[m->target < p->count ? m->target : 0];
	int err = begin_target(in, m->target);

	if (!err)
		err = push_store_commit(&in->store, in->identity);
	if (err)
		return fail_store(in, err);
	in->ended |= 1ull << m->target;
	p->reported = 0;
	if (!m->number && !p->opts->quiet)
		message_note(t->form->takes_metrics
				     ? "'%s' has no tables of instruments, nothing goes to '%s'"
				     : "'%s' has no samples, nothing goes to '%s'",
			     in->path, t->name);
	return 0;
}

static int on_message(struct incoming *in, const struct push_message *m, int socket)
{
	if (m->kind == PUSH_MESSAGE_CAPTURE)
		return on_capture(in, m, socket);
	if (!in->host)
		return fail_store(in, -EBADMSG);
	return m->kind == PUSH_MESSAGE_BATCH ? on_batch(in, m)
	       : m->kind == PUSH_MESSAGE_END ? on_end(in, m)
					     : fail_store(in, -EBADMSG);
}

/* All that its reader sends. */
static int take_messages(struct incoming *in, int socket)
{
	struct push_message m = { 0 };
	int status = 0, err;

	while (!status && !(err = push_message_receive(socket, &m)))
		status = on_message(in, &m, socket);
	if (!status && err != -ENODATA)
		status = fail_store(in, err);
	outbuf_done(&m.bytes);
	return status;
}

/* ---- the reader ---- */

/* How it ended, and whether all was there. */
static int on_reader_end(const struct incoming *in, int wait_status, enum push_file *what)
{
	const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;

	if (WIFSIGNALED(wait_status))
		return message_error(
			"cannot read '%s': the process that read it ended by signal %d", in->path,
			WTERMSIG(wait_status));
	*what = PUSH_READ_FILE(code);
	if (PUSH_READ_MESSAGE(code))
		return PUSH_READ_MESSAGE(code);
	return *what == PUSH_FILE_COMPLETE && in->ended != in->wanted
		       ? message_error("cannot push '%s': the process that read it ended too early",
				       in->path)
		       : 0;
}

int push_capture(struct push_state *p, const char *path, uint64_t *added, enum push_file *what,
		 uint64_t *missing)
{
	struct incoming in = { .p = p, .path = path, .added = added };
	/* One that was read before, and could not be written, is not commented on again. */
	const unsigned flags = p->opts->quiet || p->reported ? PUSH_READ_QUIET : 0;
	int socket, wait_status, status, err = reader_process_ask(p->reader, path, flags, &socket);

	*what = PUSH_FILE_UNREADABLE;
	if (err)
		return message_error("cannot read '%s': %s", path, strerror(-err));
	status = take_messages(&in, socket);
	push_store_abandon(&in.store);
	close(socket);
	err = reader_process_wait(p->reader, &wait_status);
	if (err)
		status = message_error("cannot read '%s': %s", path, strerror(-err));
	else if (!status)
		status = on_reader_end(&in, wait_status, what);
	else if (WIFEXITED(wait_status))
		*what = PUSH_READ_FILE(WEXITSTATUS(wait_status));
	*missing = in.missing & ~in.ended;
	free(in.host);
	free(in.identity);
	return status;
}
