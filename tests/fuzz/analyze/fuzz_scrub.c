/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_scrub - any bytes as a capture to be scrubbed
 *
 * The result must open, undamaged, and hold nothing that is below /home and was not replaced.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/rewrite/scrub/scrub.h"
#include "analyze/rewrite/scrub/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void look_at_result(int fd)
{
	size_t size_bytes = (size_t)lseek(fd, 0, SEEK_END);
	void *data = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	struct capture *c;

	if (data == MAP_FAILED || capture_from_bytes(data, size_bytes, &c, NULL))
		abort();
	if (capture_damage(c)->bad_blocks || capture_damage(c)->unfinished)
		abort();
	capture_close(c);
	munmap(data, size_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct scrub_opts o = { .command_lines = true, .layout = true };
	struct rewrite_stats stats;
	struct rewrite_opts how = { 0 };
	struct capture *c = NULL;
	struct scrub *s = NULL;
	regex_t all;
	int fd;

	memset(o.wanted, 1, sizeof(o.wanted));
	if (regcomp(&all, "a", REG_EXTENDED))
		abort();
	o.comms = o.symbols = (struct scrub_patterns){ &all, 1 };
	fd = memfd_create("scrub", MFD_CLOEXEC);
	if (!capture_from_bytes(data, size_bytes, &c, NULL) && !scrub_new(c, &o, &s)) {
		how.edit = scrub_edit(s);
		if (!rewrite_capture(c, fd, &how, &stats) && !scrub_error(s))
			look_at_result(fd);
	}
	scrub_free(s);
	capture_close(c);
	regfree(&all);
	close(fd);
	return 0;
}
