// SPDX-License-Identifier: BSD-3-Clause
//
// Both ends of `enrol` (schema/fabric.rpc). The key is written before anything is asked: a token is
// not used up for a certificate that cannot be kept.

#include "sys/pki_serve.h"

#include <errno.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/fabric.gen.h"
#include "sys/file_read.h"
#include "sys/log.h"
#include "sys/pki.h"
#include "sys/pki_dir.h"
#include "sys/rpc_client.h"

enum { CONNECTIONS_MAX = 64, TIMEOUT_MS = 30000, PEM_MAX = 1 << 20, LINE_BYTES = 256 };

// --- the server ----------------------------------------------------------------------------------

struct pki_server {
	struct rpc_server *rpc;
	char dir[FILE_REPLACE_PATH_BYTES];
};

static int add_file(const struct pki_server *server, const char *name,
		    int (*set)(struct rpc_enrol_reply *reply, const void *data, size_t bytes),
		    struct rpc_enrol_reply *reply)
{
	const struct pki pki = { .dir = server->dir };
	char *text;
	size_t bytes;
	int rc = file_read(pki_path(&pki, name, ".pem").text, PEM_MAX, &text, &bytes);

	if (rc == 0)
		rc = set(reply, text, bytes);
	free(text);
	return rc;
}

static void reply_files(const struct pki_server *server, struct rpc_call *call, const char *name)
{
	struct rpc_enrol_reply reply = { 0 };

	if (add_file(server, name, rpc_enrol_reply_set_certificate, &reply) == 0 &&
	    add_file(server, "authority", rpc_enrol_reply_set_authority, &reply) == 0 &&
	    add_file(server, "revoked", rpc_enrol_reply_set_revoked, &reply) == 0)
		rpc_reply(call, &reply);
	else
		rpc_refuse(call, 503, "the certificate cannot be read");
	rpc_enrol_reply_clear(&reply);
}

static void on_enrol(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_enrol *enrol = request;
	const struct pki_server *server = arg;
	char line[LINE_BYTES] = "";
	char name[TLS_NAME_BYTES];
	FILE *errors = fmemopen(line, sizeof(line), "w");
	int rc = -ENOMEM;

	// The reply ends the call, and what belongs to it.
	snprintf(name, sizeof(name), "%s", enrol->name);
	if (errors != NULL) {
		rc = pki_enrol(server->dir, enrol->name, enrol->token, enrol->request.data,
			       enrol->request.size, errors);
		fclose(errors);
	}
	line[strcspn(line, "\n")] = '\0';
	if (rc == 0) {
		log_info("pki: %s has got its certificate", name);
		reply_files(server, call, name);
	} else {
		log_warn("pki: refused: %s", line);
		rpc_refuse(call, 403, line);
	}
}

static const struct rpc_method methods[] = {
	{ "enrol", &rpc_enrol_message, &rpc_enrol_reply_message, on_enrol, NULL },
};

struct pki_server *pki_server_open(struct event_base *base, const char *dir, const char *address)
{
	struct pki_server *server = calloc(1, sizeof(*server));
	struct tls_files files;
	const struct rpc_server_options options = {
		.address = address,
		.tls = &files,
		.guests = true,
		.connection_max = CONNECTIONS_MAX,
	};

	if (server == NULL)
		return NULL;
	snprintf(server->dir, sizeof(server->dir), "%s", dir);
	if (tls_files_in(dir, TLS_MANAGER_NAME, &files))
		server->rpc = rpc_server_open(base, &options, methods, 1, server);
	if (server->rpc != NULL)
		return server;
	free(server);
	return NULL;
}

void pki_server_close(struct pki_server *server)
{
	if (server == NULL)
		return;
	rpc_server_close(server->rpc);
	free(server);
}

uint16_t pki_server_port(const struct pki_server *server)
{
	return rpc_server_port(server->rpc);
}

// --- who asks ------------------------------------------------------------------------------------

struct asking {
	struct event_base *base;
	struct pki pki; // the directory alone
	const struct pki_invitation *invitation;
	int rc;
};

static int write_file(const struct pki *pki, const char *name, const struct rpc_bytes *bytes)
{
	const struct path path = pki_path(pki, name, ".pem");
	struct file_replace replace;
	int rc = file_replace_open(&replace, path.text);

	if (rc == 0) {
		fwrite(bytes->data, 1, bytes->size, replace.file);
		rc = file_replace_finish(&replace);
	}
	return rc < 0 ? pki_complain_errno(pki, path.text, rc) : 0;
}

static void on_done(void *arg, int error, const void *reply, const char *why)
{
	const struct rpc_enrol_reply *got = reply;
	struct asking *asking = arg;
	const struct pki *pki = &asking->pki;

	asking->rc = error;
	if (error < 0)
		pki_complain(pki, asking->invitation->address, why, error);
	if (asking->rc == 0)
		asking->rc = write_file(pki, "authority", &got->authority);
	if (asking->rc == 0)
		asking->rc = write_file(pki, "revoked", &got->revoked);
	if (asking->rc == 0)
		asking->rc = write_file(pki, asking->invitation->name, &got->certificate);
	event_base_loopbreak(asking->base);
}

// A request for the key, as DER.
static int make_request(const struct pki_invitation *invitation, EVP_PKEY *key,
			struct rpc_enrol *enrol)
{
	X509_REQ *request = pki_make_request(invitation->name, key);
	unsigned char *der = NULL;
	const int bytes = request != NULL ? i2d_X509_REQ(request, &der) : -1;
	int rc = bytes > 0 ? rpc_enrol_set_request(enrol, der, (size_t)bytes) : -ENOMEM;

	if (rc == 0)
		rc = rpc_enrol_set_name(enrol, invitation->name);
	if (rc == 0)
		rc = rpc_enrol_set_token(enrol, invitation->token);
	OPENSSL_free(der);
	X509_REQ_free(request);
	return rc;
}

static int call(struct asking *asking, EVP_PKEY *key)
{
	const struct rpc_client_options options = { .address = asking->invitation->address,
						    .timeout_ms = TIMEOUT_MS,
						    .fingerprint =
							    asking->invitation->fingerprint };
	struct rpc_client *client = rpc_client_open(asking->base, &options);
	struct rpc_enrol enrol = { 0 };
	const struct rpc_call_out out = {
		"enrol", &rpc_enrol_message, &enrol, &rpc_enrol_reply_message, 0, on_done, asking
	};

	asking->rc = client == NULL ? -EINVAL : make_request(asking->invitation, key, &enrol);
	if (asking->rc == 0)
		asking->rc = rpc_client_call(client, &out);
	if (asking->rc == 0)
		event_base_dispatch(asking->base);
	rpc_enrol_clear(&enrol);
	rpc_client_close(client);
	return asking->rc;
}

// What came has to be usable, with the key that is here.
static int check_files(const struct asking *asking)
{
	struct tls_files files;
	SSL_CTX *context = NULL;

	if (tls_files_in(asking->pki.dir, asking->invitation->name, &files))
		context = tls_open(&files, false, asking->pki.errors);
	SSL_CTX_free(context);
	return context != NULL ? 0 : -EBADMSG;
}

int pki_ask(struct event_base *base, const char *dir, const struct pki_invitation *invitation,
	    FILE *errors)
{
	struct asking asking = {
		base, { .dir = dir, .errors = errors, .lock = -1 }, invitation, 0
	};
	EVP_PKEY *key = pki_make_key();
	int rc = pki_check_name(&asking.pki, invitation->name);

	if (rc == 0)
		rc = pki_make_directory(&asking.pki, dir);
	if (rc == 0)
		rc = key != NULL ? pki_write_key(&asking.pki, invitation->name, key) : -ENOMEM;
	if (rc == 0) {
		rc = call(&asking, key);
		if (rc == 0)
			rc = check_files(&asking);
		else
			unlink(pki_path(&asking.pki, invitation->name, ".key").text);
	}
	EVP_PKEY_free(key);
	return rc;
}
