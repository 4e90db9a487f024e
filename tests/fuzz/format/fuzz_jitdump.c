/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_jitdump - any bytes as a jitdump; the recorder's short form has the same names as the complete file */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/perf/jitdump.h"
#include "record/privsep/jit_strip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* How many there are, and a sum over all fields. */
static uint64_t read_all(const uint8_t *data, size_t size_bytes, uint64_t *count)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct jitdump_header h;
	struct jitdump_code code;
	uint64_t sum = 0;

	*count = 0;
	if (jitdump_header(&c, &h))
		return 0;
	while (jitdump_next(&c, &code) == 1) {
		if (code.addr + code.size_bytes < code.addr ||
		    memchr(code.name, 0, code.name_bytes))
			abort();
		sum = sum * 31 + code.addr + code.size_bytes * 7 + code.index + code.name_bytes;
		++*count;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint64_t complete_count, count, complete, sum;
	int fd = memfd_create("jitdump", MFD_CLOEXEC);
	struct outbuf out = { 0 };

	if (fd < 0 || write(fd, data, size_bytes) != (ssize_t)size_bytes)
		abort();
	complete = read_all(data, size_bytes, &complete_count);
	if (jitstrip(fd, &out, 1 << 20)) {
		sum = read_all(out.data, out.size_bytes, &count);
		/* The short form may have one more: a name whose code is cut. */
		if (count < complete_count || (count == complete_count && sum != complete))
			abort();
	}
	outbuf_done(&out);
	close(fd);
	return 0;
}
