/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/name_reason.h"

static const struct {
	const char *text, *remedy;
} reasons[NAME_REASONS] = {
	[NAME_FOUND] = { "found", NULL },
	[NAME_NO_MAP] = { "no file was known to be mapped there", NULL },
	[NAME_ANONYMOUS] = { "memory without a file, such as code made at run time",
			     "have its compiler write a perf-PID.map, as node --perf-basic-prof" },
	[NAME_FILE_GONE] = { "the file is not on this machine",
			     "analyze where it was recorded, give its files with --symfs, "
			     "or put back what was deleted" },
	[NAME_NOT_READ] = { "it was gone before the recorder could read it",
			    "record while it or its container lives longer" },
	[NAME_NO_PERMISSION] = { "the file may not be read", "run as a user that may read it" },
	[NAME_BUILD_ID_DIFFERS] = { "another version of the file is there now",
				    "restart the program and record again" },
	[NAME_FILE_CHANGED] = { "another file is there now",
				"restart the program and record again" },
	[NAME_DEBUG_STALE] = { "its symbols were stripped, and its debug file is of another build",
			       "install the debug symbols of this version" },
	[NAME_STRIPPED] = { "its symbols were stripped", "install its debug symbols" },
	[NAME_BETWEEN] = { "no symbol covers this place", NULL },
	[NAME_BAD_ELF] = { "no ELF file, or a broken one", NULL },
	[NAME_IN_MEMORY] = { "a program in memory alone, and no file of its build-id is here",
			     "give a folder with its file as .build-id/XX/XXX... by --debug-dir" },
	[NAME_KERNEL_HIDDEN] = { "kernel addresses were hidden",
				 "record as root, or set kernel.kptr_restrict to 0" },
};

const char *name_reason_text(enum name_reason reason)
{
	return (unsigned)reason < NAME_REASONS ? reasons[reason].text : "unknown";
}

const char *name_reason_remedy(enum name_reason reason)
{
	return (unsigned)reason < NAME_REASONS ? reasons[reason].remedy : NULL;
}

static const char *const trusts[NAME_TRUSTS] = {
	[NAME_BY_NOTHING] = "not found",
	[NAME_BY_BUILD_ID] = "build-id",
	[NAME_BY_STAT] = "size and time, or checksum",
	[NAME_BY_INODE] = "inode",
	[NAME_BY_PATH] = "path alone: a guess",
	[NAME_BY_BUNDLE] = "names in the capture",
};

const char *name_trust_text(enum name_trust trust)
{
	return (unsigned)trust < NAME_TRUSTS ? trusts[trust] : "unknown";
}
