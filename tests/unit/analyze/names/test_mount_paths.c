/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mountinfo: where paths lead, and where else the same is seen, by texts of many machines */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/names/mount_paths.h"

static struct mount_paths *parse(const char *text)
{
	struct mount_paths *m;

	assert_int_equal(mount_paths_parse(text, strlen(text), &m), 0);
	return m;
}

static int collect(void *ctx, const char *path)
{
	char *all = ctx;

	strcat(all, path);
	strcat(all, "\n");
	return 0;
}

/* "TYPE MAJOR:MINOR PATH" of where a path leads; "nowhere". */
static const char *lead(const char *text, const char *path)
{
	static char mount_text[512];
	struct mount_paths *m = parse(text);
	char *inside;
	const struct mount *mount = mount_paths_find(m, path, &inside);

	if (!mount) {
		mount_paths_free(m);
		return "nowhere";
	}
	snprintf(mount_text, sizeof(mount_text), "%s %u:%u %s", mount->type, mount->dev_major,
		 mount->dev_minor, inside);
	free(inside);
	mount_paths_free(m);
	return mount_text;
}

/* The candidates for a path of one namespace in another: a path a line. */
static const char *candidates(const char *ns_text, const char *host_text, const char *path)
{
	static char all[4096];
	struct mount_paths *ns = parse(ns_text), *host = parse(host_text);
	const struct mount *mount;
	char *inside;

	all[0] = '\0';
	mount = mount_paths_find(ns, path, &inside);
	if (mount) {
		mount_paths_seen(host, mount, inside, collect, all);
		mount_paths_layers(mount, inside, collect, all);
		free(inside);
	}
	mount_paths_free(ns);
	mount_paths_free(host);
	return all;
}

#define HOST                                                              \
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"         \
	"23 22 0:21 / /proc rw shared:2 - proc proc rw\n"                 \
	"24 22 8:2 / /var rw shared:3 - ext4 /dev/sda2 rw\n"              \
	"25 22 0:30 /@home /home rw - btrfs /dev/sda3 rw,subvol=/@home\n" \
	"26 22 0:30 / /mnt/pool rw - btrfs /dev/sda3 rw,subvol=/\n"

static void mountinfo_paths_lead_to_file_systems(void **state)
{
	assert_string_equal(lead(HOST, "/usr/bin/app"), "ext4 8:1 /usr/bin/app");
	assert_string_equal(lead(HOST, "/"), "ext4 8:1 /");
	assert_string_equal(lead(HOST, "/var/lib/x"), "ext4 8:2 /lib/x");
	assert_string_equal(lead(HOST, "/var"), "ext4 8:2 /");
	assert_string_equal(lead(HOST, "/variable"), "ext4 8:1 /variable");
	assert_string_equal(lead(HOST, "/home/me/app"), "btrfs 0:30 /@home/me/app");
	assert_string_equal(lead(HOST, "home/me"), "nowhere");
}

static void mountinfo_later_mounts_hide_earlier_ones(void **state)
{
	/* Twice on one point: the second hangs on the first. */
	static const char twice[] = "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /m rw - ext4 b rw\n"
				    "3 2 8:3 / /m rw - ext4 c rw\n";
	/* /m/sub was mounted before /m: it cannot be reached any more. */
	static const char below[] = "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /m/sub rw - ext4 b rw\n"
				    "3 1 8:3 / /m rw - ext4 c rw\n";
	/* A new root over the old one, as switch_root makes it. */
	static const char root[] = "1 1 0:1 / / rw - rootfs none rw\n2 1 8:1 / / rw - ext4 a rw\n"
				   "3 2 8:2 / /usr rw - ext4 b rw\n";

	assert_string_equal(lead(twice, "/m/x"), "ext4 8:3 /x");
	assert_string_equal(lead(below, "/m/sub/x"), "ext4 8:3 /sub/x");
	assert_string_equal(lead(root, "/usr/x"), "ext4 8:2 /x");
	assert_string_equal(lead(root, "/x"), "ext4 8:1 /x");
	/* Seen from elsewhere only where it is not hidden. */
	assert_string_equal(candidates("1 0 8:2 / / rw - ext4 b rw\n", below, "/x"), "");
	assert_string_equal(candidates("1 0 8:2 / / rw - ext4 b rw\n", HOST, "/x"), "/var/x\n");
}

static void mountinfo_bind_mounts_and_subvolumes_are_seen_elsewhere(void **state)
{
	static const char ns[] = "1 0 8:2 /lib/jail / rw - ext4 /dev/sda2 rw\n"
				 "2 1 8:1 /opt/app /app ro - ext4 /dev/sda1 rw\n"
				 "3 1 0:30 /@home/me /me rw - btrfs /dev/sda3 rw\n";

	assert_string_equal(candidates(ns, HOST, "/bin/x"), "/var/lib/jail/bin/x\n");
	assert_string_equal(candidates(ns, HOST, "/app/x"), "/opt/app/x\n");
	assert_string_equal(candidates(ns, HOST, "/me/x"), "/home/me/x\n/mnt/pool/@home/me/x\n");
}

static void mountinfo_names_may_hold_anything(void **state)
{
	static const char text[] = "1 0 8:1 / / rw - ext4 a rw\n"
				   "2 1 8:2 / /a\\040b\\134c\\011d\\012e\\043f rw - ext4 b rw\n"
				   "3 1 8:3 /with\\040blank /m rw opt:1 opt:2 - ext4 c\\040d rw\n"
				   "4 1 8:4 / /no\\049octal\\ rw - ext4 d rw\n";

	assert_string_equal(lead(text, "/a b\\c\td\ne#f/x"), "ext4 8:2 /x");
	assert_string_equal(lead(text, "/m/x"), "ext4 8:3 /with blank/x");
	assert_string_equal(lead(text, "/no\\049octal\\/x"), "ext4 8:4 /x");
}

static void mountinfo_layers_come_topmost_first(void **state)
{
	static const struct {
		const char *options, *want;
	} cases[] = {
		{ "rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w",
		  "/u/bin/x\n/l1/bin/x\n/l2/bin/x\n" },
		{ "rw,upperdir=/u", "/u/bin/x\n" },
		{ "ro,lowerdir=/only", "/only/bin/x\n" },
		/* as podman and docker have it: short names below the storage */
		{ "rw,lowerdir=l/AB:l/CD,upperdir=/var/s/overlay/ID/diff,workdir=/w",
		  "/var/s/overlay/ID/diff/bin/x\n/var/s/overlay/l/AB/bin/x\n"
		  "/var/s/overlay/l/CD/bin/x\n" },
		/* colons and backslashes of names are escaped, and all that once more by mountinfo */
		{ "rw,lowerdir=/a\\134:b:/c\\134\\134d:/e\\040f,upperdir=/u\\054v",
		  "/u,v/bin/x\n/a:b/bin/x\n/c\\d/bin/x\n/e f/bin/x\n" },
		{ "rw,lowerdir+=/l1,lowerdir+=/l2,datadir+=/d",
		  "/l1/bin/x\n/l2/bin/x\n/d/bin/x\n" },
		{ "rw,lowerdir=/l1::/data1::/data2", "/l1/bin/x\n/data1/bin/x\n/data2/bin/x\n" },
		{ "rw,lowerdir=relative", "" },
		{ "rw,lowerdir=", "" },
		{ "rw,lowerdir", "" },
		{ "", "" },
	};
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "1 0 0:50 / / rw - overlay overlay %s\n",
			 cases[i].options);
		if (strcmp(candidates(text, HOST, "/bin/x"), cases[i].want) != 0)
			fail_msg("%s:\n%s", cases[i].options, candidates(text, HOST, "/bin/x"));
	}
	/* Options of other file systems are no layers. */
	assert_string_equal(candidates("1 0 0:50 / / rw - tmpfs x rw,lowerdir=/l\n", HOST, "/x"),
			    "");
}

static void mountinfo_passes_over_what_is_no_line(void **state)
{
	static const char *const broken[] = {
		"",
		"\n",
		"text\n",
		"1\n",
		"1 0\n",
		"1 0 8:1\n",
		"1 0 8 / / rw - ext4 a rw\n",
		"1 0 8:1 / /\n",
		"1 0 8:1 / / rw\n",
		"1 0 8:1 / / rw -\n",
		"1 0 8:1 / / rw - ext4\n",
		"-1 0 8:1 / / rw - ext4 a rw\n",
		"1 0 8:1 net:[4026] /run/ns rw - nsfs nsfs rw\n",
		"1 0 8:1 / relative rw - ext4 a rw\n",
		"99999999999 0 8:1 / / rw - ext4 a rw\n",
		"1 0 8:x / / rw - ext4 a rw\n",
	};
	struct mount_paths *m;
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		if (mount_paths_parse(broken[i], strlen(broken[i]), &m) != -ENOENT)
			fail_msg("taken: %s", broken[i]);
		snprintf(text, sizeof(text), "%s7 0 8:9 / / rw - ext4 a", broken[i]);
		assert_string_equal(lead(text, "/x"), "ext4 8:9 /x");
	}
	mount_paths_free(NULL);
}

/* The recorder adds the layers of a fuse-overlayfs; without them there are none. */
static void mountinfo_fuse_overlays_have_layers_when_recorded(void **state)
{
	static const char with_layers[] = "1 0 0:44 / / rw - fuse.fuse-overlayfs fuse-overlayfs "
					  "rw,user_id=0,lowerdir=/a\\054b:/c,upperdir=/d\n";
	static const char without_layers[] =
		"1 0 0:44 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0\n";

	assert_string_equal(candidates(with_layers, HOST, "/x"), "/d/x\n/a,b/x\n/c/x\n");
	assert_string_equal(candidates(without_layers, HOST, "/x"), "");
}

/* Mounts that hang on each other in a ring, and many on one point. */
static void mountinfo_rings_end(void **state)
{
	static const char ring[] = "1 2 8:1 / / rw - ext4 a rw\n2 1 8:2 / / rw - ext4 b rw\n";
	char *many = malloc(1 << 20);
	size_t used = 0;
	int i;

	assert_string_not_equal(lead(ring, "/x"), "");
	for (i = 1; i < 3000; i++)
		used += (size_t)sprintf(many + used, "%d %d 8:%d / / rw - ext4 a rw\n", i, i - 1,
					i);
	assert_string_not_equal(lead(many, "/x"), "nowhere");
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mountinfo_paths_lead_to_file_systems),
		cmocka_unit_test(mountinfo_later_mounts_hide_earlier_ones),
		cmocka_unit_test(mountinfo_bind_mounts_and_subvolumes_are_seen_elsewhere),
		cmocka_unit_test(mountinfo_names_may_hold_anything),
		cmocka_unit_test(mountinfo_layers_come_topmost_first),
		cmocka_unit_test(mountinfo_fuse_overlays_have_layers_when_recorded),
		cmocka_unit_test(mountinfo_passes_over_what_is_no_line),
		cmocka_unit_test(mountinfo_rings_end),
	};

	return cmocka_run_group_tests_name("mountinfo", tests, NULL, NULL);
}
