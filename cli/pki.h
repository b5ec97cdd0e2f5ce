// SPDX-License-Identifier: BSD-3-Clause
//
// weft pki: an authority for labs, whose certificates tell switches and the fabric manager from
// others. It asks no switch; sys/pki.h does the work.
#pragma once

// Runs what follows the word on the command line. An exit status (cli/run.h).
int pki_run(int argc, char **argv);
