/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * data_names - what lies at an address of a process's data: a variable, the heap, a stack
 *
 * A capture knows where code was mapped.  A program or library has its variables behind its code, as far
 * away as its program headers have them, also those that no file holds (.bss).  So the file whose code
 * begins next below an address is asked for a variable there.  The recorded kind of the mapping decides
 * where that is in vain, and is the answer when there is none.
 * Limits: munmap has no record.  Where a library was unloaded and other memory took its place without
 * being code, the address may have the name of the library's variable.
 */
#ifndef EBPREC_ANALYZE_NAMES_DATA_NAMES_H
#define EBPREC_ANALYZE_NAMES_DATA_NAMES_H

#include "analyze/process/process_model.h"
#include "analyze/sym/resolve.h"

/* As in the tables that instruments write: bpf/tables/futexes.bpf.h. */
enum data_map_kind {
	DATA_MAP_UNKNOWN,
	DATA_MAP_FILE,
	DATA_MAP_HEAP,
	DATA_MAP_STACK,
	DATA_MAP_THREAD_STACK,
	DATA_MAP_ANONYMOUS,
	DATA_MAP_THREAD_END, /* not in tables: where a C library marks that a thread has ended */
};

#define DATA_MAP_FILE_MOST 31 /* bytes of a file's name that the recorder keeps */

/* The mapping that an address is in. */
struct data_map {
	uint64_t kind; /* enum data_map_kind, as it was read: any number */
	uint64_t start, off_bytes;
	const char *file; /* without its folder; "": it was hidden; borrowed */
	uint32_t tid;     /* whose stack */
};

struct data_names; /* opaque */

/* Both are borrowed.  -ENOMEM. */
int data_names_new(const struct process_model *model, struct resolver *resolver,
		   struct data_names **out);
void data_names_free(struct data_names *d); /* NULL is fine */

/* Records where an address of a process is mapped; the last one of several counts.  -ENOMEM. */
int data_names_add_map(struct data_names *d, uint32_t pid, uint64_t address,
		       const struct data_map *map);

/*
 * "app: queue_mutex+0x0", "[heap]", "[stack]", "stack of thread 123", "end of a thread", "[anon]",
 * "cache.db+0x1000"; "" when nothing is known, or it is the kernel's.  Valid until data_names_free(); NULL: no memory.
 */
const char *data_names_at(struct data_names *d, uint32_t pid, uint64_t time_ns, uint64_t address);

/*
 * The function of the program that a stack of it is in, the called before the caller: the first that is not of the C
 * library; the file's name where it has no symbols, "" when no frame is known.  Valid until data_names_free(), or the resolver's end.
 */
const char *data_names_function(struct data_names *d, uint32_t pid, uint64_t time_ns,
				const uint64_t *code, size_t count);

#endif
