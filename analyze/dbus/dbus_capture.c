/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/dbus/dbus_capture.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/base/cursor.h"

#define LINK_DBUS 231

enum { NS_PER_US = 1000, NS_PER_S = 1000000000 };

enum { PCAP_HEADER_BYTES = 24, PCAP_PACKET_BYTES = 16 };

#define PCAP_MAGIC_US 0xa1b2c3d4u
#define PCAP_MAGIC_NS 0xa1b23c4du

enum {
	NG_BLOCK_BYTES = 12, /* of a block without content: type, length, and the length again */
	NG_INTERFACE_BYTES = 8,
	NG_PACKET_BYTES = 20,
	NG_INTERFACES_MAX = 16,
};

#define NG_SECTION        0x0a0d0d0au
#define NG_INTERFACE      1u
#define NG_PACKET         6u
#define NG_BYTE_ORDER     0x1a2b3c4du
#define NG_OPTION_TSRESOL 9

struct reading {
	const uint8_t *bytes;
	size_t size_bytes, at;
	bool is_big;
	int (*fn)(void *arg, uint64_t wall_ns, const struct dbus_message *m);
	void *arg;
	struct dbus_capture_stats *stats;
	uint64_t unit_ns
		[NG_INTERFACES_MAX]; /* of the times of an interface; 0: it is not of D-Bus */
	size_t interface_count;
};

static uint32_t u32_at(const struct reading *r, size_t at)
{
	uint32_t value = le32_load(r->bytes + at);

	return r->is_big ? __builtin_bswap32(value) : value;
}

static uint16_t u16_at(const struct reading *r, size_t at)
{
	uint16_t value = le16_load(r->bytes + at);

	return r->is_big ? __builtin_bswap16(value) : value;
}

static int add_packet(struct reading *r, uint64_t wall_ns, size_t at, size_t packet_bytes)
{
	struct dbus_message m;

	if (dbus_message_parse(r->bytes + at, packet_bytes, &m)) {
		r->stats->bad_count++;
		return 0;
	}
	r->stats->message_count++;
	return r->fn(r->arg, wall_ns, &m);
}

/* ---- pcap ---- */

static int read_pcap(struct reading *r, uint32_t unit_ns)
{
	int err = 0;

	if (r->size_bytes < PCAP_HEADER_BYTES)
		return -EBADMSG;
	if ((u32_at(r, 20) & 0xffff) != LINK_DBUS)
		return -EPROTONOSUPPORT;
	r->at = PCAP_HEADER_BYTES;
	while (!err && r->size_bytes - r->at >= PCAP_PACKET_BYTES) {
		uint64_t wall_ns = (uint64_t)u32_at(r, r->at) * NS_PER_S +
				   (uint64_t)u32_at(r, r->at + 4) * unit_ns;
		size_t packet_bytes = u32_at(r, r->at + 8), at = r->at + PCAP_PACKET_BYTES;

		if (packet_bytes > r->size_bytes - at)
			break;
		err = add_packet(r, wall_ns, at, packet_bytes);
		r->at = at + packet_bytes;
	}
	return err;
}

/* ---- pcapng ---- */

/* Of the option if_tsresol: a power of ten; other units are not believed.  Without it: microseconds. */
static uint64_t find_unit_ns(const struct reading *r, size_t at, size_t end)
{
	static const uint64_t units[] = { NS_PER_S, 100000000, 10000000, 1000000, 100000,
					  10000,    1000,      100,      10,      1 };
	size_t option_bytes;

	for (; end - at >= 4; at += option_bytes) {
		option_bytes = 4 + (u16_at(r, at + 2) + 3u) / 4 * 4;
		if (!u16_at(r, at) || option_bytes > end - at)
			break;
		if (u16_at(r, at) != NG_OPTION_TSRESOL || !u16_at(r, at + 2))
			continue;
		return r->bytes[at + 4] < sizeof(units) / sizeof(units[0]) ? units[r->bytes[at + 4]]
									   : 0;
	}
	return NS_PER_US;
}

static void add_interface(struct reading *r, size_t at, size_t end)
{
	if (r->interface_count == NG_INTERFACES_MAX)
		return;
	r->unit_ns[r->interface_count++] = end - at >= NG_INTERFACE_BYTES &&
							   u16_at(r, at) == LINK_DBUS
						   ? find_unit_ns(r, at + NG_INTERFACE_BYTES, end)
						   : 0;
}

static int add_block_packet(struct reading *r, size_t at, size_t end)
{
	uint32_t interface;
	uint64_t units, wall_ns;
	size_t packet_bytes;

	if (end - at < NG_PACKET_BYTES)
		return 0;
	interface = u32_at(r, at);
	units = (uint64_t)u32_at(r, at + 4) << 32 | u32_at(r, at + 8);
	packet_bytes = u32_at(r, at + 12);
	at += NG_PACKET_BYTES;
	if (interface >= r->interface_count || !r->unit_ns[interface] || packet_bytes > end - at ||
	    __builtin_mul_overflow(units, r->unit_ns[interface], &wall_ns)) {
		r->stats->bad_count++;
		return 0;
	}
	return add_packet(r, wall_ns, at, packet_bytes);
}

/* Each section has an order of bytes, and interfaces. */
static bool begin_section(struct reading *r, size_t left_bytes)
{
	if (left_bytes < NG_BLOCK_BYTES + 4)
		return false;
	r->is_big = false;
	r->is_big = u32_at(r, r->at + 8) != NG_BYTE_ORDER;
	r->interface_count = 0;
	return u32_at(r, r->at + 8) == NG_BYTE_ORDER;
}

static int read_block(struct reading *r, uint32_t type, size_t block_bytes)
{
	size_t at = r->at + 8, end = r->at + block_bytes - 4;

	if (type == NG_INTERFACE)
		add_interface(r, at, end);
	return type == NG_PACKET ? add_block_packet(r, at, end) : 0;
}

static int read_pcapng(struct reading *r)
{
	int err = 0;

	while (!err && r->size_bytes - r->at >= NG_BLOCK_BYTES) {
		uint32_t type = u32_at(r, r->at); /* a section's is the same in both orders */
		size_t left_bytes = r->size_bytes - r->at, block_bytes;

		if (type == NG_SECTION && !begin_section(r, left_bytes))
			break;
		block_bytes = u32_at(r, r->at + 4);
		if (block_bytes < NG_BLOCK_BYTES || block_bytes % 4 || block_bytes > left_bytes)
			break;
		err = read_block(r, type, block_bytes);
		r->at += block_bytes;
	}
	if (!err && !r->at)
		return -EBADMSG;
	return !err && !r->stats->message_count && r->stats->bad_count ? -EPROTONOSUPPORT : err;
}

int dbus_capture_read(const uint8_t *bytes, size_t size_bytes,
		      int (*fn)(void *arg, uint64_t wall_ns, const struct dbus_message *m),
		      void *arg, struct dbus_capture_stats *stats)
{
	struct reading r = {
		.bytes = bytes, .size_bytes = size_bytes, .fn = fn, .arg = arg, .stats = stats
	};
	uint32_t magic;
	int err;

	*stats = (struct dbus_capture_stats){ 0 };
	if (size_bytes < 4)
		return -EBADMSG;
	magic = u32_at(&r, 0);
	r.is_big = magic == __builtin_bswap32(PCAP_MAGIC_US) ||
		   magic == __builtin_bswap32(PCAP_MAGIC_NS);
	magic = u32_at(&r, 0);
	if (magic == NG_SECTION)
		err = read_pcapng(&r);
	else if (magic == PCAP_MAGIC_US || magic == PCAP_MAGIC_NS)
		err = read_pcap(&r, magic == PCAP_MAGIC_NS ? 1 : NS_PER_US);
	else
		err = -EBADMSG;
	stats->cut_bytes = size_bytes - r.at;
	return err;
}
