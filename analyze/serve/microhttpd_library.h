/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * microhttpd_library - libmicrohttpd, loaded when something is to be received
 *
 * It brings libraries for TLS, which no other command needs (compare curl_library.h).
 */
#ifndef EBPREC_ANALYZE_SERVE_MICROHTTPD_LIBRARY_H
#define EBPREC_ANALYZE_SERVE_MICROHTTPD_LIBRARY_H

#include <microhttpd.h>

/* The functions, as its manual has them. */
struct microhttpd_library {
	void *handle;
	struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port,
					   MHD_AcceptPolicyCallback accept, void *accept_arg,
					   MHD_AccessHandlerCallback handler, void *arg, ...);
	void (*stop_daemon)(struct MHD_Daemon *daemon);
	enum MHD_Result (*run)(struct MHD_Daemon *daemon);
	enum MHD_Result (*get_timeout)(struct MHD_Daemon *daemon, unsigned long long *timeout_ms);
	const union MHD_DaemonInfo *(*get_daemon_info)(struct MHD_Daemon *daemon,
						       enum MHD_DaemonInfoType type, ...);
	const char *(*lookup_connection_value)(struct MHD_Connection *c, enum MHD_ValueKind kind,
					       const char *key);
	const union MHD_ConnectionInfo *(*get_connection_info)(struct MHD_Connection *c,
							       enum MHD_ConnectionInfoType type,
							       ...);
	struct MHD_Response *(*create_response_from_buffer)(size_t size_bytes, void *bytes,
							    enum MHD_ResponseMemoryMode mode);
	enum MHD_Result (*add_response_header)(struct MHD_Response *r, const char *name,
					       const char *value);
	enum MHD_Result (*queue_response)(struct MHD_Connection *c, unsigned status,
					  struct MHD_Response *r);
	void (*destroy_response)(struct MHD_Response *r);
};

/* -ENOENT: there is no libmicrohttpd.so.12 that has them all, or no loader.  It stays loaded. */
int microhttpd_library_open(struct microhttpd_library *out);

#endif
