/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* scrub_symtab - names in tables of symbols, with their source files (FORMAT.md 5.3) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rewrite/scrub/scrub_priv.h"
#include "format/base/cursor.h"
#include "format/base/interpreted_code.h"

#define SYMTAB_HEAD_BYTES  64
#define SYMTAB_FRAME_BYTES 16

static int by_place(const void *va, const void *vb)
{
	const uint8_t *a = va, *b = vb;
	uint64_t x = le64_load(a), y = le64_load(b);

	if (x != y)
		return x < y ? -1 : 1;
	return (int)(a[13] & 1) - (int)(b[13] & 1);
}

/*
 * Source files below /home, and those whose paths are relative: the folder that these are below is not known, and may be
 * below /home, as of scripts that are run from where they are.
 */
static bool hides_source(const struct scrub *s, const char *path, size_t size_bytes)
{
	return s->opts.wanted[PSEUDONYM_HOME] && size_bytes &&
	       (!strchr("/<[", *path) || memmem(path, size_bytes, "/home/", 6));
}

static void hide_parts(struct scrub *s, char *path, size_t size_bytes)
{
	char *end = path + size_bytes, *next;

	for (; path < end; path = next + 1) {
		next = memchr(path, '/', (size_t)(end - path)) ?: end;
		if (strspn(path, ".") < (size_t)(next - path))
			pseudonyms_put(s->p, PSEUDONYM_HOME, path, (size_t)(next - path));
	}
}

/* "py::f (file.py)", "py::f (package/__init__.py)", as interpreted code is named: by the last parts of its path. */
static void hide_in_name(struct scrub *s, char *name, size_t name_bytes, const char *path,
			 size_t path_bytes)
{
	char *in_name = name_bytes ? memrchr(name, '(', name_bytes) : NULL;
	const char *part;
	size_t bytes;

	if (!in_name || name[name_bytes - 1] != ')')
		return;
	in_name++;
	bytes = (size_t)(name + name_bytes - 1 - in_name);
	part = path + path_bytes - bytes;
	if (bytes && bytes <= path_bytes && !memcmp(in_name, part, bytes) &&
	    (part == path || part[-1] == '/'))
		hide_parts(s, in_name, bytes);
}

/* frames: of scrub_symtab().  Texts are shared: first all names, then each path once; those below /home follow. */
static void edit_sources(struct scrub *s, const uint8_t *frames, size_t count, char *texts,
			 size_t texts_bytes)
{
	uint8_t *done = count && !s->learning ? calloc(1, texts_bytes + 1) : NULL;

	if (count && !s->learning && !done)
		s->err = -ENOMEM;
	for (size_t i = 0; done && i < 2 * count; i++) {
		const uint8_t *frame = frames + i % count * SYMTAB_FRAME_BYTES;
		uint32_t name = le32_load(frame), path = le32_load(frame + 4);
		size_t path_bytes;

		if (path >= texts_bytes)
			continue;
		path_bytes = strnlen(texts + path, texts_bytes - path);
		if (i >= count && !done[path]++ && hides_source(s, texts + path, path_bytes) &&
		    texts[path] != '/')
			hide_parts(s, texts + path, path_bytes);
		if (i < count && name < texts_bytes && hides_source(s, texts + path, path_bytes))
			hide_in_name(s, texts + name, strnlen(texts + name, texts_bytes - name),
				     texts + path, path_bytes);
	}
	free(done);
}

bool scrub_symtab(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	size_t places, place_bytes, frames, texts_bytes, at, end;
	bool has_lines;

	if (size_bytes < SYMTAB_HEAD_BYTES || le16_load(data) < 1 || le16_load(data) > 4)
		return false;
	has_lines = !(le16_load(data) & 1);
	place_bytes = has_lines ? 24 : 16;
	places = le32_load(data + 4);
	texts_bytes = le32_load(data + 8);
	frames = has_lines ? le32_load(data + 52) : 0;
	if (places > (size_bytes - SYMTAB_HEAD_BYTES) / place_bytes)
		return false;
	at = SYMTAB_HEAD_BYTES + places * place_bytes;
	if (frames > (size_bytes - at) / SYMTAB_FRAME_BYTES)
		return false;
	at += frames * SYMTAB_FRAME_BYTES;
	if (texts_bytes > size_bytes - at)
		return false;
	edit_sources(s, data + at - frames * SYMTAB_FRAME_BYTES, frames, (char *)data + at,
		     size_bytes - at);
	if (s->learning && (!memchr(data + at, '\0', size_bytes - at) ||
			    !interpreted_code_is_file((char *)data + at)))
		s->seen.bundled_count++;
	for (size_t i = 0; i < places; i++) {
		uint8_t *place = data + SYMTAB_HEAD_BYTES + i * place_bytes;

		le64_store(place, scrub_address(s, le64_load(place)));
	}
	if (places && s->opts.layout)
		qsort(data + SYMTAB_HEAD_BYTES, places, place_bytes, by_place);
	/* Two paths, then names and source files. */
	for (size_t i = 0; at < size_bytes; i++, at = end + 1) {
		char *text = (char *)data + at;

		end = at + strnlen(text, size_bytes - at);
		if (i >= 2)
			(void)scrub_symbol(s, text, end - at);
		scrub_text(s, i < 2 ? SCRUB_TEXT_PATH : SCRUB_TEXT_FREE,
			   i < 2 ? SCRUB_LEFT_FILE : SCRUB_LEFT_NONE, text, end - at);
	}
	return true;
}
