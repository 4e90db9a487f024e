/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_containerwatch - any bytes as a file in which a container engine keeps names, and as the arguments of conmon */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/payload/container_record.h"
#include "record/process/container/container_watch.h"
#include "record/process/container/container_stores.h"
#include "format/text/json_reader.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(void *ctx, const char *id, const char *name, size_t name_bytes)
{
	uint8_t entry[CONTAINER_RECORD_ENTRY_MAX];
	struct container_record_entry e = { id, name, CONTAINER_RECORD_DIGITS, name_bytes }, got;
	struct cursor c;

	if (!container_record_is_name(name, name_bytes))
		abort();
	c = cursor_of(entry, container_record_encode(&e, entry));
	if (container_record_next(&c, &got) != 1 || got.name_bytes != name_bytes || cursor_left(&c))
		abort();
}

static void check_path(void *ctx, const char *id, const char *path, size_t path_bytes)
{
	if (*id || !path_bytes || path_bytes >= STORE_PATH_MAX || *path != '/')
		abort();
}

/* Each token takes at least a byte, and what is open is closed. */
static void pull(const char *data, size_t size_bytes)
{
	struct json_reader j = { .data = data, .size_bytes = size_bytes };
	size_t count = 0;
	int token;

	while ((token = json_reader_next(&j)) > 0)
		if (++count > size_bytes || j.depth > JSON_READER_DEPTH_MAX || j.at > size_bytes)
			abort();
	if (token == JSON_READER_END && (j.depth || j.at != size_bytes))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1);
	struct container_record_entry e;
	struct cursor c = cursor_of(data, size_bytes);

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	pull((const char *)data, size_bytes);
	for (int form = 0; form < STORE_FILE_FORMS; form++)
		(void)store_file_parse(form, text, size_bytes, form < STORE_FILE_CONF ? ID : "1000",
				       form < STORE_FILE_CONF ? check : check_path, NULL);
	while (container_record_next(&c, &e) > 0)
		;
	(void)container_watch_conmon_name(text, size_bytes, ID);
	(void)container_watch_conmon_name(text, size_bytes + 1, ID);
	(void)container_record_in(text);
	free(text);
	return 0;
}
