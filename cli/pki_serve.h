// SPDX-License-Identifier: BSD-3-Clause
//
// weft pki serve and weft pki ask: certificates over the network for who has a token. Both run a
// loop of their own until they are done; sys/pki_serve.h does the work.
#pragma once

// Run what follows the words on the command line. An exit status (cli/run.h).
int pki_serve_run(int argc, char **argv);
int pki_ask_run(int argc, char **argv);
