/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ebprec scrub - a capture that may be given away: without names of persons and machines */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cmd/bundle_names.h"
#include "analyze/cmd/common/open_report.h"
#include "analyze/cmd/common/commands.h"
#include "analyze/base/result_file.h"
#include "analyze/base/read_file.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/out/message.h"
#include "analyze/rewrite/scrub/scrub.h"
#include "analyze/rewrite/scrub/text.h"
#include "analyze/rewrite/scrub/verify.h"
#include "analyze/cmd/common/usage.h"
#include "analyze/out/text_table.h"

#define KEY_LEAST_BYTES 16
#define KEY_MOST_BYTES  4096
#define CMDLINE         "cmdline"
#define LAYOUT          "layout"
#define TIMES           "time"
#define MACHINE         "machine"
#define COMMS_SHOWN     8

struct scrub_args {
	const char *input, *output, *key_file;
	struct option_list keep, comms, symbols, words, checks;
	struct name_options names;
	bool erase, keep_unknown, without_names, list, json, quiet;
};

#define AT(field) offsetof(struct scrub_args, field)

static const struct option scrub_options[] = {
	{ OPT_STRING, 'i', "input", "FILE", AT(input), 0, 0, "the capture (default: ebprec.data)" },
	{ OPT_STRING, 'o', "output", "FILE", AT(output), 0, 0, "the new capture" },
	{ OPT_STRING, 0, "key-file", "FILE", AT(key_file), 0, 0,
	  "the secret that pseudonyms are made with, so that two captures have the same (default: "
	  "a random one, which is discarded)" },
	{ OPT_FLAG, 0, "erase", NULL, AT(erase), 0, 0, "x in the place of pseudonyms" },
	{ OPT_LIST, 0, "keep", "WHAT", AT(keep), 0, 0,
	  "leave it: cmdline, home, host, user, container, network, layout, time or machine" },
	{ OPT_FLAG, 0, "keep-unknown", NULL, AT(keep_unknown), 0, 0,
	  "leave what is not understood, and branch stacks, physical addresses and AUX data" },
	{ OPT_FLAG, 0, "without-names", NULL, AT(without_names), 0, 0,
	  "bundle none: on other machines functions have none then, and those in hidden files "
	  "nowhere" },
	{ OPT_LIST, 0, "comm", "REGEX", AT(comms), 0, 0,
	  "also hide programs and threads of such names" },
	{ OPT_LIST, 0, "symbol", "REGEX", AT(symbols), 0, 0,
	  "also hide such symbols (mangled, of the kernel, of bundles and JIT compilers)" },
	{ OPT_LIST, 0, "word", "WORD", AT(words), 0, 0,
	  "also hide this word, but not as a part of another, as in acme_corp (--check finds that)" },
	{ OPT_LIST, 0, "check", "REGEX", AT(checks), 0, 0,
	  "fail when it is left anywhere in the result (without --output: in the capture), in whatever case" },
	{ OPT_FLAG, 0, "list", NULL, AT(list), 0, 0,
	  "print which word became which, and the names that are left" },
	{ OPT_FLAG, 0, "json", NULL, AT(json), 0, 0, "with --list: as JSON" },
	NAMEOPTS_PLACES(AT(names)),
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet), 0, 0,
	  "print only errors, and what is damaged or missing" },
	{ 0 },
};

static const struct usage scrub_usage = {
	.command = "scrub",
	.words = "[OPTIONS] -o FILE [[-i] CAPTURE]",
	.about =
		"Copies a capture without names of people and hosts: command lines, paths below\n"
		"/home (which becomes /anon) and names of programs there, names of hosts, users\n"
		"and containers, network addresses, copied stacks, the time of day, kernel and\n"
		"CPU, and the random addresses of the kernel and of programs.  Names of functions\n"
		"are bundled first, so that other machines have them, too.  At the end a list of\n"
		"what is still in it is printed.\n"
		"For a bug report, which must not have the word acme:\n"
		"  ebprec scrub -o report.data --check acme ebprec.data\n",
	.options = scrub_options,
	.reads = USAGE_READS,
	.reads_output = true,
};

/* ---- what is asked for ---- */

struct patterns {
	regex_t list[OPTION_LIST_MAX];
	size_t count;
};

static void patterns_done(struct patterns *p)
{
	while (p->count)
		regfree(&p->list[--p->count]);
}

static int compile(const struct option_list *from, const char *option, int flags,
		   struct patterns *out)
{
	char why[80];
	int err;

	for (unsigned i = 0; i < from->count; i++) {
		if (!*from->values[i])
			return usage_error(&scrub_usage,
					   "option '--%s' cannot be '': an expression was expected",
					   option);
		err = regcomp(&out->list[out->count], from->values[i], REG_EXTENDED | flags);
		if (err) {
			regerror(err, NULL, why, sizeof(why));
			return usage_error(&scrub_usage,
					   "option '--%s': '%s' is no regular expression: %s",
					   option, from->values[i], why);
		}
		out->count++;
	}
	return MESSAGE_OK;
}

static int no_kind(const char *what)
{
	const char *names[PSEUDONYM_COMM + 4] = { CMDLINE, LAYOUT, TIMES, MACHINE };
	char near[USAGE_NEAR_BYTES];

	for (unsigned k = 0; k < PSEUDONYM_COMM; k++)
		names[4 + k] = pseudonym_kind_name(k);
	usage_near(what, strlen(what), names, sizeof(names) / sizeof(names[0]), near);
	return usage_error(
		&scrub_usage, "option '--keep' cannot be '%s'%s", what,
		*near ? near
		      : ": cmdline, home, host, user, container, network, layout, time or "
			"machine was expected");
}

static int choose(const struct scrub_args *args, struct scrub_opts *o)
{
	o->command_lines = o->layout = o->times = o->machine = true;
	for (unsigned k = 0; k < PSEUDONYM_KINDS; k++)
		o->wanted[k] = true;
	for (unsigned i = 0; i < args->keep.count; i++) {
		const char *what = args->keep.values[i];
		unsigned k;

		for (k = 0; k < PSEUDONYM_COMM; k++)
			if (!strcmp(what, pseudonym_kind_name(k)))
				break;
		if (k < PSEUDONYM_COMM)
			o->wanted[k] = false;
		else if (!strcmp(what, CMDLINE))
			o->command_lines = false;
		else if (!strcmp(what, LAYOUT))
			o->layout = false;
		else if (!strcmp(what, TIMES))
			o->times = false;
		else if (!strcmp(what, MACHINE))
			o->machine = false;
		else
			return no_kind(what);
	}
	return MESSAGE_OK;
}

static int read_key(const struct scrub_args *args, uint8_t key[PSEUDONYM_KEY_BYTES])
{
	static const uint8_t first[PSEUDONYM_KEY_BYTES] = "ebprec scrub 1",
			     second[PSEUDONYM_KEY_BYTES] = "ebprec scrub 2";
	uint64_t half[2];
	char *text;
	size_t size;
	int err;

	if (!args->key_file) {
		if (getrandom(key, PSEUDONYM_KEY_BYTES, 0) != PSEUDONYM_KEY_BYTES)
			return message_error("cannot make a key: %s", strerror(errno));
		return MESSAGE_OK;
	}
	err = read_file_text(args->key_file, KEY_MOST_BYTES, &text);
	if (err)
		return message_error("cannot read the key '%s': %s", args->key_file,
				     strerror(-err));
	for (size = strlen(text); size && strchr(" \t\r\n", text[size - 1]); size--)
		;
	if (size >= KEY_LEAST_BYTES) {
		half[0] = pseudonym_hash(first, text, size);
		half[1] = pseudonym_hash(second, text, size);
		memcpy(key, half, sizeof(half));
	}
	free(text);
	if (size < KEY_LEAST_BYTES)
		return message_error("cannot use the key '%s': it has fewer than %d characters "
				     "(head -c 24 /dev/urandom | base64)",
				     args->key_file, KEY_LEAST_BYTES);
	return MESSAGE_OK;
}

/* ---- checking ---- */

/* verb and path begin the line: "cannot scrub 'x.data'". */
static int check(const struct scrub_args *args, const char *verb, const char *path,
		 const struct capture *c, const struct source *file)
{
	struct patterns p = { .count = 0 };
	struct scrub_verify_found f;
	int status = compile(&args->checks, "check", REG_ICASE, &p), err;

	if (!status) {
		err = scrubcheck(c, file, p.list, p.count, &f);
		if (err)
			status = message_error("cannot %s '%s': %s", verb, path, strerror(-err));
		else if (f.text_count)
			status = message_error("cannot %s '%s': '%s' is in it, first in %s: '%.*s' "
					       "(texts: %" PRIu64
					       "; --comm, --symbol and --word hide more)",
					       verb, path, args->checks.values[f.pattern], f.place,
					       (int)f.text_bytes, f.text, f.text_count);
		else if (f.unread_count)
			status = message_error("cannot %s '%s': %" PRIu64
					       " parts of it are unreadable and may hold anything",
					       verb, path, f.unread_count);
	}
	patterns_done(&p);
	return status;
}

static int check_output(const struct scrub_args *args, int fd)
{
	struct source file;
	struct capture *c;
	struct stat st;
	void *data;
	int status;

	if (fstat(fd, &st))
		return message_cannot_write(args->output, -errno);
	/* No other process has this file yet. */
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return message_error("cannot check '%s': %s", args->output, strerror(errno));
	source_of_bytes(data, (size_t)st.st_size, &file);
	if (capture_from_bytes(data, (size_t)st.st_size, &c, NULL)) {
		status = message_error("cannot check '%s': it is no capture", args->output);
	} else {
		status = check(args, "write", args->output, c, &file);
		capture_close(c);
	}
	munmap(data, (size_t)st.st_size);
	return status;
}

static int check_input(const struct scrub_args *args, const struct capture *c)
{
	struct source file;
	int err = source_open(args->input, &file, NULL), status;

	if (err)
		return message_error("cannot check '%s': %s", args->input, strerror(-err));
	status = check(args, "pass", args->input, c, &file);
	source_done(&file);
	if (!status && !args->quiet)
		message_note("'%s' has no such text in any part of it", args->input);
	return status;
}

/* ---- what was done ---- */

static void list_left(struct text_table *v, const struct scrub_left *left)
{
	static const char *const columns[] = { "kind", "times", "name" };
	struct scrub_left_text one;

	text_table_begin(v, "left", columns, sizeof(columns) / sizeof(columns[0]));
	for (enum scrub_left_kind kind = SCRUB_LEFT_NONE + 1; kind < SCRUB_LEFT_KINDS; kind++) {
		for (size_t i = 0; scrub_left_get(left, kind, i, &one); i++) {
			text_table_row(v);
			text_table_text(v, "kind", scrub_left_kind_name(kind));
			text_table_number(v, "times", one.times);
			text_table_text(v, "name", one.text);
		}
	}
	text_table_end(v);
}

static int list(const struct scrub_args *args, const struct pseudonyms *p,
		const struct scrub_left *left)
{
	static const char *const columns[] = { "kind", "times", "was", "is" };
	struct pseudonym one;
	struct text_table *v;

	if (text_table_open(stdout, args->json, &v))
		return message_error("cannot list the names of '%s': %s", args->input,
				     strerror(ENOMEM));
	text_table_begin(v, "replaced", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; pseudonyms_get(p, i, &one); i++) {
		text_table_row(v);
		text_table_text(v, "kind", pseudonym_kind_name(one.kind));
		text_table_number(v, "times", one.times);
		text_table_text(v, "was", one.word);
		text_table_text(v, "is", one.instead);
	}
	text_table_end(v);
	list_left(v, left);
	return text_table_close(v) ? message_error("cannot list the names of '%s': %s", args->input,
						   strerror(ENOMEM))
				   : MESSAGE_OK;
}

/* ---- what is still in it ---- */

/* The first names that are in the new capture, but for those that are pseudonyms, and how many there are. */
static size_t list_comms(const struct scrub_left *left, char *out, size_t room)
{
	struct scrub_left_text comm;
	size_t count = 0, used = 0;

	out[0] = '\0';
	for (; scrub_left_get(left, SCRUB_LEFT_COMM, count, &comm); count++)
		if (count < COMMS_SHOWN && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s", used ? ", " : "",
						 comm.text);
	return count;
}

static size_t count_objects(const struct capture *c, enum ebx_kind kind)
{
	size_t count, found = 0;
	const struct capture_object *o = capture_objects(c, &count);

	for (size_t i = 0; i < count; i++)
		found += o[i].kind == kind;
	return found;
}

static void print_left(const struct scrub_args *args, const struct capture *c,
		       const struct scrub *s, const struct scrub_opts *o)
{
	const struct scrub_seen *seen = scrub_get_seen(s);
	char comms[COMMS_SHOWN * (SCRUB_SEEN_COMM_BYTES + 2)];
	size_t count = list_comms(scrub_get_left(s), comms, sizeof(comms));

	if (args->quiet)
		return;
	if (count)
		message_note("still in it: names of programs and threads (%zu): %s%s%s", count,
			     comms, count > COMMS_SHOWN ? ", ... (--list prints all)" : "",
			     args->comms.count ? "" : " (--comm hides some)");
	if (seen->path_count)
		message_note("still in it: paths of %zu files%s", seen->path_count,
			     o->wanted[PSEUDONYM_HOME] ? ", none below /home" : "");
	if (count_objects(c, EBX_SYMTAB) || count_objects(c, EBX_FILE))
		message_note(
			"still in it: names of functions of the kernel, of JIT compilers and interpreters, "
			"and of %zu bundled files (--symbol hides some)",
			seen->bundled_count);
	if (count_objects(c, EBX_MOUNTS))
		message_note("still in it: mounts of file systems (--list prints them)");
	message_note("still in it: texts of marks (--word, --check); build-ids of files; ids of "
		     "processes, users and groups; sizes; times since the machine was started%s%s",
		     o->times ? "" : ", the time of day",
		     o->machine ? "; how many CPUs there are" : "; kernel and CPU");
}

/*
 * Names of functions in hidden files would be lost, were none bundled first, and those in others would be found
 * on this machine alone.  A capture that is not complete can have no new ones.
 */
static bool needs_names(const struct scrub_args *args, const struct capture *c,
			const struct scrub *s)
{
	if (args->without_names || scrub_get_seen(s)->bundled_count)
		return false;
	if (scrub_get_seen(s)->hidden_count)
		return true;
	if (capture_get_kind(c) != CAPTURE_EBX)
		return false; /* perf's file has no room for them */
	if (bundle_names_can(c))
		return true;
	if (!args->quiet)
		message_note("'%s' is not complete, so no names of functions are bundled "
			     "('ebprec recover' first, for other machines to have them)",
			     args->input);
	return false;
}

/* The files that samples are in, and how many of them are on this machine. */
struct found_names {
	size_t file_count, hidden_count, lost_count; /* lost: hidden, and not on this machine */
	const char *lost_example;
};

static struct found_names count_found(const struct scrub *s, const struct bundle_names *names)
{
	struct found_names n = { .file_count = 0 };

	for (size_t i = 0; i < names->files.ids.count; i++) {
		const struct bundle_head *head = bundle_head(names->files.files[i].bundle);
		bool hidden = scrub_hides_path(s, head->file.path);

		n.hidden_count += hidden;
		if (head->trust != NAME_BY_NOTHING) {
			n.file_count++;
		} else if (hidden) {
			n.lost_count++;
			n.lost_example = head->file.path;
		}
	}
	return n;
}

static int report_found(const struct scrub_args *args, const struct found_names *n)
{
	if (n->lost_count && n->lost_count == n->hidden_count)
		return message_error(
			"cannot scrub '%s': its files with hidden names are not on this machine, as %s, and no "
			"program could name their functions afterwards (files: %zu; run 'ebprec bundle' where "
			"it was recorded, or give --without-names)",
			args->input, n->lost_example, n->lost_count);
	if (n->lost_count)
		message_note("names of functions in %zu of %zu hidden files are lost: these files "
			     "are not on this machine, as %s",
			     n->lost_count, n->hidden_count, n->lost_example);
	if (n->file_count && !args->quiet)
		message_note("bundled first: names of functions in %zu files", n->file_count);
	return MESSAGE_OK;
}

static void print_done(const struct scrub_args *args, const struct scrub *s,
		       const struct rewrite_stats *stats)
{
	const struct scrub_stats *did = scrub_get_stats(s);
	uint64_t words[PSEUDONYM_KINDS] = { 0 }, times[PSEUDONYM_KINDS] = { 0 };
	struct pseudonym one;

	if (stats->bad_blocks)
		message_note("'%s' is damaged: %" PRIu32 " parts of it are unreadable, skipping",
			     args->input, stats->bad_blocks);
	if (did->lost_caller_count)
		message_note(
			"callers of user functions are lost in %" PRIu64
			" samples: they were in copies of stacks, which are blanked; the functions where the "
			"samples are stay",
			did->lost_caller_count);
	if (args->quiet)
		return;
	for (size_t i = 0; pseudonyms_get(scrub_pseudonyms(s), i, &one); i++) {
		words[one.kind]++;
		times[one.kind] += one.times;
	}
	for (unsigned k = 0; k < PSEUDONYM_KINDS; k++)
		if (words[k])
			message_note("%s: %" PRIu64 " word%s in %" PRIu64 " place%s",
				     pseudonym_kind_name(k), words[k], words[k] == 1 ? "" : "s",
				     times[k], times[k] == 1 ? "" : "s");
	if (did->command_line_count)
		message_note("command lines: %" PRIu64 " arguments and texts removed",
			     did->command_line_count);
	if (did->stack_count)
		message_note("copies of user stacks and registers: %" PRIu64 " blanked",
			     did->stack_count);
	if (did->moved_count)
		message_note("addresses: %" PRIu64 " moved", did->moved_count);
	if (did->hardware_count)
		message_note("branch stacks, physical addresses and AUX data: %" PRIu64 " blanked",
			     did->hardware_count);
	if (did->raw_count)
		message_note("data of events that no field is for: %" PRIu64 " blanked",
			     did->raw_count);
	if (did->dropped_count)
		message_note(
			"not understood: %" PRIu64
			" records, objects and sections left out (--keep-unknown leaves them in)",
			did->dropped_count);
	message_note("wrote '%s': %" PRIu64 " samples and events, %" PRIu64 " KiB", args->output,
		     stats->sample_count, stats->file_bytes >> 10);
}

static int write_output(const struct scrub_args *args, const struct capture *c, struct scrub *s,
			const struct scrub_opts *o)
{
	struct rewrite_opts how = { .edit = scrub_edit(s) };
	struct rewrite_stats stats;
	struct result_file *to;
	int err, status = cmd_begin_capture(args->output, args->checks.count, &to);

	if (status)
		return status;
	err = rewrite_capture(c, result_file_fd(to), &how, &stats);
	if (!err)
		err = scrub_error(s);
	if (err == -ENOTSUP)
		status = message_error("cannot scrub '%s': there are no events in it", args->input);
	else if (err)
		status = message_cannot_write(args->output, err);
	else if (args->checks.count)
		status = check_output(args, result_file_fd(to));
	if (status) {
		result_file_abort(to);
		return status;
	}
	status = cmd_place_capture(to, args->output, false, args->quiet);
	if (status)
		return status;
	print_done(args, s, &stats);
	print_left(args, c, s, o);
	return args->list ? list(args, scrub_pseudonyms(s), scrub_get_left(s)) : MESSAGE_OK;
}

/* With the names that were found: a copy in memory has them, and is scrubbed. */
static int write_with(const struct scrub_args *args, const struct capture *c,
		      const struct scrub_opts *o, struct bundle_names *names)
{
	struct rewrite_opts how = { .add = bundle_names_write,
				    .add_arg = names,
				    .replaces_symbols = true };
	struct capture *copy = NULL;
	struct scrub *s = NULL;
	struct rewrite_stats stats;
	void *data = MAP_FAILED;
	int fd = memfd_create("ebprec-scrub", MFD_CLOEXEC), err = fd < 0 ? -errno : 0, status;

	if (!err)
		err = rewrite_capture(c, fd, &how, &stats);
	if (!err) {
		data = mmap(NULL, stats.file_bytes, PROT_READ, MAP_SHARED, fd, 0);
		err = data == MAP_FAILED ? -errno
					 : capture_from_bytes(data, stats.file_bytes, &copy, NULL);
	}
	if (!err)
		err = scrub_new(copy, o, &s);
	status = err ? message_error("cannot bundle names for '%s': %s", args->input,
				     strerror(-err))
		     : write_output(args, copy, s, o);
	scrub_free(s);
	capture_close(copy);
	if (data != MAP_FAILED)
		munmap(data, stats.file_bytes);
	if (fd >= 0)
		close(fd);
	return status;
}

static int bundle_and_write(const struct scrub_args *args, const struct capture *c, struct scrub *s,
			    const struct scrub_opts *o)
{
	struct bundle_names names = { 0 };
	struct found_names n;
	int err, status;

	if (!bundle_names_can(c))
		return message_error(
			"cannot scrub '%s': it is not complete, and names of functions in its hidden files, as in %s, "
			"must be bundled before ('ebprec recover' first, or give --without-names)",
			args->input, scrub_get_seen(s)->hidden_example);
	err = bundle_names_find(c, &args->names, args->quiet, &names);
	if (err) {
		status = message_error("cannot bundle names for '%s': %s", args->input,
				       strerror(-err));
	} else {
		n = count_found(s, &names);
		status = report_found(args, &n);
	}
	if (!status)
		status = n.file_count ? write_with(args, c, o, &names)
				      : write_output(args, c, s, o);
	bundle_merge_done(&names.files);
	return status;
}

static int scrub_capture(const struct scrub_args *args, const struct capture *c,
			 const struct scrub_opts *o)
{
	struct scrub *s = NULL;
	int status, err = scrub_new(c, o, &s);

	if (err == -EOVERFLOW)
		return message_error(
			"cannot scrub '%s': it has more than %u names of users, hosts and containers, or one of more than "
			"%u bytes (leave one of these kinds with --keep)",
			args->input, SCRUB_TEXT_WORDS_MAX, SCRUB_TEXT_WORD_BYTES_MAX);
	if (err)
		return message_error("cannot scrub '%s': %s", args->input, strerror(-err));
	if (!needs_names(args, c, s)) {
		status = write_output(args, c, s, o);
	} else if (capture_get_kind(c) != CAPTURE_EBX) {
		message_note(
			"functions of files whose paths are hidden will have no names: perf's file has "
			"no room for them (files: %zu)",
			scrub_get_seen(s)->hidden_count);
		status = write_output(args, c, s, o);
	} else {
		status = bundle_and_write(args, c, s, o);
	}
	scrub_free(s);
	return status;
}

static int scrub(const struct scrub_args *args, const struct capture *c)
{
	struct patterns comms = { .count = 0 }, symbols = { .count = 0 }, checks = { .count = 0 };
	struct scrub_opts o = { .erase = args->erase,
				.unknown = args->keep_unknown,
				.list_left = args->list,
				.words = args->words.values,
				.word_count = args->words.count };
	int status = choose(args, &o);

	if (!status)
		status = compile(&args->comms, "comm", 0, &comms);
	if (!status)
		status = compile(&args->symbols, "symbol", 0, &symbols);
	if (!status) /* before the work */
		status = compile(&args->checks, "check", REG_ICASE, &checks);
	patterns_done(&checks);
	if (!status)
		status = read_key(args, o.key);
	if (!status) {
		o.comms = (struct scrub_patterns){ comms.list, comms.count };
		o.symbols = (struct scrub_patterns){ symbols.list, symbols.count };
		status = scrub_capture(args, c, &o);
	}
	patterns_done(&comms);
	patterns_done(&symbols);
	return status;
}

int cmd_scrub(int argc, char **argv)
{
	struct scrub_args args = { .names = NAME_OPTIONS_DEFAULTS };
	struct capture *c;
	char **words;
	int status;

	if (!usage_parse(&scrub_usage, &args, argc, argv, 0, 1, &words, &status))
		return status;
	status = cmd_input(&scrub_usage, words, &args.input);
	if (status)
		return status;
	if (!args.output && !args.checks.count)
		return usage_error(&scrub_usage, "'ebprec scrub' needs '--output FILE'");
	status = cmd_open_capture(args.input, &c);
	if (status)
		return status;
	status = args.output ? cmd_new_capture(c, args.input, args.output) : check_input(&args, c);
	if (!status && args.output)
		status = scrub(&args, c);
	capture_close(c);
	return status;
}
