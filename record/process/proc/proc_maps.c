/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/proc/proc_maps.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* A hexadecimal (or decimal) number at *p, before end, followed by `stop`; moves behind that. */
static bool number(const char **p, const char *end, unsigned base, char stop, uint64_t *out)
{
	const char *c = *p;
	uint64_t v = 0;
	unsigned digit;

	for (; c < end && *c != stop; c++) {
		if (*c >= '0' && *c <= '9')
			digit = (unsigned)(*c - '0');
		else if (base == 16 && *c >= 'a' && *c <= 'f')
			digit = (unsigned)(*c - 'a') + 10;
		else
			return false;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (c == *p || c == end)
		return false;
	*p = c + 1;
	*out = v;
	return true;
}

/* "r-xp " */
static bool permissions(const char **p, const char *end, struct proc_map *out)
{
	const char *c = *p;

	if (end - c < 5 || c[4] != ' ' || (c[3] != 'p' && c[3] != 's'))
		return false;
	if ((c[0] != 'r' && c[0] != '-') || (c[1] != 'w' && c[1] != '-') ||
	    (c[2] != 'x' && c[2] != '-'))
		return false;
	out->prot = (c[0] == 'r' ? PROT_READ : 0) | (c[1] == 'w' ? PROT_WRITE : 0) |
		    (c[2] == 'x' ? PROT_EXEC : 0);
	out->flags = c[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*p = c + 5;
	return true;
}

static void copy_path(const char *p, const char *end, char out[PROC_MAPS_PATH_MAX])
{
	size_t n = 0;

	while (p < end && *p == ' ')
		p++;
	for (; p < end && n < PROC_MAPS_PATH_MAX - 1; n++) {
		if (end - p >= 4 && !memcmp(p, "\\012", 4)) {
			out[n] = '\n';
			p += 4;
		} else {
			out[n] = *p++;
		}
	}
	out[n] = '\0';
}

static bool inode(const char **p, const char *end, uint64_t *out)
{
	const char *c = *p;

	/* The last field of a line without a path: ended by a space on some kernels, by the line on others. */
	while (c < end && *c != ' ')
		c++;
	if (c < end)
		return number(p, end, 10, ' ', out);
	*out = 0;
	for (c = *p; c < end; c++) {
		if (*c < '0' || *c > '9' || __builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*c - '0'), out))
			return false;
	}
	if (c == *p)
		return false;
	*p = end;
	return true;
}

int proc_maps_next(const char **text, struct proc_map *out)
{
	const char *p = *text, *end;
	uint64_t major, minor, inode_number;

	if (!*p)
		return 0;
	end = strchrnul(p, '\n');
	*text = *end ? end + 1 : end;
	if (!number(&p, end, 16, '-', &out->start) || !number(&p, end, 16, ' ', &out->end) ||
	    !permissions(&p, end, out) || !number(&p, end, 16, ' ', &out->file_off_bytes) ||
	    !number(&p, end, 16, ':', &major) || !number(&p, end, 16, ' ', &minor) ||
	    !inode(&p, end, &inode_number))
		return -EBADMSG;
	if (out->start >= out->end || major > UINT32_MAX || minor > UINT32_MAX)
		return -EBADMSG;
	out->id = (struct file_id){ .dev_major = (uint32_t)major,
				    .dev_minor = (uint32_t)minor,
				    .inode = inode_number };
	copy_path(p, end, out->path);
	return 1;
}
