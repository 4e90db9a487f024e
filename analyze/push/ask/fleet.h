/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fleet - the stacks of many hosts, added up by the database that they were pushed to
 *
 * The database adds up; the tree is made here.  A stack or a frame that has not arrived yet is a frame of that name, so that
 * the sum of the tree is that of the samples.
 */
#ifndef EBPREC_ANALYZE_PUSH_ASK_FLEET_H
#define EBPREC_ANALYZE_PUSH_ASK_FLEET_H

#include "analyze/base/string_table.h"
#include "analyze/push/http.h"
#include "analyze/report/profile/calltree.h"

#define PUSH_FLEET_OTHER    "[other]" /* stacks beyond most_stacks */
#define PUSH_FLEET_NO_STACK "[stack not yet here]"
#define PUSH_FLEET_NO_FRAME "[frame not yet here]"

/* All texts borrowed. */
struct push_fleet_ask {
	const char *const *services; /* regular expressions (RE2) of complete names; */
	size_t service_count;        /* 0: all */
	const char *const *hosts;    /* likewise, found anywhere */
	size_t host_count;
	const char *const *labels; /* KEY=EXPRESSION, of complete values */
	size_t label_count;
	const char *event; /* NULL: cpu */
	uint64_t from_s, to_s;
	size_t most_stacks;
	bool by_weight; /* in place of samples, */
	uint64_t unit;  /* of so much; 0: 1.  Each stack is rounded */
	bool hourly; /* of the hours that begin in this time, from their own table; of all hosts */
	bool with_kinds; /* labels end in "_[k]" and "_[i]" */
};

/* Embedded by the owner; push_fleet_done(). */
struct push_fleet {
	struct string_table *names; /* of labels */
	struct calltree tree;       /* comm, then from the outermost frame to the innermost */
	uint8_t *kinds;             /* enum flame_kind by label */
	size_t kind_count;
	uint64_t sum;     /* of all */
	uint64_t unknown; /* of it: of stacks that are not yet there */
};

/*
 * -EIO: the server's words are in `words`; -EBADMSG: its answer is none; -ENOMEM, -EOVERFLOW.
 */
int push_fleet_read(struct push_http *h, const struct push_target *t,
		    const struct push_fleet_ask *ask, struct push_fleet *out,
		    char words[PUSH_WORDS_BYTES]);
void push_fleet_done(struct push_fleet *f);

#endif
