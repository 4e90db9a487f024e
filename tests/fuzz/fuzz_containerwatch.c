/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_containerwatch - any bytes as a file in which a container engine keeps names, and as who was told one */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/payload/container_record.h"
#include "record/process/container_watch.h"
#include "record/process/container_stores.h"
#include "format/base/json_reader.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(void *ctx, const char *id, const char *name, size_t name_bytes)
{
	uint8_t entry[CONTAINERID_ENTRY_MAX];
	struct containerid_entry e = { id, name, CONTAINERID_DIGITS, name_bytes }, got;
	struct cursor c;

	if (!containerid_is_name(name, name_bytes))
		abort();
	c = cursor_of(entry, containerid_encode(&e, entry));
	if (containerid_next(&c, &got) != 1 || got.name_bytes != name_bytes || cursor_left(&c))
		abort();
}

/* Each token takes at least a byte, and what is open is closed. */
static void pull(const char *data, size_t size_bytes)
{
	struct jsonpull j = { .data = data, .size_bytes = size_bytes };
	size_t count = 0;
	int token;

	while ((token = jsonpull_next(&j)) > 0)
		if (++count > size_bytes || j.depth > JSONPULL_DEPTH_MAX || j.at > size_bytes)
			abort();
	if (token == JSONPULL_END && (j.depth || j.at != size_bytes))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1);
	struct containerid_entry e;
	struct cursor c = cursor_of(data, size_bytes);

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	pull((const char *)data, size_bytes);
	for (int form = CONTAINERSTORES_LIST; form <= CONTAINERSTORES_OCI; form++)
		(void)containerstores_parse(form, (const char *)data, size_bytes, ID, check, NULL);
	while (containerid_next(&c, &e) > 0)
		;
	(void)containerwatch_conmon_name(text, size_bytes, ID);
	(void)containerwatch_conmon_name(text, size_bytes + 1, ID);
	free(containerstores_home(text, 1000));
	(void)containerid_in(text);
	free(text);
	return 0;
}
