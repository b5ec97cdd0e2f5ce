#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes C of an .rpc file (libevent's syntax, plus the limits that schema/fabric.rpc explains): a
# header with a struct for each message and the functions that EVRPC_GENERATE and EVRPC_REGISTER
# expect, and a source with the tables that sys/rpc_message.c marshals by. Meson runs it; nothing
# that it writes is committed.
"""Generates NAME.gen.h and NAME.gen.c from an .rpc file."""
import argparse
import os
import re
import sys
from pathlib import Path

TAG_OPTIONAL = 64       # as RPC_TAG_OPTIONAL of sys/rpc_message.h
FIELD_MAX = 64
SIZE_MAX = 1 << 27
INT_WIRE = {'int': 5, 'int64': 9}       # a length nibble and 8 or 16 of value
C_TYPES = {'int': 'uint32_t', 'int64': 'uint64_t', 'string': 'char *', 'bytes': 'struct rpc_bytes'}
SCALES = {'': 1, 'k': 1 << 10, 'M': 1 << 20}

FIELD = re.compile(r'(?:(optional|array)\s+)?(int64|int|string|bytes|struct)(?:\[(\w+)\])?\s+(\w+)'
                   r'\s*=\s*(\d+)\s*;')
LIMIT = re.compile(r'//\s*max\s+(\d+)([kM]?)\b')


class SchemaError(Exception):
    """What is wrong with a schema, and in which line."""

    def __init__(self, line, what):
        super().__init__(what)
        self.line = line


class Field:
    def __init__(self, line, match, limit):
        self.line = line
        self.mode, self.type, self.of, self.name, tag = match.groups()
        self.tag = int(tag)
        self.limit = limit

    @property
    def kind(self):
        """What LOCK records of a field: everything that its bytes depend on."""
        of = f'[{self.of}]' if self.of else ''
        return f'{self.mode + " " if self.mode else ""}{self.type}{of}'

    @property
    def is_fixed(self):
        return self.type == 'bytes' and self.of is not None


class Message:
    def __init__(self, line, name, limit):
        self.line, self.name, self.limit, self.fields = line, name, limit, []


def limit_of(line, text):
    m = LIMIT.search(text)
    if not m:
        return None
    value = int(m[1]) * SCALES[m[2]]
    if not 0 < value <= SIZE_MAX:
        raise SchemaError(line, f'a limit is 1 to {SIZE_MAX}')
    return value


def check_field(message, field, known):
    def fail(what):
        raise SchemaError(field.line, f'{message.name}.{field.name}: {what}')

    needs_limit = field.mode == 'array' or field.type == 'string' or \
        (field.type == 'bytes' and not field.is_fixed)
    if needs_limit != (field.limit is not None):
        fail('needs a limit, "// max N"' if needs_limit else 'has a limit, but its size is fixed')
    if field.mode == 'array' and field.type in ('string', 'bytes'):
        fail('an array of these is not possible: wrap them in a struct')
    if field.type == 'struct' and field.of not in known:
        fail(f'struct {field.of} does not stand above it')
    if field.type in ('int', 'int64', 'string') and field.of:
        fail(f'{field.type} takes no [{field.of}]')
    if field.is_fixed and not (field.of.isdigit() and 0 < int(field.of) <= 4096):
        fail('bytes[N] has 1 to 4096 bytes')
    if field.tag == 0 or field.tag >= 1 << 28:
        fail('a tag is 1 to 2^28 - 1')
    if field.tag >= TAG_OPTIONAL and field.mode is None:
        fail(f'tags from {TAG_OPTIONAL} on may be skipped, so their fields are optional')


def check_message(message, known):
    seen = {}
    if not message.fields or len(message.fields) > FIELD_MAX:
        raise SchemaError(message.line, f'{message.name} has no fields, or more than {FIELD_MAX}')
    for field in message.fields:
        check_field(message, field, known)
        for what in (field.tag, field.name):
            if what in seen:
                raise SchemaError(field.line, f'{message.name}: {what} stands in line {seen[what]} too')
            seen[what] = field.line
    message.fields.sort(key=lambda f: f.tag)


def parse(text):
    """The messages of a schema; a struct stands above those that hold it, so none holds itself."""
    messages, current = {}, None
    for line, raw in enumerate(text.split('\n'), 1):
        code = raw.split('//')[0].strip()
        if not code:
            continue
        if m := re.fullmatch(r'struct (\w+)\s*\{', code):
            if current or m[1] in messages:
                raise SchemaError(line, f'struct {m[1]} begins in another, or twice')
            current = Message(line, m[1], limit_of(line, raw))
            if current.limit is None:
                raise SchemaError(line, f'{m[1]} needs a limit, "// max N"')
        elif code == '}' and current:
            check_message(current, messages)
            messages[current.name], current = current, None
        elif current and (m := FIELD.fullmatch(code)):
            current.fields.append(Field(line, m, limit_of(line, raw)))
        else:
            raise SchemaError(line, f'cannot read "{code}"')
    if current or not messages:
        raise SchemaError(line, 'ends inside a struct, or has none')
    return list(messages.values())


class Writer:
    """C of the messages; `prefix` goes before every name, so that two schemas fit in a program."""

    def __init__(self, messages, prefix, source, header):
        self.messages = messages
        self.limits = {m.name: m.limit for m in messages}
        self.prefix, self.source, self.header = prefix, source, header

    def name(self, message):
        return self.prefix + message

    def c_type(self, field):
        return f'struct {self.name(field.of)}' if field.type == 'struct' else \
            'uint8_t' if field.is_fixed else C_TYPES[field.type]

    def member(self, field):
        c_type = self.c_type(field)
        if field.mode == 'array':
            return f'\t{c_type} *{field.name}; // at most {field.limit}\n' \
                   f'\tuint32_t {field.name}_count;\n'
        gap = '' if c_type.endswith('*') else ' '
        size = f'[{field.of}]' if field.is_fixed else ''
        note = f' // at most {field.limit} bytes' if field.limit else ''
        return f'\t{c_type}{gap}{field.name}{size};{note}\n\tbool has_{field.name};\n'

    def setter(self, message, index, field):
        name = self.name(message.name)
        row = f'&{name}_message.field[{index}]'
        if field.mode == 'array':
            c_type = self.c_type(field)
            return f'static inline {c_type} *{name}_add_{field.name}(struct {name} *message)\n' \
                   f'{{\n\treturn rpc_add({row}, message);\n}}\n\n'
        if field.type == 'string':
            return f'static inline int {name}_set_{field.name}(struct {name} *message, ' \
                   f'const char *text)\n{{\n\treturn rpc_set_string({row}, message, text);\n}}\n\n'
        if field.type == 'bytes' and not field.is_fixed:
            return f'static inline int {name}_set_{field.name}(struct {name} *message, ' \
                   'const void *data,\n\tsize_t size)\n' \
                   f'{{\n\treturn rpc_set_bytes({row}, message, data, size);\n}}\n\n'
        return ''

    def functions(self, message):
        name = self.name(message.name)
        table = f'&{name}_message'
        rows = [
            ('void *', 'new_with_arg', 'void *unused', f'return rpc_message_new({table});'),
            ('void ', 'free', f'struct {name} *message', f'rpc_message_free({table}, message);'),
            ('void ', 'clear', f'struct {name} *message', f'rpc_message_clear({table}, message);'),
            ('int ', 'complete', f'struct {name} *message',
             f'return rpc_message_complete({table}, message);'),
            ('void ', 'marshal', f'struct evbuffer *out, const struct {name} *message',
             f'rpc_message_marshal({table}, message, out);'),
            ('int ', 'unmarshal', f'struct {name} *message, struct evbuffer *in',
             f'return rpc_message_unmarshal({table}, message, in);'),
        ]
        return ''.join(f'static inline {kind}{name}_{verb}({args})\n{{\n\t{body}\n}}\n\n'
                       for kind, verb, args, body in rows)

    def struct(self, message):
        name = self.name(message.name)
        members = ''.join(map(self.member, message.fields))
        setters = ''.join(self.setter(message, i, f) for i, f in enumerate(message.fields))
        return f'struct {name} {{\n{members}}};\n\nextern const struct rpc_message {name}_message;' \
               f'\n\n{self.functions(message)}{setters}'

    def row(self, message, field):
        name = self.name(message.name)
        c_type = self.c_type(field)
        is_array = field.mode == 'array'
        has = f'{field.name}_count' if is_array else f'has_{field.name}'
        wire = int(field.of) if field.is_fixed else self.limits[field.of] \
            if field.type == 'struct' else INT_WIRE.get(field.type, field.limit)
        kind = 'FIXED' if field.is_fixed else field.type.upper()
        cells = [f'.tag = {field.tag}', f'.type = RPC_{kind}', f'.size_max = {wire}',
                 f'.size = sizeof({c_type}{f"[{field.of}]" if field.is_fixed else ""})',
                 f'.value_at = offsetof(struct {name}, {field.name})',
                 f'.has_at = offsetof(struct {name}, {has})']
        if is_array:
            cells += ['.is_array = true', f'.count_max = {field.limit}']
        if field.mode == 'optional':
            cells.append('.is_optional = true')
        if field.type == 'struct':
            cells.append(f'.of = &{self.name(field.of)}_message')
        return '\t{ // ' + field.name + '\n' + ''.join(f'\t\t{c},\n' for c in cells) + '\t},\n'

    def table(self, message):
        name = self.name(message.name)
        rows = ''.join(self.row(message, f) for f in message.fields)
        return f'static const struct rpc_field {name}_fields[] = {{\n{rows}}};\n\n' \
               f'const struct rpc_message {name}_message = {{\n\t.size = sizeof(struct {name}),\n' \
               f'\t.size_max = {message.limit},\n\t.field_count = {len(message.fields)},\n' \
               f'\t.field = {name}_fields,\n}};\n\n'

    def note(self):
        return f'// Generated by devtools/rpcgen.py from {self.source}: do not edit.\n'

    def header_text(self):
        return self.note() + '#pragma once\n\n#include "sys/rpc_message.h"\n\n' + \
            ''.join(map(self.struct, self.messages)).rstrip('\n') + '\n'

    def source_text(self):
        return self.note() + f'#include "{self.header}"\n\n' + \
            ''.join(map(self.table, self.messages)).rstrip('\n') + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('schema')
    parser.add_argument('header')
    parser.add_argument('source')
    parser.add_argument('--prefix', default='', help='goes before the name of every message')
    args = parser.parse_args()
    try:
        messages = parse(Path(args.schema).read_text())
    except SchemaError as error:
        sys.exit(f'{args.schema}:{error.line}: error: {error}')
    writer = Writer(messages, args.prefix, os.path.basename(args.schema),
                    os.path.basename(args.header))
    Path(args.header).write_text(writer.header_text())
    Path(args.source).write_text(writer.source_text())


if __name__ == '__main__':
    main()
