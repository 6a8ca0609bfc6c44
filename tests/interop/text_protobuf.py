# SPDX-License-Identifier: Apache-2.0
"""Reads protobuf's text format without its schema: every field is a list of its values.

    message = parse('events { header { type: 9 } }\\nids: 1\\nids: 2')
    message["events"][0]["header"][0]["type"] == [9]
    message["ids"] == [1, 2]

Numbers are int, strings are bytes, true and false are bool."""

import re

TOKEN = re.compile(r'\s*(?:(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|[-\w.]+)|(\w+)\s*:?\s*\{|(\}))')
ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescaped(match):
    escape = match.group(1)
    if escape[:1].isdigit():
        return bytes([int(escape, 8)])
    if escape[:1] == b"x" and len(escape) > 1:
        return bytes([int(escape[1:], 16)])
    return NAMED.get(escape, escape)


def value_of(text):
    if text.startswith('"'):
        return ESCAPE.sub(unescaped, text[1:-1].encode())
    if text in ("true", "false"):
        return text == "true"
    return int(text)


def parse(text):
    text = text.rstrip()
    message, open_messages, at = {}, [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"no field at {at}: {text[at:at + 40]!r}")
        at = token.end()
        name, value, begun, ended = token.groups()
        if name:
            message.setdefault(name, []).append(value_of(value))
        elif begun:
            inner = {}
            message.setdefault(begun, []).append(inner)
            open_messages.append(message)
            message = inner
        elif ended:
            message = open_messages.pop()
    if open_messages:
        raise ValueError("a message does not end")
    return message
