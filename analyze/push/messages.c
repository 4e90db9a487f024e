/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/messages.h"

#include <errno.h>
#include <sys/socket.h>

#include "analyze/push/forms/batch.h"

/* In the byte order of the machine, as both are this program; sendmsg() and recvmsg() are what the sandbox leaves. */
struct head {
	uint32_t kind, target;
	uint64_t number, size_bytes;
};

static int send_all(int socket, const void *data, size_t size_bytes)
{
	ssize_t n;

	for (size_t done = 0; done<size_bytes; done += n> 0 ? (size_t)n : 0) {
		struct iovec rest = { (char *)(uintptr_t)data + done, size_bytes - done };
		const struct msghdr m = { .msg_iov = &rest, .msg_iovlen = 1 };

		n = sendmsg(socket, &m, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

int push_message_send(int socket, uint32_t kind, uint32_t target, uint64_t number,
		      const void *bytes, size_t size_bytes)
{
	const struct head head = { kind, target, number, size_bytes };
	int err = send_all(socket, &head, sizeof(head));

	return err ? err : send_all(socket, bytes, size_bytes);
}

/* *got: how many came before the end. */
static int receive_all(int socket, void *data, size_t size_bytes, size_t *got)
{
	ssize_t n;

	for (*got = 0; *got < size_bytes;) {
		struct iovec rest = { (char *)data + *got, size_bytes - *got };
		struct msghdr m = { .msg_iov = &rest, .msg_iovlen = 1 };

		n = recvmsg(socket, &m, 0);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return 0;
		*got += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int push_message_receive(int socket, struct push_message *out)
{
	struct head head;
	uint8_t *room;
	size_t got;
	int err = receive_all(socket, &head, sizeof(head), &got);

	outbuf_clear(&out->bytes);
	if (err || !got)
		return err ? err : -ENODATA;
	if (got < sizeof(head) || head.size_bytes > PUSH_BATCH_MAX_BYTES)
		return -EBADMSG;
	out->kind = head.kind;
	out->target = head.target;
	out->number = head.number;
	room = head.size_bytes ? outbuf_reserve(&out->bytes, head.size_bytes) : NULL;
	if (head.size_bytes && !room)
		return -ENOMEM;
	err = head.size_bytes ? receive_all(socket, room, head.size_bytes, &got) : 0;
	if (err || (head.size_bytes && got < head.size_bytes))
		return err ? err : -EBADMSG;
	out->bytes.size_bytes += head.size_bytes;
	return 0;
}
