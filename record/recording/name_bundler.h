/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * name_bundler - has the analyzer put names into a capture that was just made, write a page of it, or put
 * in the lines of the journal or the messages of a bus
 *
 * The recorder itself looks up no symbol.  `ebprec` is looked for beside this program, then in
 * ../../bin as `make install` puts it, and is run as the same user.  It needs rights that the
 * recorder gives up when events come, so its process is forked before that, keeps these and no others, and waits.
 * Messages of a bus are lost unless they are heard when they are sent: then it runs at once, and waits for the capture.
 */
#ifndef EBPREC_RECORD_RECORDING_NAME_BUNDLER_H
#define EBPREC_RECORD_RECORDING_NAME_BUNDLER_H

#include <stdbool.h>
#include <sys/types.h>

struct name_bundler {
	pid_t pid; /* 0: none */
	int go_fd;
	bool listens; /* name_bundler_fork_dbus(): it runs already */
};

/*
 * The process that will run `ebprec bundle -q PATH`, with --debug-dir DIR if that is there by then.
 * -ENOENT: there is no ebprec; else errno.
 */
int name_bundler_fork(struct name_bundler *b, const char *path, const char *dir);
/*
 * Whether the page can be written, as far as it is known before: by its folder, and what is there already.  0, or
 * the errno, as the user that called sudo has it.
 */
int name_bundler_check_page(const char *html);
/* The process that will run `ebprec report -q --html HTML`, which runs as the user that called sudo. */
int name_bundler_fork_page(struct name_bundler *b, const char *path, const char *html);
/*
 * The process that will run `ebprec journal -q PATH`.  priority, units: of its options; NULL: not given, else borrowed
 * until it was forked.
 */
int name_bundler_fork_journal(struct name_bundler *b, const char *path, const char *priority,
			      const char *units);
/*
 * Runs `ebprec dbus -q PATH --bus BUS`, which listens from now on, and waits until it does.  -EIO: it cannot, and has printed
 * why; -ETIMEDOUT.
 */
int name_bundler_fork_dbus(struct name_bundler *b, const char *path, const char *bus);
/*
 * Has it run for each file of the recording, rotated_file_path() of first to last, and waits for it.  Files that were removed
 * are skipped.  has_dir: a bundle's folder is there; of a journal or a bus, true.  -EIO: it failed and has printed why.
 */
int name_bundler_run(struct name_bundler *b, unsigned first, unsigned last, bool has_dir);
/* A process that was not to run ends.  A zeroed struct is fine. */
void name_bundler_done(struct name_bundler *b);

#endif
