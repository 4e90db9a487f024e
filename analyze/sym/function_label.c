/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/function_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

const char *function_label_base(const char *path, size_t *size_bytes)
{
	static const char deleted[] = " (deleted)";
	const char *base = path, *slash = strrchr(path, '/');
	size_t n;

	/* "[kernel.kallsyms]" and "[vdso]" are no paths, whatever they contain. */
	if (slash && *path != '[')
		base = slash + 1;
	n = strlen(base);
	if (n > sizeof(deleted) - 1 && !strcmp(base + n - (sizeof(deleted) - 1), deleted))
		n -= sizeof(deleted) - 1;
	*size_bytes = n;
	return base;
}

bool function_label_is_c_library(const char *path)
{
	static const char *const files[] = { "libc.so",  "libc-",      "libpthread", "ld-linux",
					     "ld-musl-", "linux-vdso", "[vdso]" };
	size_t size;
	const char *base = function_label_base(path, &size);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strncmp(base, files[i], strlen(files[i])))
			return true;
	return false;
}

static const char *make_text(struct function_labels *l, const char *base, size_t base_bytes,
			     uint64_t start)
{
	char address[24];
	size_t address_bytes;
	char *text;

	address_bytes = (size_t)snprintf(address, sizeof(address), "+0x%" PRIx64, start) + 1;
	text = arena_bytes(&l->texts, base_bytes + address_bytes);
	if (!text)
		return NULL;
	memcpy(text, base, base_bytes);
	memcpy(text + base_bytes, address, address_bytes);
	return text;
}

static bool has_base(const char *label, const char *base, size_t base_bytes)
{
	return (size_t)(strrchr(label, '+') - label) == base_bytes &&
	       !memcmp(label, base, base_bytes);
}

const char *function_labels_get(struct function_labels *l, uint32_t file, const char *path,
				uint64_t start)
{
	struct function_label fresh = { .file = file, .start = start };
	size_t base_bytes;
	const char *base = function_label_base(path, &base_bytes);
	uint32_t pos, i;
	uint64_t hash;

	if (hash_index_reserve(&l->by_start) || vec_reserve(&l->list, &l->room, l->count + 1))
		return NULL;
	hash = hash_index_pair(&l->by_start, start, file);
	pos = hash_index_start(&l->by_start, hash);
	while ((i = hash_index_match(&l->by_start, hash, &pos)) != HASH_INDEX_NONE)
		if (l->list[i].file == file && l->list[i].start == start &&
		    has_base(l->list[i].text, base, base_bytes))
			return l->list[i].text;
	fresh.text = make_text(l, base, base_bytes, start);
	if (!fresh.text)
		return NULL;
	hash_index_put(&l->by_start, hash, pos, (uint32_t)l->count);
	l->list[l->count++] = fresh;
	return fresh.text;
}

void function_labels_done(struct function_labels *l)
{
	free(l->list);
	hash_index_done(&l->by_start);
	arena_done(&l->texts);
	*l = (struct function_labels){ 0 };
}
