// SPDX-License-Identifier: BSD-3-Clause
//
// What may come next on a command line, for the completion of a shell: words of the command table,
// options and their values, switches, ports. Candidates are printed one per line; what cannot be
// asked for is left out without a word.
#pragma once

// `argv` are the words behind the program's name up to the cursor, the last of them begun or empty.
void complete_print(int argc, char **argv);
