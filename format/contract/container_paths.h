/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* container_paths - where podman and CRI-O store images and containers: storage.conf */
#ifndef EBPREC_FORMAT_CONTRACT_CONTAINER_PATHS_H
#define EBPREC_FORMAT_CONTRACT_CONTAINER_PATHS_H

/* The absolute path in a line of TOML, as `graphroot = "/srv/images"`, terminated within the line.
 * NULL: none. */
char *container_paths_graphroot(char *line);

#endif
