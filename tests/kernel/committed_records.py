# SPDX-License-Identifier: Apache-2.0
"""The records that a perf.data has by its header, read without code of perftape. The file may be
one that a recorder still writes, or that a killed one has left."""

import struct
import subprocess

SAMPLE, COMPRESSED = 9, 81


def records(data):
    """Yields (type, payload) of each record in `data`, which must contain whole records only."""
    at = 0
    while at < len(data):
        kind, _, length = struct.unpack_from("<IHH", data, at)
        assert length >= 8 and at + length <= len(data), f"torn record at {at:#x}"
        yield kind, data[at + 8:at + length]
        at += length


def committed_records(path):
    """Returns (type, body) of the records in [data.offset, data.offset + data.size)."""
    data = path.read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 40)
    assert offset + size <= len(data), f"data.size runs ahead of the {len(data)} bytes of data"
    found = list(records(data[offset:offset + size]))
    stream = b"".join(payload for kind, payload in found if kind == COMPRESSED)
    if stream:
        stream += b"\1\0\0"  # an empty last block, which ends the frame
        done = subprocess.run(["zstd", "-dcq"], input=stream, capture_output=True, check=True)
        found += records(done.stdout)
    return found


def committed_samples(path):
    return sum(kind == SAMPLE for kind, _ in committed_records(path))
