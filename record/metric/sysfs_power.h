/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sysfs_power - power, from /sys: frequencies of CPUs, energy that was used (RAPL), batteries
 *
 * Virtual machines have none of it, and only root reads energy.  A missing value is an error, never
 * a zero.  root_fd is a folder in the place of / in all of these.
 */
#ifndef EBPREC_RECORD_METRIC_SYSFS_POWER_H
#define EBPREC_RECORD_METRIC_SYSFS_POWER_H

#include <stdbool.h>
#include <stdint.h>

#define SYSFS_POWER_NAME_BYTES 16

/* The current frequency, from cpufreq.  -ENOENT or the error of reading it. */
int sysfs_power_frequency(int root_fd, unsigned cpu, uint64_t *hz);

struct sysfs_power_zone {
	char name
		[SYSFS_POWER_NAME_BYTES]; /* package-0, psys; of a part of package 0 core-0, dram-0 */
	uint64_t energy_uj, range_uj;     /* energy goes back to 0 behind range */
};

/* Each zone that can be read, in the order of their numbers.  Returns how many. */
int sysfs_power_zones(int root_fd, void (*zone)(void *ctx, const struct sysfs_power_zone *z),
		      void *ctx);

struct sysfs_power_battery {
	char name[SYSFS_POWER_NAME_BYTES];
	bool has_percent, has_energy, has_power;
	bool is_discharging;
	uint64_t percent, energy_uwh, power_uw;
};

/* Each battery.  Returns how many. */
int sysfs_power_batteries(int root_fd,
			  void (*battery)(void *ctx, const struct sysfs_power_battery *b),
			  void *ctx);

#endif
