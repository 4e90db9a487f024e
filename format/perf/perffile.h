/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perffile - the parts of perf.data that no kernel header carries
 *
 * <linux/perf_event.h> describes the records the kernel writes.  The file header, the feature
 * sections and the user-space record types are perf's own; this header names the ones we read or
 * write.  Sources: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.h
 * of Linux 6.1.  All values are little-endian; big-endian files are refused.
 */
#ifndef EBPREC_FORMAT_PERF_PERFFILE_H
#define EBPREC_FORMAT_PERF_PERFFILE_H

#include <linux/perf_event.h>
#include <stdint.h>

#define PERFFILE_MAGIC             0x32454c4946524550ULL /* "PERFILE2" read as a little-endian u64 */
#define PERFFILE_HEADER_BYTES      104 /* file mode; in pipe mode the header is 16 bytes */
#define PERFFILE_PIPE_HEADER_BYTES 16
#define PERFFILE_DATA_SIZE_OFF     48 /* file offset of the u64 data.size: patched at each flush */
#define PERFFILE_RECORD_MAX        65528 /* largest 8-aligned perf_event_header.size */

/* Feature sections: a bit in the header's 256-bit map, contents found by the feature table. */
enum perffile_feature {
	PERFFILE_TRACING_DATA = 1,
	PERFFILE_BUILD_ID = 2,
	PERFFILE_HOSTNAME = 3,
	PERFFILE_OSRELEASE = 4,
	PERFFILE_VERSION = 5,
	PERFFILE_ARCH = 6,
	PERFFILE_NRCPUS = 7,
	PERFFILE_CPUDESC = 8,
	PERFFILE_CPUID = 9,
	PERFFILE_TOTAL_MEM = 10,
	PERFFILE_CMDLINE = 11,
	PERFFILE_EVENT_DESC = 12,
	PERFFILE_CPU_TOPOLOGY = 13,
	PERFFILE_NUMA_TOPOLOGY = 14,
	PERFFILE_PMU_MAPPINGS = 16,
	PERFFILE_SAMPLE_TIME = 21,
	PERFFILE_CLOCKID = 23,
	PERFFILE_DIR_FORMAT = 24, /* the file is one of a folder of perf's */
	PERFFILE_COMPRESSED = 27,
	PERFFILE_CLOCK_DATA = 29,
	PERFFILE_FEATURE_BITS = 256,
};

/* Record types above the kernel's: written by perf (and by us) into the data section. */
enum perffile_record {
	PERFFILE_RECORD_HEADER_ATTR = 64,
	PERFFILE_RECORD_PRIVATE = 65, /* HEADER_EVENT_TYPE, unused since 2012: our container */
	PERFFILE_RECORD_TRACING_DATA = 66,
	PERFFILE_RECORD_BUILD_ID = 67,
	PERFFILE_RECORD_FINISHED_ROUND = 68,
	PERFFILE_RECORD_ID_INDEX = 69,
	PERFFILE_RECORD_AUXTRACE_INFO = 70,
	PERFFILE_RECORD_AUXTRACE = 71, /* followed by a blob outside of header.size */
	PERFFILE_RECORD_AUXTRACE_ERROR = 72,
	PERFFILE_RECORD_THREAD_MAP = 73,
	PERFFILE_RECORD_CPU_MAP = 74,
	PERFFILE_RECORD_STAT_CONFIG = 75,
	PERFFILE_RECORD_STAT = 76,
	PERFFILE_RECORD_STAT_ROUND = 77,
	PERFFILE_RECORD_EVENT_UPDATE = 78,
	PERFFILE_RECORD_TIME_CONV = 79,
	PERFFILE_RECORD_HEADER_FEATURE = 80,
	PERFFILE_RECORD_COMPRESSED = 81,
	PERFFILE_RECORD_FINISHED_INIT = 82,
	PERFFILE_RECORD_COMPRESSED2 = 83,
};

#define PERFFILE_COMPRESSED_VERSION 0 /* hotspot refuses any other */
#define PERFFILE_COMPRESSED_ZSTD    1

#endif
