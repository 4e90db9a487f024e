/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * seen - which programs and files a capture names, and what becomes of their names
 *
 * A thread has the name (comm) of its program's file, cut to 15 bytes.  Where the path of the file is
 * hidden that name would give it away, so it is hidden, too.  All names are added first; after
 * scrub_seen_seal() they can be asked for.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_SEEN_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRUB_SEEN_COMM_BYTES 16 /* with the NUL, as the kernel has it */

struct scrub_seen_comm {
	char text[SCRUB_SEEN_COMM_BYTES];
};

struct scrub_seen { /* all zero is empty; read freely when it is sealed */
	struct scrub_seen_comm *comms, *hidden_bases;
	/* Their hashes; names: of hidden paths, uncut; groups: as perf probe calls the events of those files. */
	uint64_t *paths, *hidden_paths, *hidden_names, *hidden_groups;
	size_t comm_count, base_count, path_count, hidden_count, name_count, group_count;
	size_t comm_room, base_room, path_room, hidden_room, name_room, group_room;
	size_t bundled_count; /* files whose names of functions are in it */
	char *hidden_example; /* owned: a file whose path is hidden; NULL: none is */
};

void scrub_seen_done(struct scrub_seen *s);
/* -ENOMEM. */
int scrub_seen_add_comm(struct scrub_seen *s, const char *comm, size_t room_bytes);
/* The path of a mapping.  -ENOMEM. */
int scrub_seen_add_path(struct scrub_seen *s, const char *path, size_t size_bytes, bool is_hidden);
/* A hidden path that no mapping needs to be of: a script's, in an argument.  -ENOMEM. */
int scrub_seen_add_hidden(struct scrub_seen *s, const char *path, size_t size_bytes);
/* Each name once, in order. */
void scrub_seen_seal(struct scrub_seen *s);
/* Whether the comm, or another text of no other word, is the name of a file whose path is hidden. */
bool scrub_seen_hides(const struct scrub_seen *s, const char *comm, size_t room_bytes);
/* Whether the group of a probe's event, behind "probe_", is made of the name of such a file: of its first word. */
bool scrub_seen_is_group(const struct scrub_seen *s, const char *group, size_t size_bytes);
/* As scrub_seen_is_program(), of a word in a text: one that is longer than a comm must be the complete name. */
bool scrub_seen_is_program_word(const struct scrub_seen *s, const char *word, size_t size_bytes);
/* Whether a part of a path is the name of such a file, and of a thread: of a program or script, not of a library. */
bool scrub_seen_is_program(const struct scrub_seen *s, const char *part, size_t size_bytes);

#endif
