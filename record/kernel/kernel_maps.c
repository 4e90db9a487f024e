/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/kernel_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format/os/slurp.h"

/* The next blank-separated word of the line that ends at end; NULL: none. */
static const char *word(const char **p, const char *end, size_t *bytes)
{
	const char *start = *p;

	while (start < end && *start == ' ')
		start++;
	*bytes = strcspn(start, " \n");
	*p = start + *bytes;
	return *bytes ? start : NULL;
}

/* "ext4 1032192 1 - Live 0xffffffffc0400000": name, size, users, dependencies, state, address */
int kernel_module_next(const char **text, struct kernel_module *out)
{
	const char *p = *text, *end, *part[6];
	size_t bytes[6];
	char *stop;
	int i;

	if (!*p)
		return 0;
	end = strchrnul(p, '\n');
	*text = *end ? end + 1 : end;
	for (i = 0; i < 6; i++) {
		part[i] = word(&p, end, &bytes[i]);
		if (!part[i])
			return -EBADMSG;
	}
	if (bytes[0] >= sizeof(out->name) || strncmp(part[5], "0x", 2))
		return -EBADMSG;
	out->size_bytes = strtoull(part[1], &stop, 10);
	if (stop != part[1] + bytes[1] || !out->size_bytes)
		return -EBADMSG;
	out->addr = strtoull(part[5], &stop, 16);
	if (stop != part[5] + bytes[5])
		return -EBADMSG;
	memcpy(out->name, part[0], bytes[0]);
	out->name[bytes[0]] = '\0';
	return 1;
}

static bool same_module(const char *file, size_t file_bytes, const char *name)
{
	size_t i, n = strlen(name);

	if (file_bytes < n + 3 || memcmp(file + n, ".ko", 3))
		return false;
	for (i = 0; i < n; i++) {
		if ((file[i] == '-' ? '_' : file[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	}
	return true;
}

bool kernel_module_file(const char *modules_dep, const char *name, char *out, size_t out_bytes)
{
	const char *line, *colon, *base, *end;

	for (line = modules_dep; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		colon = memchr(line, ':', (size_t)(end - line));
		if (!colon)
			continue;
		base = memrchr(line, '/', (size_t)(colon - line));
		base = base ? base + 1 : line;
		if (!same_module(base, (size_t)(colon - base), name))
			continue;
		if ((size_t)(colon - line) >= out_bytes)
			return false;
		memcpy(out, line, (size_t)(colon - line));
		out[colon - line] = '\0';
		return true;
	}
	return false;
}

static void notes_id(const char *path, struct buildid *out)
{
	struct outbuf notes = { 0 };

	if (!slurp(path, &notes))
		(void)buildid_from_notes(notes.data, notes.size_bytes, out);
	outbuf_done(&notes);
}

static int emit_map(struct sink *e, struct mapping *m)
{
	struct side_record r = { .id = sink_side_id(e) };

	m->pid = UINT32_MAX;
	m->tid = 0;
	m->prot = PROT_EXEC;
	return sink_side(e, &r, side_record_mmap2(&r, m));
}

static int emit_kernel_map(struct sink *e, struct mapped_files *b,
			   const struct kernel_symbols_index *k)
{
	struct mapping m = { 0 };
	const char *name = "_text";
	uint64_t end;
	char path[64];

	if (!kernel_symbols_index_find(k, name, &m.start)) {
		name = "_stext";
		if (!kernel_symbols_index_find(k, name, &m.start))
			return 0;
	}
	if (!kernel_symbols_index_find(k, "_etext", &end) || end <= m.start)
		end = UINT64_MAX;
	m.size_bytes = end - m.start;
	m.file_off_bytes = m.start;
	notes_id("/sys/kernel/notes", &m.id.build_id);
	mapped_files_name(b, &m.id.build_id, "[kernel.kallsyms]", true);
	snprintf(path, sizeof(path), "[kernel.kallsyms]%s", name);
	m.path = path;
	return emit_map(e, &m);
}

static int emit_module(struct sink *e, struct mapped_files *b, const struct kernel_module *mod,
		       const char *base, const char *modules_dep)
{
	struct mapping m = { .start = mod->addr, .size_bytes = mod->size_bytes };
	char path[PATH_MAX + 128], file[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", mod->name);
	notes_id(path, &m.id.build_id);
	if (modules_dep && kernel_module_file(modules_dep, mod->name, file, sizeof(file)))
		snprintf(path, sizeof(path), "%s/%s", base, file);
	else
		snprintf(path, sizeof(path), "[%s]", mod->name);
	m.path = path;
	mapped_files_name(b, &m.id.build_id, path, true);
	return emit_map(e, &m);
}

static int emit_modules(struct sink *e, struct mapped_files *b)
{
	struct outbuf modules = { 0 }, dep = { 0 };
	struct kernel_module mod;
	struct utsname uts;
	char base[128], path[160];
	const char *text;
	int err = 0, more;

	if (slurp("/proc/modules", &modules) || !modules.size_bytes)
		goto out; /* a kernel without modules */
	uname(&uts);
	snprintf(base, sizeof(base), "/lib/modules/%s", uts.release);
	snprintf(path, sizeof(path), "%s/modules.dep", base);
	if (slurp(path, &dep))
		outbuf_done(&dep);
	text = (const char *)modules.data;
	while (!err && (more = kernel_module_next(&text, &mod)) != 0) {
		if (more > 0 && mod.addr)
			err = emit_module(e, b, &mod, base, (const char *)dep.data);
	}
out:
	outbuf_done(&modules);
	outbuf_done(&dep);
	return err;
}

int kernel_maps_emit(struct sink *e, struct mapped_files *b, const struct kernel_symbols_index *k)
{
	int err = k ? emit_kernel_map(e, b, k) : 0;

	return err ? err : emit_modules(e, b);
}
