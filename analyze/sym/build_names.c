/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/build_names.h"

#include <errno.h>

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/locate/file_search.h"
#include "analyze/sym/symtab/symtab.h"

static int find_in(int fd, const struct symtab_wanted *wanted,
		   int (*name)(void *arg, size_t i, const char *text), void *arg)
{
	struct elf_file *elf = NULL;
	struct symtab *symbols = NULL;
	int err = elf_file_open(fd, &elf);

	if (!err)
		err = symtab_new(elf, NULL, NULL, wanted, &symbols);
	if (!err && !symtab_count(symbols))
		err = -ENOENT;
	for (size_t i = 0; i < wanted->count && !err; i++) {
		const char *text = symtab_find(symbols, wanted->vaddrs[i], true, NULL);

		if (text)
			err = name(arg, i, text);
	}
	symtab_free(symbols);
	elf_file_close(elf);
	return err;
}

int build_names_find(const struct name_roots *roots, const struct buildid *id,
		     const uint64_t *vaddrs, size_t count,
		     int (*name)(void *arg, size_t i, const char *text), void *arg)
{
	const struct symtab_wanted wanted = { .vaddrs = vaddrs, .count = count };
	struct located at;
	int err = file_search_debug(roots, id, NULL, "", &at);

	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	err = find_in(at.fd, &wanted, name, arg);
	located_done(&at);
	return err;
}
