/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Opening and closing a capture, and its accessors. */
#include "format/reader/capture_priv.h"

#include <errno.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"

/* Everything from the header to the objects; c->source is set. */
static int read_all(struct capture *c, struct parse_err *err)
{
	int ret = capture_read_header(c, err);

	if (!ret)
		ret = capture_read_sections(c);
	if (!ret)
		ret = c->kind == CAPTURE_EBX ? capture_scan(c) : capture_walk_foreign(c);
	if (!ret)
		ret = capture_group_objects(c);
	return ret;
}

static int capture_from_source(struct source *source, struct capture **out, struct parse_err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	c->blocks_read = calloc(1, sizeof(*c->blocks_read));
	if (!c->blocks_read) {
		free(c);
		return -ENOMEM;
	}
	c->source = *source;
	ret = read_all(c, err);
	if (ret) {
		c->source.fd = -1; /* still the caller's */
		capture_close(c);
		return ret;
	}
	*out = c;
	return 0;
}

int capture_open(const char *path, struct capture **out, struct parse_err *err)
{
	struct source source;
	int ret;

	if (err)
		*err = (struct parse_err){ 0 };
	ret = source_open(path, &source, err);
	if (ret)
		return ret;
	ret = capture_from_source(&source, out, err);
	if (ret)
		source_done(&source);
	return ret;
}

int capture_from_bytes(const void *data, size_t size_bytes, struct capture **out,
		       struct parse_err *err)
{
	struct source source;

	if (err)
		*err = (struct parse_err){ 0 };
	source_of_bytes(data, size_bytes, &source);
	return capture_from_source(&source, out, err);
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	source_done(&c->source);
	for (size_t i = 0; i < c->attr_count; i++) {
		free((void *)c->attrs[i].ids);
		free((void *)c->attrs[i].name);
	}
	for (size_t i = 0; i < PERFFILE_FEATURE_BITS; i++)
		free((void *)c->features[i].data);
	free(c->attrs);
	free(c->ids);
	free(c->blocks);
	free(c->parts);
	free(c->objects);
	free(c->object_parts);
	free(c->blocks_read);
	free(c);
}

enum capture_kind capture_get_kind(const struct capture *c)
{
	return c->kind;
}

const struct source *capture_source(const struct capture *c)
{
	return &c->source;
}

uint64_t capture_file_bytes(const struct capture *c)
{
	return c->source.size_bytes;
}

bool capture_is_file(const struct capture *c, uint64_t dev, uint64_t ino)
{
	return c->source.ino && c->source.dev == dev && c->source.ino == ino;
}

const struct ebx_super *capture_super(const struct capture *c)
{
	return c->has_super ? &c->super : NULL;
}

const struct capture_damage *capture_damage(const struct capture *c)
{
	return &c->damage;
}

void capture_data_range(const struct capture *c, uint64_t *start_bytes, uint64_t *end_bytes)
{
	*start_bytes = c->data_off_bytes;
	*end_bytes = c->data_end_bytes;
}

bool capture_clock(const struct capture *c, uint64_t *sample_ns, uint64_t *wall_ns)
{
	struct capture_bytes f = c->features[PERFFILE_CLOCK_DATA];
	struct cursor cur = cursor_of(f.data, f.size_bytes);
	uint64_t wall, sample;

	if (c->has_super && c->super.clock_wall_ns) {
		*sample_ns = c->super.clock_mono_ns;
		*wall_ns = c->super.clock_wall_ns;
		return true;
	}
	if (cursor_u32(&cur) != 1) /* version */
		return false;
	(void)cursor_u32(&cur); /* clock id: that of the attrs */
	wall = cursor_u64(&cur);
	sample = cursor_u64(&cur);
	if (!cursor_ok(&cur))
		return false;
	*sample_ns = sample;
	*wall_ns = wall;
	return true;
}

const struct capture_attr *capture_attrs(const struct capture *c, size_t *count)
{
	*count = c->attr_count;
	return c->attrs;
}

const struct capture_attr *capture_attr_by_id(const struct capture *c, uint64_t id)
{
	size_t low;

	if (c->attr_count == 1)
		return c->attrs;
	low = lower_bound(i, 0, c->id_count, c->ids[i].id < id);
	if (low == c->id_count || c->ids[low].id != id)
		return NULL;
	return &c->attrs[c->ids[low].attr];
}

struct capture_bytes capture_feature(const struct capture *c, unsigned bit)
{
	return bit < PERFFILE_FEATURE_BITS ? c->features[bit] : (struct capture_bytes){ 0 };
}

const char *capture_feature_string(const struct capture *c, unsigned bit)
{
	struct capture_bytes f = capture_feature(c, bit);
	struct cursor cur = cursor_of(f.data, f.size_bytes);
	uint32_t size = cursor_u32(&cur);
	const uint8_t *s = cursor_bytes(&cur, size);

	return s && memchr(s, 0, size) ? (const char *)s : NULL;
}

const struct capture_block *capture_blocks(const struct capture *c, size_t *count)
{
	*count = c->block_count;
	return c->blocks;
}

bool capture_is_divisible(const struct capture *c)
{
	return c->divisible;
}

const struct capture_object *capture_objects(const struct capture *c, size_t *count)
{
	*count = c->object_count;
	return c->objects;
}

uint64_t capture_unpacked_bytes(const struct capture *c)
{
	return c->unpacked_bytes;
}

uint64_t capture_unpack_limit(const struct capture *c)
{
	return c->unpack_limit;
}

void capture_set_unpack_limit(struct capture *c, uint64_t bytes)
{
	c->unpack_limit = bytes;
}

uint64_t capture_blocks_read(const struct capture *c, uint64_t *all)
{
	*all = c->block_count;
	return __atomic_load_n(c->blocks_read, __ATOMIC_RELAXED);
}
