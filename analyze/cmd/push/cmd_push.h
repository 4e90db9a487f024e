/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_push - what the parts of `ebprec push` have in common */
#ifndef EBPREC_ANALYZE_CMD_PUSH_CMD_PUSH_H
#define EBPREC_ANALYZE_CMD_PUSH_CMD_PUSH_H

#include "analyze/cmd/common/report_options.h"
#include "analyze/push/forms/labels.h"
#include "analyze/push/ledger.h"
#include "analyze/push/sender.h"

struct push_opts {
	struct option_list to, inputs, tokens, labels;
	const char *folder, *host, *labels_file;
	const char *ca, *cert, *key, *proxy, *proxy_login;
	struct pick_options pick; /* of which only the names are options */
	uint64_t interval_ns, timeout_ns, give_up_ns, most_wait_ns;
	uint64_t max_rate_bytes, queue_bytes;
	unsigned days;
	bool setup, replicated, status, follow, waits, quiet;
	struct push_labels host_labels; /* of both options, and */
	int reader;                     /* of push_state: set when the options are known */
};

/* Not equal: it was written to. */
struct push_file_state {
	uint64_t device, inode, mtime_ns, size_bytes;
};

/* A file of a folder that was looked at. */
struct push_seen_file {
	struct push_file_state state;
	uint64_t
		missing; /* a bit for each target that waits for it; 0: there is nothing to be sent */
	char *path;      /* owned */
};

enum push_file {
	PUSH_FILE_COMPLETE,
	PUSH_FILE_UNFINISHED, /* its recording is not over, or was killed: left alone */
	PUSH_FILE_UNREADABLE,
};

/* Parts of the folder of --dir that are written; bits. */
enum push_place { PUSH_PLACE_LEDGER = 1, PUSH_PLACE_OUT = 2 };

/* The servers, and where their batches wait. */
struct push_state {
	const struct push_opts *opts;
	const struct usage *usage;
	struct push_target targets[OPTION_LIST_MAX];
	char *secrets[OPTION_LIST_MAX]; /* owned; by target */
	char *proxy_user;               /* owned */
	const char *proxy_password;     /* behind it */
	int64_t ids[OPTION_LIST_MAX];
	size_t count;
	char *out;  /* owned: the folder of batches */
	int reader; /* reader_process.h */
	struct push_ledger *ledger;
	struct push_sender *sender;
	uint64_t sent, sent_samples, refused;
	uint64_t
		full; /* a bit for each target of which too much waits, when captures were looked for */
	unsigned reported; /* enum push_place: it cannot be written, and a message was about it */
	bool blocked;      /* it was found so, and is waited for */
	bool held;         /* a capture waits for room in the queue */
	bool failed;       /* a capture of a folder could not be read */
	/* Neither read nor commented on again, unless a server has room for what it lacks. */
	struct push_seen_file *seen;
	size_t seen_count, seen_capacity;
};

/*
 * "ebprec: ..." of a call of the ledger that failed.  With --follow, a full disk and the like are printed once, until something was written
 * again, and p->blocked is set.  MESSAGE_FAILED.
 */
int push_ledger_error(struct push_state *p, int err);

/* A reader ends with its exit status, and the kind of the file. */
#define PUSH_READ_STATUS(status, file) ((status) | (int)(file) << 2)
#define PUSH_READ_MESSAGE(code)        ((code)&3)
#define PUSH_READ_FILE(code)           ((enum push_file)((code) >> 2 & 3))
#define PUSH_READ_QUIET                1u /* of the flags of push_read() */

/* A reader, of reader_process.h; arg: struct push_opts. */
int push_read(void *arg, const char *path, unsigned flags, int socket);

/*
 * Has the capture read and encoded for each target that has not had it and is not full.  *added: batches.  0, or the exit status after
 * an error was printed.  *missing: a bit for each target that has not had it then.
 */
int push_capture(struct push_state *p, const char *path, uint64_t *added, enum push_file *what,
		 uint64_t *missing);
/* Makes the tables on each target that has tables. */
int push_setup(struct push_state *p);
/* Prints what waits, and what was refused. */
int push_status(struct push_state *p);

#endif
