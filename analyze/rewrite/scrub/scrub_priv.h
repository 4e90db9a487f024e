/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* scrub_priv - what the parts of scrub share: records (scrub.c), objects and feature sections */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_SCRUB_PRIV_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_SCRUB_PRIV_H

#include "analyze/input/event/result_place.h"
#include "analyze/rewrite/scrub/scrub.h"
#include "analyze/rewrite/scrub/format.h"
#include "analyze/rewrite/scrub/seen.h"
#include "analyze/rewrite/scrub/text.h"
#include "format/perf/perffile.h"

struct scrub_event {
	const struct scrub_format *format; /* NULL: none is known */
	enum result_place result;
};

struct scrub {
	const struct capture *c;
	struct scrub_opts opts;
	struct pseudonyms *p;
	struct scrub_text *text;
	struct scrub_formats formats;
	struct scrub_event *events; /* by attr */
	char *release;              /* of the kernel; NULL: not known, or not hidden */
	bool learning;
	int err;
	struct scrub_seen seen;
	struct scrub_left left;
	uint64_t kernel_move, user_move;    /* 0: not moved */
	uint8_t known[PERFFILE_RECORD_MAX]; /* by byte of raw data: whether a field is there */
	struct scrub_stats stats;
	struct rewrite_edit edit;
};

/* Learns from the text, or applies what was learnt. */
void scrub_text(struct scrub *s, enum scrub_text_form form, enum scrub_left_kind kind, char *text,
		size_t size_bytes);
/* Names of programs below /home, as words of a text. */
void scrub_program_words(struct scrub *s, char *text, size_t size_bytes);
/* Such names, where they begin as perf probe has them, as words of a text. */
void scrub_probe_words(struct scrub *s, char *text, size_t size_bytes);
/* A text of a section that ends with a NUL, or at the end of its room; what is behind the NUL is blanked, and counted. */
void scrub_text_in(struct scrub *s, enum scrub_text_form form, enum scrub_left_kind kind,
		   char *text, size_t room_bytes);
/* Notes a text that is written as it stands.  None while learning; where no list is asked for, names of threads alone. */
void scrub_note_left(struct scrub *s, enum scrub_left_kind kind, const char *text,
		     size_t size_bytes);
/* A word that is hidden from then on, wherever it is. */
void scrub_learn_word(struct scrub *s, enum pseudonym_kind kind, const char *word,
		      size_t size_bytes);
/* The entire symbol, if it is a chosen one.  False: it is not. */
bool scrub_symbol(struct scrub *s, char *name, size_t size_bytes);
/* Where an address went. */
uint64_t scrub_address(struct scrub *s, uint64_t address);
/* An object of kind EBX_SYMTAB.  False: it is none. */
bool scrub_symtab(struct scrub *s, uint8_t *data, size_t size_bytes);

/* For struct rewrite_edit. */
bool scrub_object(void *ctx, const struct capture_object *o, uint8_t *data, size_t *size_bytes);
bool scrub_section(void *ctx, unsigned bit, uint8_t *data, size_t size_bytes);

#endif
