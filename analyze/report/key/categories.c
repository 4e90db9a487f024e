/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/key/categories.h"
#include "analyze/sym/function_label.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

struct rule {
	char *file, *function, *category; /* in one allocation, at file */
};

struct categories {
	struct rule *list;
	size_t count, capacity;
};

/* Names of the kernel stand for what a thread asked it to do, so its entry is the last rule. */
static const char builtin[] = "# FILE FUNCTION CATEGORY\n"
			      "* *spin_lock* locking\n"
			      "* *spin_unlock* locking\n"
			      "* *mutex_lock* locking\n"
			      "* *mutex_unlock* locking\n"
			      "* *rwsem* locking\n"
			      "* *futex* locking\n"
			      "* pthread_cond_* locking\n"
			      "* ___pthread_mutex_* locking\n"
			      "* __lll_lock_* locking\n"
			      "[[]kernel.kallsyms] default_idle* idle\n"
			      "[[]kernel.kallsyms] *cpuidle* idle\n"
			      "[[]kernel.kallsyms] do_idle idle\n"
			      "[[]kernel.kallsyms] pv_native_safe_halt idle\n"
			      "[[]kernel.kallsyms] *page_fault* page-faults\n"
			      "[[]kernel.kallsyms] handle_mm_fault page-faults\n"
			      "[[]kernel.kallsyms] do_mmap* memory\n"
			      "[[]kernel.kallsyms] *munmap* memory\n"
			      "[[]kernel.kallsyms] __alloc_pages* memory\n"
			      "[[]kernel.kallsyms] kmem_cache_* memory\n"
			      "[[]kernel.kallsyms] tcp_* network\n"
			      "[[]kernel.kallsyms] udp_* network\n"
			      "[[]kernel.kallsyms] ip_* network\n"
			      "[[]kernel.kallsyms] net_rx_action network\n"
			      "[[]kernel.kallsyms] sock_* network\n"
			      "[[]kernel.kallsyms] unix_stream_* ipc\n"
			      "[[]kernel.kallsyms] pipe_* ipc\n"
			      "[[]kernel.kallsyms] vfs_* io\n"
			      "[[]kernel.kallsyms] ksys_* io\n"
			      "[[]kernel.kallsyms] ext4_* io\n"
			      "[[]kernel.kallsyms] xfs_* io\n"
			      "[[]kernel.kallsyms] btrfs_* io\n"
			      "[[]kernel.kallsyms] blk_* io\n"
			      "[[]kernel.kallsyms] submit_bio* io\n"
			      "[[]kernel.kallsyms] schedule scheduler\n"
			      "[[]kernel.kallsyms] __schedule scheduler\n"
			      "[[]kernel.kallsyms] *_exec* exec\n"
			      "[[]kernel.kallsyms] kernel_clone exec\n"
			      "[[]kernel.kallsyms] do_exit exec\n"
			      "[[]kernel.kallsyms] *softirq* interrupts\n"
			      "[[]kernel.kallsyms] *irq_enter* interrupts\n"
			      "[[]kernel.kallsyms] *sysvec_* interrupts\n"
			      "[[]ext4] * io\n"
			      "[[]xfs] * io\n"
			      "[[]btrfs] * io\n"
			      "[[]nvme*] * io\n"
			      "[[]virtio_net] * network\n"
			      "[[]bpf] * bpf\n"
			      "[[]kernel.kallsyms] * kernel\n"
			      "libc.so* *malloc* memory\n"
			      "libc.so* *calloc* memory\n"
			      "libc.so* *realloc* memory\n"
			      "libc.so* *free* memory\n"
			      "libc.so* mem* memory-copy\n"
			      "libc.so* __mem* memory-copy\n"
			      "libjemalloc* * memory\n"
			      "libtcmalloc* * memory\n"
			      "libz.so* * compression\n"
			      "libzstd.so* * compression\n"
			      "liblzma.so* * compression\n"
			      "libbz2.so* * compression\n"
			      "libcrypto.so* * crypto\n"
			      "libgnutls.so* * crypto\n"
			      "libssl.so* * crypto\n"
			      "libgcrypt.so* * crypto\n"
			      "libcairo* * paint\n"
			      "libpixman* * paint\n"
			      "libskia* * paint\n"
			      "libpango* * layout\n"
			      "libharfbuzz* * layout\n"
			      "libfreetype* * layout\n"
			      "libGL* * gl\n"
			      "libEGL* * gl\n"
			      "*_dri.so * gl\n"
			      "libgallium* * gl\n"
			      "libvulkan* * gl\n"
			      "libmozjs* * javascript\n"
			      "libjavascriptcore* * javascript\n"
			      "libv8* * javascript\n"
			      "libpython* *gc_collect* garbage-collection\n"
			      "libpython* * interpreter\n"
			      "python3* *gc_collect* garbage-collection\n"
			      "python3* * interpreter\n"
			      "perl* * interpreter\n"
			      "libperl* * interpreter\n"
			      "libruby* * interpreter\n"
			      "libjvm* *GC* garbage-collection\n"
			      "libjvm* * interpreter\n"
			      "libsqlite3* * database\n"
			      "libdbus* * ipc\n"
			      "ld-linux* * linking\n"
			      "ld-musl* * linking\n";

static char *next_word(char **rest)
{
	char *word = strsep(rest, " \t\r");

	while (word && !*word)
		word = strsep(rest, " \t\r");
	return word;
}

/* One line, owned: taken or freed.  1: nothing in it. */
static int add_line(struct categories *c, char *line, const char **what)
{
	char *rest = line, *hash = line[strspn(line, " \t")] == '#' ? line : NULL;
	struct rule rule = { .file = line };
	char *first;
	int err;

	if (hash)
		*hash = '\0';
	first = next_word(&rest);
	if (!first) {
		free(line);
		return 0;
	}
	rule.function = next_word(&rest);
	rule.category = rule.function ? next_word(&rest) : NULL;
	if (!rule.category || next_word(&rest)) {
		free(line);
		*what = "a rule is three words: FILE FUNCTION CATEGORY";
		return -EBADMSG;
	}
	memmove(line, first, strlen(first) + 1);
	err = vec_reserve(&c->list, &c->capacity, c->count + 1);
	if (err)
		free(line);
	else
		c->list[c->count++] = rule;
	return err;
}

static int add_rules(struct categories *c, const char *text, struct parse_err *where)
{
	const char *what = NULL, *eol;
	uint64_t number = 0;
	char *line;
	int err = 0;

	for (; !err && *text; text = *eol ? eol + 1 : eol) {
		eol = strchrnul(text, '\n');
		number++;
		line = strndup(text, (size_t)(eol - text));
		err = line ? add_line(c, line, &what) : -ENOMEM;
	}
	return err == -EBADMSG ? parse_fail(where, -EBADMSG, number, what) : err;
}

int categories_new(const char *user_rules, struct categories **out, struct parse_err *err)
{
	struct categories *c = calloc(1, sizeof(*c));
	int rc = c ? 0 : -ENOMEM;

	if (!rc && user_rules)
		rc = add_rules(c, user_rules, err);
	if (!rc)
		rc = add_rules(c, builtin, err);
	if (rc)
		categories_free(c);
	else
		*out = c;
	return rc;
}

void categories_free(struct categories *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		free(c->list[i].file);
	free(c->list);
	free(c);
}

int categories_run(const struct categories *c, const struct function_table *n,
		   struct string_table *names, uint32_t **out)
{
	uint32_t *by_function = calloc(n->function_count + 1, sizeof(*by_function));
	int err = by_function ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		const char *name = string_table_text(names, n->functions[i].name), *base, *category;
		size_t size;
		char *file;

		base = function_label_base(string_table_text(names, n->functions[i].dso), &size);
		file = strndup(base, size);
		if (!file) {
			err = -ENOMEM;
			break;
		}
		for (size_t r = 0; r < c->count; r++) {
			if (fnmatch(c->list[r].file, file, 0) ||
			    fnmatch(c->list[r].function, name, 0))
				continue;
			category = c->list[r].category;
			err = string_table_add(names, category, strlen(category), &by_function[i]);
			break;
		}
		free(file);
	}
	if (err)
		free(by_function);
	else
		*out = by_function;
	return err;
}
