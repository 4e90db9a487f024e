/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * scrub - takes names of persons and machines out of a capture, while it is rewritten
 *
 * Each record and object is looked at by what is known of it: its texts go through scrubtext, its
 * addresses are moved, and what may hold anything (copied stacks, command lines, branch stacks, raw
 * data) or is not understood (unknown kinds, broken records, parts without a field) is removed and
 * counted.  Nothing changes its size, but for objects that get shorter.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_SCRUB_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_SCRUB_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/rewrite/scrub/pseudonym.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/rewrite/scrub/left.h"
#include "analyze/rewrite/scrub/seen.h"
#include "format/reader/capture.h"

struct scrub_patterns {
	const regex_t *list; /* compiled, extended */
	size_t count;
};

struct scrub_opts {
	uint8_t key[PSEUDONYM_KEY_BYTES];
	bool erase;
	bool wanted[PSEUDONYM_KINDS];
	bool command_lines;
	bool list_left; /* scrub_get_left() has more than the names of threads */
	bool unknown;   /* what is not understood stays as it is */
	bool times;     /* the time of day, and when the machine was started, go */
	bool machine;   /* so do kernel, CPU and memory */
	bool layout;    /* addresses of kernel and programs lose what the machine drew by lot */
	struct scrub_patterns comms, symbols;
	const char *const *words;
	size_t word_count;
};

struct scrub_stats {
	uint64_t command_line_count; /* arguments and texts */
	uint64_t moved_count;        /* addresses */
	uint64_t stack_count;        /* copies of user stacks and registers, blanked */
	uint64_t lost_caller_count;  /* samples whose user stack was in such a copy alone */
	uint64_t hardware_count;     /* branch stacks, physical addresses and AUX data, blanked */
	uint64_t raw_count;          /* raw data of unknown form, in part or all of them blanked */
	uint64_t dropped_count; /* records, objects, sections that are not understood, left out */
};

struct scrub; /* opaque */

/* Reads the side-band once, for the names.  c and what o points to are borrowed.  -ENOMEM. */
int scrub_new(const struct capture *c, const struct scrub_opts *o, struct scrub **out);
void scrub_free(struct scrub *s); /* NULL is fine */
/* For rewrite_opts.edit; borrowed. */
const struct rewrite_edit *scrub_edit(struct scrub *s);
/* The error of the rewriting: -ENOMEM when it is not complete. */
int scrub_error(const struct scrub *s);
const struct scrub_stats *scrub_get_stats(const struct scrub *s);
const struct pseudonyms *scrub_pseudonyms(const struct scrub *s);
/* The names in what was written. */
const struct scrub_left *scrub_get_left(const struct scrub *s);
/* Which programs and files the capture names. */
const struct scrub_seen *scrub_get_seen(const struct scrub *s);
bool scrub_hides_path(const struct scrub *s, const char *path);

#endif
