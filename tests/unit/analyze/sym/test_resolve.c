/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* resolve, locate: names and reasons for files that are there, changed, gone or no files */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "analyze/sym/bundle.h"
#include "analyze/sym/locate/file_search.h"
#include "analyze/sym/symfile_cache.h"
#include "tests/unit/nameroot.h"

static void resolve_names_by_file_offset(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);

	sh(e, "cp $f/layout $r/app");
	assert_string_equal(lookup(r, "/app", true, OFF_F_SIZED), "f_sized");
	assert_string_equal(lookup(r, "/app", true, OFF_F_SIZED + 0x1f), "f_sized");
	assert_string_equal(lookup(r, "/app", true, 0x1240), "ns::S<long>::work");
	assert_string_equal(lookup(r, "/app", false, OFF_F_NOSIZE), "f_nosize");
	assert_reason(lookup(r, "/app", true, OFF_F_SIZED + 0x20), NAME_BETWEEN);
	assert_reason(lookup(r, "/app", true, 0), NAME_BETWEEN);
	assert_reason(lookup(r, "/app", true, UINT64_MAX), NAME_BETWEEN);
	resolver_free(r);
}

static void
resolve_symbols_that_were_not_asked_for_lately_are_forgotten_and_read_again(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/app", true);
	uint32_t id;

	sh(e, "cp $f/layout $r/app");
	id = resolver_add_file(r, &f);
	resolver_load(r, &id, 1);
	assert_string_equal(resolver_user(r, id, OFF_F_SIZED, false)->name, "f_sized");
	sh(e, "rm $r/app");
	resolver_trim(r, 1);
	assert_string_equal(resolver_user(r, id, OFF_F_SIZED, false)->name, "f_sized");
	resolver_load(r, NULL, 0);
	resolver_trim(r, 1);
	assert_null(resolver_user(r, id, OFF_F_SIZED, false)->name);
	sh(e, "cp $f/layout $r/app");
	resolver_load(r, NULL, 0);
	resolver_trim(r, 1);
	assert_string_equal(resolver_user(r, id, OFF_F_SIZED, false)->name, "f_sized");
	assert_string_equal(resolver_user(r, id, 0x1240, false)->name, "ns::S<long>::work");
	resolver_free(r);
}

/* Address 0x1010 in code that a process made, by a text that is gone after the call. */
static void check_made(struct resolver *r, uint32_t id, const char *text, const char *name)
{
	struct resolver_jit jit = { .pid = 7, .text = strdup(text), .size_bytes = strlen(text) };
	struct resolver_hints none = { 0 };

	resolver_renew(r, &jit, 1, none);
	assert_string_equal(resolver_user(r, id, 0x1010, false)->name, name);
	free((char *)(uintptr_t)jit.text);
	resolver_renew(r, NULL, 0, none);
}

static void resolve_code_made_at_run_time_is_named_by_the_last_state(void **state)
{
	struct resolver *r = resolver_of("/", NULL);
	struct resolver_file f = { .path = "//anon", .jit_pid = 7 };
	uint32_t id = resolver_add_file(r, &f);

	(void)state;
	check_made(r, id, "1000 20 first\n", "first");
	check_made(r, id, "1000 20 second\n", "second");
	assert_null(resolver_user(r, id, 0x1010, false)->name);
	resolver_free(r);
}

static void resolve_return_addresses_belong_to_the_call(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/app", true);
	const struct resolved *x;
	uint32_t id;

	sh(e, "cp $f/layout $r/app");
	id = resolver_add_file(r, &f);
	x = resolver_user(r, id, OFF_F_SIZED + 0x20, true);
	assert_string_equal(x->name, "f_sized"); /* the call was its last instruction */
	assert_true(x->offset == OFF_F_SIZED + 0x20);
	assert_ptr_not_equal(x, resolver_user(r, id, OFF_F_SIZED + 0x20, false));
	x = resolver_user(r, id, 0, true); /* there is nothing before */
	assert_int_equal(x->reason, NAME_BETWEEN);
	resolver_free(r);
}

/* A signal returns to the first byte of a function; that it is found behind the address travels, too. */
static void resolve_what_returns_to_a_start_is_bundled(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL), *away;
	struct resolver_file f = file_of("/app", true);
	struct resolver_opts opts = { .demangle = true, .bundle_count = 1 };
	struct bundle_place place;
	struct bundle *b;
	uint8_t *data;
	size_t size_bytes;
	uint32_t id;

	sh(e, "cp $f/layout $r/app");
	id = resolver_add_file(r, &f);
	assert_string_equal(resolver_user(r, id, 0x1240, true)->name, "ns::S<long>::work");
	assert_string_equal(resolver_user(r, id, OFF_F_SIZED, false)->name, "f_sized");
	assert_int_equal(resolver_bundle(r, id, false, &data, &size_bytes), 0);
	assert_int_equal(bundle_decode(data, size_bytes, &b), 0);
	assert_true(bundle_find(b, 0x1240, true, &place));
	assert_string_equal(place.name, "_ZN2ns1SIlE4workEli");
	resolver_free(r);

	opts.bundles = &b;
	opts.roots.symfs = "/no/such/root";
	assert_int_equal(resolver_new(&opts, &away), 0);
	id = resolver_add_file(away, &f);
	assert_string_equal(resolver_user(away, id, 0x1240, true)->name, "ns::S<long>::work");
	assert_string_equal(resolver_user(away, id, OFF_F_SIZED, false)->name, "f_sized");
	resolver_free(away);
	bundle_free(b);
}

/* As of captures that were merged: each part has what was hit in it. */
static void resolve_many_bundles_of_a_file_are_all_asked(void **state)
{
	enum { PARTS = 40, FIRST = 0x1000 };
	struct resolver_file f = file_of("/gone/app", true);
	struct source_frame source = { "inner", "app.c", 1, 0 };
	const struct bundle_frames frames = { &source, 1 };
	const struct bundle_head head = { .file = f, .symbols = "/app", .trust = NAME_BY_BUILD_ID };
	struct resolver_opts opts = { .bundle_count = PARTS };
	struct bundle *parts[PARTS];
	struct source_frame frame[4];
	struct resolver *r;
	char name[16];
	uint32_t id;

	for (uint32_t i = 0; i < PARTS; i++) {
		struct bundle_place place = { .offset = FIRST + i, .name = name, .frame_count = 1 };
		uint8_t *data;
		size_t size_bytes;

		snprintf(name, sizeof(name), "part%u", i);
		source.line = i + 1;
		assert_int_equal(bundle_encode(&head, &place, 1, &frames, &data, &size_bytes), 0);
		assert_int_equal(bundle_decode(data, size_bytes, &parts[i]), 0);
	}
	opts.bundles = parts;
	opts.roots.symfs = "/no/such/root";
	assert_int_equal(resolver_new(&opts, &r), 0);
	id = resolver_add_file(r, &f);
	for (uint32_t i = 0; i < PARTS; i++) {
		snprintf(name, sizeof(name), "part%u", i);
		assert_string_equal(resolver_user(r, id, FIRST + i, false)->name, name);
		assert_int_equal(resolver_frames(r, id, FIRST + i, false, frame, 4), 1);
		assert_int_equal(frame[0].line, i + 1);
	}
	assert_int_equal(resolver_user(r, id, FIRST + PARTS, false)->reason, NAME_FILE_GONE);
	resolver_free(r);
	for (uint32_t i = 0; i < PARTS; i++)
		bundle_free(parts[i]);
}

static void resolve_equal_places_give_equal_pointers(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/app", true), g = file_of("/copy", true);
	const struct resolved *first[5000];
	uint32_t id;
	size_t i;

	sh(e, "cp $f/layout $r/app");
	id = resolver_add_file(r, &f);
	assert_int_equal(resolver_add_file(r, &g), id); /* the build-id decides */
	for (i = 0; i < 5000; i++)
		first[i] = resolver_user(r, id, OFF_F_SIZED + i, i & 1);
	for (i = 0; i < 5000; i++)
		assert_ptr_equal(resolver_user(r, id, OFF_F_SIZED + i, i & 1), first[i]);
	assert_ptr_equal(resolver_unmapped(r, 5), resolver_unmapped(r, 5));
	assert_ptr_equal(resolver_kernel(r, 5, false), resolver_kernel(r, 5, false));
	resolver_free(r);
}

static void resolve_many_files_keep_their_ids(void **state)
{
	struct resolver *r = resolver_of(NULL, NULL);
	char path[64];
	uint32_t i;

	for (i = 0; i < 3000; i++) {
		struct resolver_file f = { .path = path, .id.inode = i / 2 };

		snprintf(path, sizeof(path), "/gone/%u", i & 1);
		assert_int_equal(resolver_add_file(r, &f), i);
	}
	for (i = 0; i < 3000; i++) {
		struct resolver_file f = { .path = path, .id.inode = i / 2 };

		snprintf(path, sizeof(path), "/gone/%u", i & 1);
		assert_int_equal(resolver_add_file(r, &f), i);
	}
	resolver_free(r);
}

static void resolve_a_second_path_helps_when_the_first_is_gone(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/gone", true), g = file_of("/app", true);
	const struct resolved *x;
	uint32_t id;

	sh(e, "cp $f/layout $r/app");
	id = resolver_add_file(r, &f);
	assert_int_equal(resolver_add_file(r, &g), id);
	x = resolver_user(r, id, OFF_F_SIZED, false);
	assert_string_equal(x->name, "f_sized");
	assert_string_equal(x->dso, "/gone");
	resolver_free(r);
}

static void resolve_another_build_id_is_never_used(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);

	sh(e, "cp $f/layout.other-id $r/other; cp $f/layout.no-id $r/none");
	assert_reason(lookup(r, "/other", true, OFF_F_SIZED), NAME_BUILD_ID_DIFFERS);
	resolver_free(r);
	r = resolver_of(e->root, NULL);
	assert_reason(lookup(r, "/none", true, OFF_F_SIZED), NAME_BUILD_ID_DIFFERS);
	assert_string_equal(lookup(r, "/none", false, OFF_F_SIZED), "f_sized"); /* a guess */
	resolver_free(r);
}

static void resolve_padded_build_ids_are_equal(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = { .path = "/app", .id.build_id = { "\xff", 20 } };
	const struct resolved *x;

	sh(e, "cp $f/layout.other-id $r/app"); /* its id is ff, one byte */
	x = resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false);
	assert_string_equal(x->name ? x->name : name_reason_text(x->reason), "f_sized");
	resolver_free(r);
}

static void resolve_reasons_of_files_that_cannot_be_read(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);

	sh(e, "cp $f/layout.stripped $r/stripped; cp $f/layout.so.stripped $r/dyn;"
	      "echo hello > $r/text; : > $r/empty; head -c 3000 $f/layout > $r/cut;"
	      "mkdir $r/dir; mkfifo $r/fifo; ln -s loop $r/loop");
	assert_reason(lookup(r, "/missing", false, 0x1000), NAME_FILE_GONE);
	assert_reason(lookup(r, "/dir", false, 0x1000), NAME_FILE_GONE);
	assert_reason(lookup(r, "/fifo", false, 0x1000), NAME_FILE_GONE);
	assert_reason(lookup(r, "/loop", false, 0x1000), NAME_FILE_GONE);
	assert_reason(lookup(r, "/text/file", false, 0x1000), NAME_FILE_GONE);
	assert_reason(lookup(r, "/text", false, 0x1000), NAME_BAD_ELF);
	assert_reason(lookup(r, "/empty", false, 0x1000), NAME_BAD_ELF);
	assert_reason(lookup(r, "/cut", false, 0x1000), NAME_BAD_ELF);
	assert_reason(lookup(r, "/stripped", false, OFF_F_SIZED), NAME_STRIPPED);
	assert_reason(lookup(r, "/dyn", false, 0x1200), NAME_STRIPPED); /* a local one, maybe */
	resolver_free(r);
}

static void resolve_without_permission_has_the_reason(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	uid_t uid = geteuid();
	const char *answer;

	sh(e, "cp $f/layout $r/app; chmod 0 $r/app");
	if (uid == 0)
		assert_int_equal(seteuid(65534), 0); /* root may read everything */
	answer = lookup(r, "/app", true, OFF_F_SIZED);
	if (uid == 0)
		assert_int_equal(seteuid(0), 0);
	assert_reason(answer, NAME_NO_PERMISSION);
	resolver_free(r);
}

static void resolve_links_do_not_lead_out_of_symfs(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	char root[128];

	sh(e, "cp $f/layout $r/outside; mkdir -p $r/in/usr/lib; ln -s $r/outside $r/in/abs;"
	      "ln -s ../../../outside $r/in/usr/up; cp $f/layout $r/in/usr/lib/real;"
	      "ln -s /usr/lib/real $r/in/link; ln -s usr/lib $r/in/lib");
	resolver_free(r);
	snprintf(root, sizeof(root), "%s/in", e->root);
	r = resolver_of(root, NULL);
	assert_reason(lookup(r, "/abs", false, OFF_F_SIZED), NAME_FILE_GONE);
	assert_reason(lookup(r, "/usr/up", false, OFF_F_SIZED), NAME_FILE_GONE);
	assert_reason(lookup(r, "/../outside", false, OFF_F_SIZED), NAME_FILE_GONE);
	assert_string_equal(lookup(r, "/link", false, OFF_F_SIZED), "f_sized");
	assert_string_equal(lookup(r, "/lib/real", false, OFF_F_SIZED), "f_sized");
	resolver_free(r);
}

static void resolve_deleted_files_need_proof(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	char path[128];
	struct stat st;
	struct resolver_file f;

	sh(e, "cp $f/layout $r/app; cp $f/layout \"$r/with (deleted)\"");
	assert_reason(lookup(r, "/app (deleted)", false, OFF_F_SIZED), NAME_FILE_GONE);
	assert_string_equal(lookup(r, "/with (deleted)", false, OFF_F_SIZED), "f_sized");
	assert_string_equal(lookup(r, "/app (deleted)", true, OFF_F_SIZED), "f_sized");
	snprintf(path, sizeof(path), "%s/app", e->root);
	assert_int_equal(stat(path, &st), 0);
	f = file_of("/app (deleted)", false);
	f.id.inode = st.st_ino;
	assert_string_equal(resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->name,
			    "f_sized");
	f.id.inode = st.st_ino + 1;
	assert_int_equal(resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->reason,
			 NAME_FILE_GONE);
	resolver_free(r);
}

static void resolve_a_link_in_place_of_the_file_needs_proof(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(NULL,
					 NULL); /* below symfs links are part of the picture */
	char path[128];

	sh(e, "cp $f/layout $r/app; ln -s app $r/link");
	snprintf(path, sizeof(path), "%s/link", e->root);
	assert_reason(lookup(r, path, false, OFF_F_SIZED), NAME_FILE_GONE);
	assert_string_equal(lookup(r, path, true, OFF_F_SIZED), "f_sized");
	resolver_free(r);
}

static void resolve_without_an_id_size_and_time_decide(void **state)
{
	struct env *e = *state;
	struct resolver_source source;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/app", false);
	char path[128];
	struct stat st;
	int i;

	sh(e, "cp $f/layout.no-id $r/app");
	snprintf(path, sizeof(path), "%s/app", e->root);
	assert_int_equal(stat(path, &st), 0);
	for (i = 0; i < 4; i++) {
		uint32_t id;
		bool same = i == 0;

		f.id.inode = (uint64_t)i +
			     1; /* another one may well be the same file on overlayfs */
		f.size_bytes = (uint64_t)st.st_size + (i == 1);
		f.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ULL +
			     (uint64_t)st.st_mtim.tv_nsec + (i == 2);
		if (i == 3)
			f.size_bytes = 0;
		id = resolver_add_file(r, &f);
		assert_int_equal(resolver_user(r, id, OFF_F_SIZED, false)->reason,
				 same ? NAME_FOUND : NAME_FILE_CHANGED);
		assert_true(resolver_source(r, id, &source));
		if (same)
			assert_int_equal(source.trust, NAME_BY_STAT);
	}
	/* Nothing was recorded but the inode: a hint, or a guess. */
	f = file_of("/app", false);
	f.id.inode = st.st_ino;
	i = (int)resolver_add_file(r, &f);
	assert_int_equal(resolver_user(r, (uint32_t)i, OFF_F_SIZED, false)->reason, NAME_FOUND);
	assert_true(resolver_source(r, (uint32_t)i, &source));
	assert_int_equal(source.trust, NAME_BY_INODE);
	f.id.inode++;
	i = (int)resolver_add_file(r, &f);
	assert_int_equal(resolver_user(r, (uint32_t)i, OFF_F_SIZED, false)->reason, NAME_FOUND);
	assert_true(resolver_source(r, (uint32_t)i, &source));
	assert_int_equal(source.trust, NAME_BY_PATH);
	resolver_free(r);
}

static void resolve_without_an_id_the_checksum_decides(void **state)
{
	struct env *e = *state;
	struct resolver *r = resolver_of(e->root, NULL);
	struct resolver_file f = file_of("/app", false), other;
	struct file_facts_sum sum;
	struct stat st;
	char path[128];
	int fd;

	sh(e, "cp $f/layout.no-id $r/app");
	snprintf(path, sizeof(path), "%s/app", e->root);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && !fstat(fd, &st));
	sum = file_facts_sum(fd);
	close(fd);
	assert_true(sum.has_loaded && sum.has_spread);
	for (unsigned i = 0; i < 8; i++) {
		bool has_stat = i & 1, loaded_differs = i & 2, spread_differs = i & 4;
		struct resolver_source source;
		uint32_t id;

		f.id.inode = i + 1;
		f.size_bytes = has_stat ? (uint64_t)st.st_size : 0;
		f.mtime_ns = has_stat ? (uint64_t)st.st_mtim.tv_sec * 1000000000ULL +
						(uint64_t)st.st_mtim.tv_nsec
				      : 0;
		f.sum = sum;
		f.sum.loaded_crc ^= loaded_differs;
		f.sum.spread_crc ^= spread_differs;
		id = resolver_add_file(r, &f);
		assert_int_equal(resolver_user(r, id, OFF_F_SIZED, false)->reason,
				 loaded_differs || spread_differs ? NAME_FILE_CHANGED : NAME_FOUND);
		assert_true(resolver_source(r, id, &source));
		assert_true(loaded_differs || spread_differs || source.trust == NAME_BY_STAT);
	}
	/* Another file that had the same numbers is one of its own. */
	other = f;
	other.id.inode_generation = 7;
	other.sum = sum;
	assert_int_not_equal(resolver_add_file(r, &other), resolver_add_file(r, &f));
	assert_int_equal(resolver_user(r, resolver_add_file(r, &other), OFF_F_SIZED, false)->reason,
			 NAME_FOUND);
	resolver_free(r);
}

/* A copy of what was deleted or replaced, in a debug folder; its name alone proves nothing. */
static void resolve_without_an_id_a_copy_is_found_by_its_checksum(void **state)
{
	struct env *e = *state;
	struct resolver_file f = file_of("/gone", false);
	const char *dirs[] = { NULL };
	struct resolver_opts opts = {
		.roots = { .symfs = "/nowhere", .debug_dirs = dirs, .debug_dir_count = 1 }
	};
	char path[160], name[FILE_FACTS_COPY_NAME_BYTES];
	struct resolver *r;
	struct stat st;
	int fd;

	dirs[0] = e->root;
	sh(e, "cp -p $f/layout.no-id $r/app");
	snprintf(path, sizeof(path), "%s/app", e->root);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && !fstat(fd, &st));
	f.sum = file_facts_sum(fd);
	close(fd);
	f.size_bytes = (uint64_t)st.st_size;
	f.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ULL + (uint64_t)st.st_mtim.tv_nsec;
	file_facts_copy_name(&f.sum, f.size_bytes, f.mtime_ns, name);
	sh(e, "mkdir $r/.checksum");
	for (unsigned i = 0; i < 4; i++) {
		static const char *const paths[] = { "/gone", "/gone (deleted)",
						     "/memfd:gone (deleted)", "/gone" };
		char to[256];

		snprintf(to, sizeof(to), "%s%s", e->root, name);
		if (!i)
			assert_int_equal(rename(path, to), 0);
		if (i == 3) /* another file of this name */
			sh(e, "touch $r/.checksum/*");
		f.path = paths[i];
		assert_int_equal(resolver_new(&opts, &r), 0);
		assert_int_equal(
			resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->reason,
			i == 3 ? NAME_FILE_GONE : NAME_FOUND);
		resolver_free(r);
	}
}

/* The file at the path on the machine itself, with another inode on the same device. */
static void resolve_another_inode_at_the_path_is_another_file(void **state)
{
	struct env *e = *state;
	char path[128];
	struct stat st;
	struct resolver_file f;

	sh(e, "cp $f/layout.no-id $r/app");
	snprintf(path, sizeof(path), "%s/app", e->root);
	assert_int_equal(stat(path, &st), 0);
	for (int i = 0; i < 8; i++) {
		struct resolver *r = resolver_of(NULL, NULL);
		bool other = i & 1, elsewhere = i & 2;
		enum name_reason want = NAME_FOUND;

		f = file_of(path, false);
		f.id.dev_major = major(st.st_dev) + elsewhere; /* overlayfs, btrfs */
		f.id.dev_minor = minor(st.st_dev);
		f.id.inode = st.st_ino + other;
		f.not_read = i & 4; /* the recorder would have read what is there */
		if (other && f.not_read)
			want = NAME_NOT_READ;
		else if (other && !elsewhere)
			want = NAME_FILE_CHANGED;
		assert_int_equal(
			resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->reason,
			want);
		resolver_free(r);
	}
	/* A folder that the user named is asked all the same, and the name is marked as a guess. */
	struct resolver *r = resolver_of(e->root, NULL);

	f = file_of("/app", false);
	f.id.inode = st.st_ino + 1;
	f.not_read = true;
	assert_int_equal(resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->reason,
			 NAME_FOUND);
	f.path = "/missing";
	f.id.inode++;
	assert_int_equal(resolver_user(r, resolver_add_file(r, &f), OFF_F_SIZED, false)->reason,
			 NAME_NOT_READ);
	resolver_free(r);
}

static void resolve_what_has_no_file_is_anonymous(void **state)
{
	static const char *const paths[] = {
		"//anon",
		"[heap]",
		"[stack]",
		"[stack:123]",
		"[vsyscall]",
		"[uprobes]",
		"",
		"/dev/zero",
		"/dev/zero (deleted)",
		"/memfd:jit (deleted)",
		"/SYSV00000000 (deleted)",
		"/anon_hugepage (deleted)",
		"[anon:scudo]",
		"anon_inode:[perf_event]",
	};
	struct resolver *r = resolver_of(NULL, NULL);
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_reason(lookup(r, paths[i], false, 0x1000), NAME_ANONYMOUS);
	assert_false(file_search_is_anonymous("[vdso]"));
	assert_false(file_search_is_anonymous("/usr/bin/ls"));
	resolver_free(r);
}

/* Offset of __vdso_time or the like: any exported function of the image. */
static void resolve_vdso_is_our_own_if_it_is_the_same(void **state)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct resolver *r = resolver_of(NULL, NULL);
	struct resolver_file f = file_of("[vdso]", true);
	const struct resolved *x;
	uint64_t off;
	size_t named = 0;
	uint32_t id;

	if (!image) {
		print_message("no vdso here\n");
		skip();
		return;
	}
	id = resolver_add_file(r, &f); /* the id of another one */
	assert_int_equal(resolver_user(r, id, 0x800, false)->reason, NAME_BUILD_ID_DIFFERS);
	f = file_of("[vdso]", false);
	id = resolver_add_file(r, &f);
	for (off = 0; off < image->e_shoff; off += 8) {
		x = resolver_user(r, id, off, false);
		assert_string_equal(x->dso, "[vdso]");
		named += x->name && strstr(x->name, "gettime");
	}
	assert_true(named > 0);
	resolver_free(r);
}

static void resolve_kernel_addresses(void **state)
{
	struct resolver *r = resolver_of(NULL, "ffffffff81000000 T first\n"
					       "ffffffff81000100 T second\n"
					       "ffffffff81000200 T _etext\n"
					       "ffffffffc0000000 t in_module\t[mod]\n");
	const struct resolved *x = resolver_kernel(r, 0xffffffff81000100, false);

	assert_string_equal(x->name, "second");
	assert_string_equal(x->dso, "[kernel.kallsyms]");
	assert_true(x->offset == 0xffffffff81000100);
	x = resolver_kernel(r, 0xffffffff81000100, true);
	assert_string_equal(x->name, "first");
	x = resolver_kernel(r, 0xffffffffc0000000, false);
	assert_string_equal(x->dso, "[mod]");
	x = resolver_kernel(r, 0xffffffff81000200, false);
	assert_int_equal(x->reason, NAME_BETWEEN);
	assert_null(x->name);
	resolver_free(r);
}

static void resolve_hidden_kernel_is_a_reason(void **state)
{
	static const char *const texts[] = { NULL, "", "0000000000000000 T _text\n", "garbage" };
	struct resolver *r;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		r = resolver_of(NULL, texts[i]);
		assert_int_equal(resolver_kernel(r, 0xffffffff81000000, false)->reason,
				 NAME_KERNEL_HIDDEN);
		resolver_free(r);
	}
}

static void resolve_unknown_ids_have_no_map(void **state)
{
	struct resolver *r = resolver_of(NULL, NULL);

	assert_int_equal(resolver_user(r, 0, 5, false)->reason, NAME_NO_MAP);
	assert_int_equal(resolver_user(r, UINT32_MAX, 5, false)->reason, NAME_NO_MAP);
	assert_int_equal(resolver_unmapped(r, 5)->reason, NAME_NO_MAP);
	assert_string_equal(resolver_unmapped(r, 5)->dso, "");
	resolver_free(r);
	resolver_free(NULL);
}

static void paths_of_one_build_id_are_stored_up_to_a_limit(void **state)
{
	struct resolver_file f = { .id.build_id = { .bytes = { 1 }, .size_bytes = 20 } };
	struct symfile_cache files = { 0 };
	unsigned count = 0;
	char path[32];

	for (unsigned i = 0; i < 4 * SYMFILE_ALIASES_MAX; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		f.path = path;
		assert_int_equal(symfile_cache_add(&files, &f), 0);
	}
	for (const struct file_alias *a = files.files[0]->aliases; a; a = a->next) {
		snprintf(path, sizeof(path), "/lib/%u", count++);
		assert_string_equal(a->as.path, path);
	}
	assert_int_equal(count, SYMFILE_ALIASES_MAX);
	symfile_cache_done(&files);
}

static void resolve_every_reason_has_words(void **state)
{
	int i;

	for (i = 0; i < NAME_REASONS; i++)
		assert_true(strlen(name_reason_text((enum name_reason)i)) > 4);
	assert_non_null(name_reason_remedy(NAME_STRIPPED));
	assert_null(name_reason_remedy(NAME_FOUND));
	assert_non_null(name_reason_text((enum name_reason)99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(resolve_names_by_file_offset),
		TEST(resolve_symbols_that_were_not_asked_for_lately_are_forgotten_and_read_again),
		cmocka_unit_test(resolve_code_made_at_run_time_is_named_by_the_last_state),
		TEST(resolve_return_addresses_belong_to_the_call),
		TEST(resolve_what_returns_to_a_start_is_bundled),
		cmocka_unit_test(resolve_many_bundles_of_a_file_are_all_asked),
		TEST(resolve_equal_places_give_equal_pointers),
		cmocka_unit_test(resolve_many_files_keep_their_ids),
		TEST(resolve_a_second_path_helps_when_the_first_is_gone),
		TEST(resolve_another_build_id_is_never_used),
		TEST(resolve_padded_build_ids_are_equal),
		TEST(resolve_reasons_of_files_that_cannot_be_read),
		TEST(resolve_without_permission_has_the_reason),
		TEST(resolve_links_do_not_lead_out_of_symfs),
		TEST(resolve_deleted_files_need_proof),
		TEST(resolve_a_link_in_place_of_the_file_needs_proof),
		TEST(resolve_without_an_id_size_and_time_decide),
		TEST(resolve_without_an_id_the_checksum_decides),
		TEST(resolve_without_an_id_a_copy_is_found_by_its_checksum),
		TEST(resolve_another_inode_at_the_path_is_another_file),
		cmocka_unit_test(resolve_what_has_no_file_is_anonymous),
		cmocka_unit_test(resolve_vdso_is_our_own_if_it_is_the_same),
		cmocka_unit_test(resolve_kernel_addresses),
		cmocka_unit_test(resolve_hidden_kernel_is_a_reason),
		cmocka_unit_test(resolve_unknown_ids_have_no_map),
		cmocka_unit_test(resolve_every_reason_has_words),
		cmocka_unit_test(paths_of_one_build_id_are_stored_up_to_a_limit),
	};

	return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
