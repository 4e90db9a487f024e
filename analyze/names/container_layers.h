/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * container_layers - the folders in which container engines keep the layers of images and containers
 *
 * fuse-overlayfs and snapshotters show no layers among the mounts, and a container that is gone has
 * no mounts.  What is left is the layout of the stores: podman's and CRI-O's (also where storage.conf
 * says that they are), docker's, containerd's.
 * All layers that have a file of that path are candidates; a build-id must say which is the one.
 */
#ifndef EBPREC_ANALYZE_NAMES_CONTAINER_LAYERS_H
#define EBPREC_ANALYZE_NAMES_CONTAINER_LAYERS_H

#define CONTAINER_LAYERS_DEPTH_MAX 4096 /* of a store */

/* Called with a path; not 0 ends the walk. */
typedef int (*container_layers_fn)(void *ctx, const char *path);

/* Each folder whose folders are layers, there or not, also those that the engines were told to use. */
int container_layers_folders(container_layers_fn fn, void *ctx);
/* path: as the container sees it.  Only the names of layers are read.  What fn returned. */
int container_layers_each(const char *path, container_layers_fn fn, void *ctx);

#endif
