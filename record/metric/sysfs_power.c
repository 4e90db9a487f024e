/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/sysfs_power.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/os/slurp.h"

#define PATH_BYTES 128

/* The first line of a small file, without its end.  errno. */
static int read_line(int root_fd, const char *path, char *out, size_t out_bytes)
{
	struct outbuf text = { 0 };
	int err = slurp_at(root_fd, path, &text);

	if (!err)
		snprintf(out, out_bytes, "%.*s", (int)strcspn((const char *)text.data, "\n"),
			 (const char *)text.data);
	outbuf_done(&text);
	return err;
}

/* A number; some drivers write it with a sign that repeats the status. */
static int read_number(int root_fd, const char *path, uint64_t *out)
{
	char text[32], *digits = text, *end;
	int err = read_line(root_fd, path, text, sizeof(text));
	uint64_t v;

	if (err)
		return err;
	if (*digits == '-')
		digits++;
	v = strtoull(digits, &end, 10);
	if (end == digits || *digits < '0' || *digits > '9' || *end)
		return -EBADMSG;
	*out = v;
	return 0;
}

int sysfs_power_frequency(int root_fd, unsigned cpu, uint64_t *hz)
{
	char path[PATH_BYTES];
	uint64_t khz;
	int err;

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
	err = read_number(root_fd, path, &khz);
	if (!err && khz > UINT64_MAX / 1000)
		err = -EBADMSG;
	if (!err)
		*hz = khz * 1000;
	return err;
}

/* ---- entries of a folder ---- */

struct entries {
	char (*names)[NAME_MAX + 1]; /* owned */
	size_t count;
};

static int by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

static struct entries entries_of(int root_fd, const char *path)
{
	struct entries e = { 0 };
	int fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	void *grown;

	while (dir && (d = readdir(dir))) {
		if (*d->d_name == '.')
			continue;
		grown = reallocarray(e.names, e.count + 1, sizeof(*e.names));
		if (!grown)
			break;
		e.names = grown;
		snprintf(e.names[e.count++], NAME_MAX + 1, "%s", d->d_name);
	}
	if (dir)
		closedir(dir);
	if (e.count)
		qsort(e.names, e.count, sizeof(*e.names), by_name);
	return e;
}

/* ---- energy ---- */

#define POWERCAP "sys/class/powercap"
#define RAPL     "intel-rapl:" /* AMD's, too; intel-rapl-mmio: is the same once more */

static bool read_zone(int root_fd, const char *folder, struct sysfs_power_zone *z)
{
	unsigned package, part;
	char path[PATH_BYTES + NAME_MAX], name[32];
	bool is_part = sscanf(folder, RAPL "%u:%u", &package, &part) == 2;

	*z = (struct sysfs_power_zone){ 0 };
	snprintf(path, sizeof(path), POWERCAP "/%s/name", folder);
	if (read_line(root_fd, path, name, sizeof(name)) || !*name)
		return false;
	if (is_part)
		snprintf(z->name, sizeof(z->name), "%.8s-%u", name, package % 100000);
	else
		snprintf(z->name, sizeof(z->name), "%.15s", name);
	snprintf(path, sizeof(path), POWERCAP "/%s/energy_uj", folder);
	if (read_number(root_fd, path, &z->energy_uj))
		return false;
	snprintf(path, sizeof(path), POWERCAP "/%s/max_energy_range_uj", folder);
	if (read_number(root_fd, path, &z->range_uj))
		z->range_uj = 0;
	return true;
}

int sysfs_power_zones(int root_fd, void (*zone)(void *ctx, const struct sysfs_power_zone *z),
		      void *ctx)
{
	struct entries e = entries_of(root_fd, POWERCAP);
	struct sysfs_power_zone z;
	int found = 0;

	for (size_t i = 0; i < e.count; i++) {
		if (strncmp(e.names[i], RAPL, strlen(RAPL)) != 0 ||
		    !read_zone(root_fd, e.names[i], &z))
			continue;
		zone(ctx, &z);
		found++;
	}
	free(e.names);
	return found;
}

/* ---- batteries ---- */

#define SUPPLIES "sys/class/power_supply"

struct supply {
	int root_fd;
	const char *folder;
};

static bool supply_number(const struct supply *s, const char *name, uint64_t *out)
{
	char path[PATH_BYTES + NAME_MAX];

	snprintf(path, sizeof(path), SUPPLIES "/%s/%s", s->folder, name);
	return !read_number(s->root_fd, path, out);
}

static void supply_text(const struct supply *s, const char *name, char *out, size_t out_bytes)
{
	char path[PATH_BYTES + NAME_MAX];

	snprintf(path, sizeof(path), SUPPLIES "/%s/%s", s->folder, name);
	if (read_line(s->root_fd, path, out, out_bytes))
		*out = '\0';
}

/* Micro-ampere(hours) by the voltage of now, in micro-volts. */
static bool by_voltage(const struct supply *s, const char *name, uint64_t *out)
{
	uint64_t amount, uv;

	if (!supply_number(s, name, &amount) || !supply_number(s, "voltage_now", &uv))
		return false;
	*out = (uint64_t)((double)amount * (double)uv / 1e6);
	return true;
}

static bool read_battery(const struct supply *s, struct sysfs_power_battery *b)
{
	char text[32];

	*b = (struct sysfs_power_battery){ 0 };
	supply_text(s, "type", text, sizeof(text));
	if (strcmp(text, "Battery") != 0)
		return false;
	supply_text(s, "scope", text, sizeof(text));
	if (!strcmp(text, "Device")) /* of a mouse, not of the machine */
		return false;
	snprintf(b->name, sizeof(b->name), "%.15s", s->folder);
	supply_text(s, "status", text, sizeof(text));
	b->is_discharging = !strcmp(text, "Discharging");
	b->has_percent = supply_number(s, "capacity", &b->percent);
	b->has_energy = supply_number(s, "energy_now", &b->energy_uwh) ||
			by_voltage(s, "charge_now", &b->energy_uwh);
	b->has_power = supply_number(s, "power_now", &b->power_uw) ||
		       by_voltage(s, "current_now", &b->power_uw);
	return b->has_percent || b->has_energy || b->has_power;
}

int sysfs_power_batteries(int root_fd,
			  void (*battery)(void *ctx, const struct sysfs_power_battery *b),
			  void *ctx)
{
	struct entries e = entries_of(root_fd, SUPPLIES);
	struct sysfs_power_battery b;
	int found = 0;

	for (size_t i = 0; i < e.count; i++) {
		if (!read_battery(&(struct supply){ root_fd, e.names[i] }, &b))
			continue;
		battery(ctx, &b);
		found++;
	}
	free(e.names);
	return found;
}
