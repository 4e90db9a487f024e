/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/machine_env.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/output/machine_info.h"
#include "format/os/slurp.h"

#define CPU_DIR  "sys/devices/system/cpu"
#define NODE_DIR "sys/devices/system/node"

enum { NODES_MAX = 1024, CPUS_MAX = 65536, PATH_BYTES = 256 };

/* The text of root/folder/NAME<id>/file; owned, NULL: cannot be read.  Line ends within become blanks. */
static char *text_of(const char *root, const char *folder, const char *name, uint32_t id,
		     const char *file)
{
	char path[PATH_BYTES], *text = NULL;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s%u/%s", root, folder, name, id, file) <
	    sizeof(path))
		text = slurp_line(path);
	return text;
}

static char *or_empty(char *text)
{
	return text ? text : strdup("");
}

static char *file_text(const char *root, const char *file)
{
	char path[PATH_BYTES];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", root, file) >= sizeof(path))
		return strdup("");
	return or_empty(slurp_line(path));
}

/* ---- numbered folders ---- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers n of folders that are called NAMEn, ascending: owned; up to max, without larger ones. */
static int numbered(const char *root, const char *folder, const char *name, uint32_t max,
		    uint32_t **out, size_t *count)
{
	size_t bytes = strlen(name);
	uint32_t *ids = calloc(max, sizeof(*ids));
	char path[PATH_BYTES], *end;
	struct dirent *d;
	unsigned long id;
	DIR *dir;

	*count = 0;
	if (!ids)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", root, folder);
	dir = opendir(path);
	while (dir && *count < max && (d = readdir(dir))) {
		if (strncmp(d->d_name, name, bytes) != 0 || d->d_name[bytes] < '0' ||
		    d->d_name[bytes] > '9')
			continue;
		id = strtoul(d->d_name + bytes, &end, 10);
		if (!*end && id < max)
			ids[(*count)++] = (uint32_t)id;
	}
	if (dir)
		closedir(dir);
	qsort(ids, *count, sizeof(*ids), by_number);
	*out = ids;
	return 0;
}

static int read_nodes(const char *root, struct machine_env *h)
{
	uint32_t *ids = NULL;
	size_t count;
	int err = numbered(root, NODE_DIR, "node", NODES_MAX, &ids, &count);
	char *text, *total;

	if (!err && count)
		h->node = calloc(count, sizeof(*h->node));
	if (!err && count && !h->node)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		h->node[i].id = ids[i];
		h->node_count++;
		/* "Node 0 MemTotal:       16384 kB" */
		text = text_of(root, NODE_DIR, "node", ids[i], "meminfo");
		total = text ? strstr(text, "MemTotal:") : NULL;
		h->node[i].memory_bytes = total ? machine_info_memory(total) : 0;
		free(text);
		h->node[i].distances = or_empty(
			text_of(root, NODE_DIR, "node", ids[i], "distance"));
		if (!h->node[i].distances)
			err = -ENOMEM;
	}
	free(ids);
	return err;
}

static int read_frequencies(const char *root, struct machine_env *h)
{
	uint32_t *ids = NULL;
	size_t count;
	int err = numbered(root, CPU_DIR, "cpu", CPUS_MAX, &ids, &count);
	char *governor, *khz;

	if (!err && count)
		h->freq = calloc(count, sizeof(*h->freq));
	if (!err && count && !h->freq)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		governor = text_of(root, CPU_DIR, "cpu", ids[i], "cpufreq/scaling_governor");
		if (!governor)
			continue;
		khz = text_of(root, CPU_DIR, "cpu", ids[i], "cpufreq/scaling_cur_freq");
		h->freq[h->freq_count].cpu = ids[i];
		h->freq[h->freq_count].khz = khz ? strtoull(khz, NULL, 10) : 0;
		h->freq[h->freq_count++].governor = governor;
		free(khz);
	}
	free(ids);
	return err;
}

static int read_binding(const char *root, uint32_t pid, struct machine_env *h)
{
	char path[64], *status;

	if (pid)
		snprintf(path, sizeof(path), "proc/%u/status", pid);
	else
		snprintf(path, sizeof(path), "proc/self/status");
	status = file_text(root, path);
	if (!status)
		return -ENOMEM;
	h->affinity = or_empty(machine_info_field(status, "Cpus_allowed_list"));
	free(status);
	if (pid)
		snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	else
		snprintf(path, sizeof(path), "proc/self/cgroup");
	h->cgroup = file_text(root, path);
	return h->affinity && h->cgroup ? 0 : -ENOMEM;
}

int machine_env_read(const char *root, uint32_t pid, struct machine_env *out)
{
	struct machine_env h = { 0 };
	int err = read_binding(root, pid, &h);

	h.thp = file_text(root, "sys/kernel/mm/transparent_hugepage/enabled");
	h.smt_active = file_text(root, CPU_DIR "/smt/active");
	if (!h.thp || !h.smt_active)
		err = -ENOMEM;
	if (!err)
		err = read_nodes(root, &h);
	if (!err)
		err = read_frequencies(root, &h);
	if (err) {
		machine_env_done(&h);
		return err;
	}
	*out = h;
	return 0;
}

void machine_env_done(struct machine_env *h)
{
	for (size_t i = 0; i < h->node_count; i++)
		free(h->node[i].distances);
	for (size_t i = 0; i < h->freq_count; i++)
		free(h->freq[i].governor);
	free(h->node);
	free(h->freq);
	free(h->affinity);
	free(h->cgroup);
	free(h->thp);
	free(h->smt_active);
	*h = (struct machine_env){ 0 };
}

void machine_env_json(const struct machine_env *h, struct json_writer *j)
{
	json_writer_string(j, "affinity", h->affinity);
	json_writer_string(j, "cgroup", h->cgroup);
	json_writer_string(j, "thp", h->thp);
	json_writer_string(j, "smt_active", h->smt_active);
	json_writer_begin_array(j, "governors");
	for (size_t i = 0; i < h->freq_count; i++)
		json_writer_string(j, NULL, h->freq[i].governor);
	json_writer_end_array(j);
	json_writer_begin_array(j, "freqs_khz");
	for (size_t i = 0; i < h->freq_count; i++)
		json_writer_u64(j, NULL, h->freq[i].khz);
	json_writer_end_array(j);
	json_writer_begin_array(j, "freq_cpus");
	for (size_t i = 0; i < h->freq_count; i++)
		json_writer_u64(j, NULL, h->freq[i].cpu);
	json_writer_end_array(j);
	json_writer_begin_array(j, "node_bytes");
	for (size_t i = 0; i < h->node_count; i++)
		json_writer_u64(j, NULL, h->node[i].memory_bytes);
	json_writer_end_array(j);
	json_writer_begin_array(j, "node_distances");
	for (size_t i = 0; i < h->node_count; i++)
		json_writer_string(j, NULL, h->node[i].distances);
	json_writer_end_array(j);
}
