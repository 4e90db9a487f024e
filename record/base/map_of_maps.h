/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * map_of_maps - puts BPF maps into a map of maps
 *
 * After each change of one the kernel waits until no BPF program is running any more (6 to 40 ms), but after a change
 * of many of its entries only once.
 */
#ifndef EBPREC_RECORD_BASE_MAP_OF_MAPS_H
#define EBPREC_RECORD_BASE_MAP_OF_MAPS_H

#include <stdint.h>

/* Entry first + i of the array becomes the map fds[i].  errno. */
int map_of_maps_put(int map_fd, uint32_t first, const int *fds, uint32_t count);

#endif
