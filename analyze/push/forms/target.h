/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * target - a server, and the form in which it takes what is pushed
 *
 *	clickhouse://[USER@]HOST[:PORT]/DATABASE	short for clickhouse+http, port 8123
 *	FORM+http[s]://[USER@]HOST[:PORT]/PATH[?QUERY]	the address is used as it is
 *
 * A secret is never part of it: every user of the machine sees the command line, and the address is printed and stored.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_TARGET_H
#define EBPREC_ANALYZE_PUSH_FORMS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/push/forms/batch.h"
#include "format/base/outbuf.h"

struct push_form;

struct push_target {
	const char *name; /* as the user wrote it; borrowed */
	const struct push_form *form;
	char *url;      /* owned: http[s]://HOST[:PORT]/PATH[?QUERY], of clickhouse without path */
	char *user;     /* owned; NULL: none */
	char *database; /* owned; of clickhouse; NULL: none */
	const char *secret; /* borrowed; NULL: none */
	uint64_t version;   /* of clickhouse: 24003 is 24.3; 0: not asked yet */
};

#define PUSH_HEADERS_MAX 4 /* and the NULL */

/* What is asked of a server. */
struct push_request {
	char *url;                  /* owned */
	const char *const *headers; /* static, NULL behind the last; NULL: none */
	const void *body;           /* borrowed; NULL: a GET */
	size_t body_bytes;
	bool gzip;         /* the body is to be compressed */
	bool is_gzip_file; /* and what is sent is such a file: no header names the encoding */
	bool replaces;     /* PUT in place of POST */
};

struct push_interval;

struct push_form {
	const char *name, *about;
	bool takes_metrics; /* tables of instruments; else samples */
	/* Adds the parts of an interval to a batch.  -ENOMEM. */
	int (*encode)(const struct push_interval *in, struct push_batch *out);
	/* Where a part is sent to; owned, NULL: no memory.  NULL: to the target's own address. */
	char *(*url)(const struct push_target *t, const struct push_batch *b, size_t part);
	const char *headers[PUSH_HEADERS_MAX]; /* of such requests; static, NULL behind the last */
	bool gzip, is_gzip_file, replaces;     /* as a request has them */
	/* What asks how many rows of the batch the server has of the kind of that part, owned.  -ENOENT: sending it again
	 * changes nothing; -ENOMEM.  NULL: the server cannot be asked, and knows by itself what it has. */
	int (*question)(const struct push_target *t, const struct push_batch *b, size_t part,
			char **url);
	/* The server may count what it gets twice, and cannot be asked. */
	bool counts_twice;
	/* How many of a part the server did not take, by its answer of success, and its words.  NULL: success is all. */
	uint64_t (*rejected)(const void *answer, size_t size_bytes, char *words,
			     size_t words_bytes);
};

/* The request that sends a part, all zero before; body: of the batch.  -ENOMEM. */
int push_target_request(const struct push_target *t, const struct push_batch *b, size_t part,
			struct push_request *out);

/*
 * Whether an address, of a server or a proxy, has a password before its host, or a value in its query whose name is that of a
 * secret: "p", "password", "token" and the like.
 */
bool push_url_has_secret(const char *url);
/*
 * *problem: static, why it is none.  -EINVAL; -EACCES: it has a secret, and is not to be printed; -ENOMEM; *out untouched on
 * failure.  *out: push_target_done().
 */
int push_target_parse(const char *text, struct push_target *out, const char **problem);
void push_target_done(struct push_target *t);
/* Its address, with this path where it has none; owned, NULL: no memory. */
char *push_target_url(const struct push_target *t, const char *path);
/* A text as it may stand in a query, owned; NULL: no memory. */
char *push_target_escape(const char *text);

#endif
