/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_layers - the folders in which container engines keep the layers of images and containers
 *
 * fuse-overlayfs and snapshotters show no layers among the mounts, and a container that is gone has
 * no mounts.  The layout of the stores remains: podman's and CRI-O's (also those of storage.conf),
 * docker's, containerd's.  All layers that have a file of that path are candidates; a build-id must
 * identify the file.
 */
#ifndef EBPREC_ANALYZE_NAMES_CONTAINER_LAYERS_H
#define EBPREC_ANALYZE_NAMES_CONTAINER_LAYERS_H

#define CONTAINER_LAYERS_DEPTH_MAX 4096 /* of a store */

/* Called with a path; not 0 ends the walk. */
typedef int (*container_layers_fn)(void *ctx, const char *path);

/* Each folder whose folders are layers, there or not, also those of the engines' configuration. */
int container_layers_folders(container_layers_fn fn, void *ctx);
/*
 * path: as the container sees it.  Only the names of layers are read.  Returns the last result of
 * fn.
 */
int container_layers_each(const char *path, container_layers_fn fn, void *ctx);

#endif
