/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The side of the room `elf_reader` that reads files, and may do nothing else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/privsep/elf_reader.h"
#include "record/privsep/elf/elf_symbol.h"
#include "record/privsep/jit_strip.h"
#include "record/privsep/elf_reader_priv.h"
#include "record/privsep/subprocess.h"
#include "record/privsep/caps.h"
#include "format/base/full_io.h"

#define MEMORY_MAX (2ULL << 30) /* a file's .eh_frame, and its table, several times */

const struct module_table_key elf_reader_key = { .build_id = { .bytes = { 1 }, .size_bytes = 1 } };

/* Reading what is open, memory, and the end. */
static const int allowed[] = {
	SYS_read,       SYS_pread64,    SYS_write,         SYS_recvmsg,        SYS_fstat,
	SYS_lseek,      SYS_close,      SYS_mmap,          SYS_munmap,         SYS_mremap,
	SYS_mprotect,   SYS_madvise,    SYS_brk,           SYS_futex,          SYS_getrandom,
	SYS_exit,       SYS_exit_group, SYS_rt_sigreturn,  SYS_rt_sigprocmask, SYS_restart_syscall,
	SYS_getpid,     SYS_gettid,     SYS_clock_gettime, SYS_sysinfo,
#ifdef SYS_newfstatat /* how the library does fstat() */
	SYS_newfstatat,
#endif
};

static int give_up_all(void)
{
	const struct rlimit none = { 0, 0 };
	int err = caps_drop(0);

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)setrlimit(RLIMIT_NPROC, &none);
#ifndef __SANITIZE_ADDRESS__ /* which needs more */
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };

	(void)setrlimit(RLIMIT_AS, &memory);
#endif
	return err ? err : subprocess_confine(allowed, sizeof(allowed) / sizeof(allowed[0]));
}

/* ---- serving ---- */

static int read_table(int fd, struct buf *out)
{
	struct module_table_view view;
	struct module_table *t = NULL;
	struct rule_table *set = NULL;
	int err = rule_table_new(&set);

	if (!err)
		err = module_table_from_fd(fd, set, &t, NULL);
	if (!err)
		module_table_view(t, &view);
	if (!err && view.n_rows)
		err = module_table_to_bytes(t, &elf_reader_key, out);
	if (!err && out->size_bytes > ELF_READER_TABLE_MAX)
		err = -EOVERFLOW;
	module_table_free(t);
	rule_table_free(set);
	return err;
}

static int answer_table(int fd)
{
	struct elf_reader_answer head;
	struct buf table = { 0 };
	int err;

	head.err = read_table(fd, &table);
	head.size_bytes = head.err ? 0 : (uint32_t)table.size_bytes;
	err = full_write(SUBPROCESS_FD, &head, sizeof(head));
	if (!err)
		err = full_write(SUBPROCESS_FD, table.data, head.size_bytes);
	buf_done(&table);
	return err;
}

static int answer_facts(int fd)
{
	struct elf_facts facts;

	elf_facts_read(fd, &facts);
	return full_write(SUBPROCESS_FD, &facts, sizeof(facts));
}

static int answer_symbol(int fd)
{
	struct elf_reader_place place = { 0 };
	char name[ELF_SYMBOL_NAME_MAX];
	struct source file = { .fd = fd };
	struct stat st;
	int none, err = subprocess_receive(SUBPROCESS_FD, &none, name, sizeof(name));

	if (err)
		return err;
	name[sizeof(name) - 1] = '\0';
	place.err = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -ENOEXEC : 0;
	file.size_bytes = place.err ? 0 : (uint64_t)st.st_size;
	if (!place.err)
		place.err = elf_symbol_offset(&file, name, &place.off_bytes);
	return full_write(SUBPROCESS_FD, &place, sizeof(place));
}

static int answer_probe(int fd)
{
	struct elf_usdt_probe *probe = calloc(1, sizeof(*probe));
	struct elf_reader_found found = { 0 };
	struct source file = { .fd = fd };
	struct elf_reader_probe ask;
	struct stat st;
	int none,
		err = probe ? subprocess_receive(SUBPROCESS_FD, &none, &ask, sizeof(ask)) : -ENOMEM;

	if (!err) {
		ask.provider[sizeof(ask.provider) - 1] = ask.name[sizeof(ask.name) - 1] = '\0';
		found.err = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -ENOEXEC : 0;
		file.size_bytes = found.err ? 0 : (uint64_t)st.st_size;
		if (!found.err)
			found.err = elf_usdt_find(&file, ask.provider, ask.name, probe);
		found.count = found.err ? 0 : probe->count;
		err = full_write(SUBPROCESS_FD, &found, sizeof(found));
	}
	if (!err)
		err = full_write(SUBPROCESS_FD, probe->sites, found.count * sizeof(*probe->sites));
	free(probe);
	return err;
}

static int answer_jit(int fd)
{
	struct outbuf stripped = { 0 };
	struct elf_reader_limit limit;
	struct elf_reader_jit head;
	int none, err = subprocess_receive(SUBPROCESS_FD, &none, &limit, sizeof(limit));

	if (err)
		return err;
	head.complete = jitstrip(fd, &stripped, (size_t)limit.bytes);
	head.size_bytes = outbuf_ok(&stripped) ? (uint32_t)stripped.size_bytes : 0;
	err = full_write(SUBPROCESS_FD, &head, sizeof(head));
	if (!err)
		err = full_write(SUBPROCESS_FD, stripped.data, head.size_bytes);
	outbuf_done(&stripped);
	return err;
}

/* Reads the complete file, and adds a NUL; -EOVERFLOW: it is too large. */
static int read_text(int fd, struct outbuf *out)
{
	const size_t chunk_bytes = 1u << 16;
	ssize_t n = 1;

	while (n > 0 && out->size_bytes <= STORE_FILE_MAX) {
		uint8_t *to = outbuf_reserve(out, chunk_bytes);

		if (!to)
			return -ENOMEM;
		n = pread(fd, to, chunk_bytes - 1, (off_t)out->size_bytes);
		if (n < 0)
			return -errno;
		to[n] = '\0';
		out->size_bytes += (size_t)n;
	}
	return out->size_bytes > STORE_FILE_MAX ? -EOVERFLOW : 0;
}

static void add_entry(void *ctx, const char *id, const char *text, size_t text_bytes)
{
	struct elf_reader_entry e = { .text_bytes = (uint32_t)text_bytes };
	struct outbuf *out = ctx;

	if (text_bytes > ELF_READER_STORE_MAX ||
	    out->size_bytes + sizeof(e) + text_bytes > ELF_READER_STORE_MAX)
		return;
	memcpy(e.id, id, strnlen(id, CONTAINER_RECORD_DIGITS));
	outbuf_add(out, &e, sizeof(e));
	outbuf_add(out, text, text_bytes);
}

static int answer_store(int fd)
{
	struct outbuf text = { 0 }, entries = { 0 };
	struct elf_reader_answer head;
	struct elf_reader_store ask;
	int none, err = subprocess_receive(SUBPROCESS_FD, &none, &ask, sizeof(ask));

	if (err)
		return err;
	ask.key[sizeof(ask.key) - 1] = '\0';
	head.err = read_text(fd, &text);
	if (!head.err && ask.form < STORE_FILE_FORMS)
		head.err = store_file_parse((enum store_file)ask.form, (const char *)text.data,
					    text.size_bytes, ask.key, add_entry, &entries);
	head.size_bytes = outbuf_ok(&entries) ? (uint32_t)entries.size_bytes : 0;
	err = full_write(SUBPROCESS_FD, &head, sizeof(head));
	if (!err)
		err = full_write(SUBPROCESS_FD, entries.data, head.size_bytes);
	outbuf_done(&text);
	outbuf_done(&entries);
	return err;
}

static int answer(int fd, char word)
{
	if (word == *ELF_READER_ASK_JIT)
		return answer_jit(fd);
	if (word == *ELF_READER_ASK_STORE)
		return answer_store(fd);
	if (word == *ELF_READER_ASK_PROBE)
		return answer_probe(fd);
	if (word == *ELF_READER_ASK_FACTS)
		return answer_facts(fd);
	return word == *ELF_READER_ASK_SYMBOL ? answer_symbol(fd) : answer_table(fd);
}

int elf_reader_serve(void)
{
	int fd, err = give_up_all();
	char word;

	while (!err && !subprocess_receive(SUBPROCESS_FD, &fd, &word, 1) && fd >= 0) {
		err = answer(fd, word);
		close(fd);
		err = err ? err : full_write(SUBPROCESS_FD, ELF_READER_READY, 1);
	}
	return err ? 1 : 0;
}
