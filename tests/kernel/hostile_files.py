# SPDX-License-Identifier: Apache-2.0
"""What another user can prepare to keep a recorder of root busy: ELF files whose tables cost hours or
gigabytes, programs that execute them, and a file system that stops answering.

    python3 hostile_files.py run FILE        executes the code of a file of write_elf, as nobody
    python3 hostile_files.py serve DIR FILE STOP
                                             serves FILE as DIR/program, until STOP exists"""

import ctypes
import mmap
import os
import struct
import sys

TEXT = 0x1000  # offset and address of the code: an endless loop
FRAMES = 0x2000
CODE = bytes([0x31, 0xC0, 0xFF, 0xC0, 0xEB, 0xFC])
NAMES = b"\0.text\0.eh_frame\0.shstrtab\0.symtab\0.strtab\0"
MIB = 1 << 20
NOBODY = 65534


def uleb(number):
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def entry(body):
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def common_entry(instructions=b"\x0c\x07\x08\x90\x01", letters=b"zR"):
    return entry(struct.pack("<I", 0) + b"\1" + letters + b"\0\1\x78\x10\1\x1b" + instructions)


def frame_entry(offset, start, size, instructions):
    where = start - (FRAMES + offset + 8)
    return entry(struct.pack("<IiI", offset + 4, where, size) + b"\0" + instructions)


def function_of(instructions):
    """A function of 2 GiB with these instructions."""
    common = common_entry()
    return common + frame_entry(len(common), TEXT, 0x7FFFFFFF, instructions)


def many_functions(count, instructions):
    common = common_entry()
    frames, offset = [common], len(common)
    for _ in range(count):
        frames.append(frame_entry(offset, TEXT, 0xFFF, instructions))
        offset += len(frames[-1])
    return b"".join(frames)


def section(name, kind, flags, address, offset, size, link=0, entry_size=0):
    at = NAMES.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
    return struct.pack("<IIQQQQIIQQ", at, kind, flags, address, offset, size, link, 0, 1, entry_size)


def write_elf(path, frames=b"", frame_sections=None, others=(), segments=1):
    """`frame_sections` are (offset, size) of sections .eh_frame, `others` are whole headers."""
    frame_sections = frame_sections or [(FRAMES, len(frames))]
    end = max([FRAMES + len(frames)] + [offset + size for offset, size in frame_sections])
    names_at = end + 15 & ~15
    headers_at = names_at + len(NAMES) + 15 & ~15
    sections = [section("", 0, 0, 0, 0, 0), section(".text", 1, 6, TEXT, TEXT, 0x1000)]
    sections += [section(".eh_frame", 1, 2, offset, offset, size) for offset, size in frame_sections]
    sections += others
    sections += [section(".shstrtab", 3, 0, 0, names_at, len(NAMES))]
    number = len(sections)
    if number >= 0xFF00:  # section 0 has the numbers (gABI, "Extended Section Numbering")
        sections[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, number, number - 1, 0, 0, 0)
    program = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 1 << 40, 1 << 40, 0x1000)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, headers_at, 0, 64, 56, segments, 64,
        0 if number >= 0xFF00 else number, 0xFFFF if number >= 0xFF00 else number - 1)
    with open(path, "wb") as file:
        file.write(header + program * segments)
        for offset, contents in ((TEXT, CODE), (FRAMES, frames), (names_at, NAMES),
                                 (headers_at, b"".join(sections))):
            file.seek(offset)
            file.write(contents)
    os.chmod(path, 0o755)


def write_same_sections(path):
    write_elf(path, frame_sections=[(FRAMES, 64 * MIB)] * 60000)


def write_shifted_sections(path):
    write_elf(path, frame_sections=[(FRAMES + 8 * i, 64 * MIB) for i in range(60000)])


def write_hole(path):
    write_elf(path, frame_sections=[(FRAMES, 16 << 30)])


def write_functions(path):
    write_elf(path, many_functions(200000, b"\x41\x0e\x10\x41\x0e\x18"))


def write_rows(path):
    write_elf(path, function_of(b"\x41\x0e\x10\x41\x0e\x18" * (2 * MIB)))


def write_rules(path):
    write_elf(path, function_of(b"".join(b"\x41\x0e" + uleb(16 + 8 * i) for i in range(MIB))))


def write_common_entries(path):
    write_elf(path, common_entry() * MIB)


def write_long_common_entry(path):
    write_elf(path, common_entry(b"\x0e\x10" * (8 * MIB)))


def write_letters(path):
    write_elf(path, common_entry(letters=b"z" + b"R" * (16 * MIB)))


def write_symbol_tables(path):
    """60,000 symbol tables of the same hole, whose names are in a hole without an end."""
    tables = [section(".symtab", 2, 0, 0, FRAMES, 64 * MIB, link=2, entry_size=24)] * 60000
    write_elf(path, frame_sections=[(FRAMES, 64 * MIB)], others=tables)


ELF_KINDS = {
    "sections that name the same bytes": write_same_sections,
    "sections that overlap": write_shifted_sections,
    "a hole": write_hole,
    "functions": write_functions,
    "rows": write_rows,
    "rules": write_rules,
    "common entries": write_common_entries,
    "a long common entry": write_long_common_entry,
    "an augmentation": write_letters,
    "symbol tables": write_symbol_tables,
}


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def execute(path):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                          ctypes.c_long]
    with open(path, "rb") as file:
        start = libc.mmap(None, FRAMES, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE,
                          file.fileno(), 0)
    os.nice(19)  # the innocent program keeps its share of the CPU
    become_nobody()
    print("runs", flush=True)
    ctypes.CFUNCTYPE(None)(start + TEXT)()


def execute_generated(directory):
    """Runs code in memory of no file, as a JIT compiler's, with `directory` as its own /tmp."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, private, bind = 0x20000, 0x44000, 0x1000
    if (libc.unshare(new_mounts) != 0 or libc.mount(None, b"/", None, private, None) != 0
            or libc.mount(directory.encode(), b"/tmp", None, bind, None) != 0):
        raise OSError(ctypes.get_errno(), "mount")
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code[:2] = b"\xeb\xfe"  # an endless loop
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    become_nobody()
    print("runs", flush=True)
    ctypes.CFUNCTYPE(None)(start)()


# The protocol of /dev/fuse (linux/fuse.h).
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, BATCH_FORGET = (
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 42)
SILENT = (LOOKUP, GETATTR, OPEN, READ, STATFS, FLUSH)


def attributes(node, size):
    mode = 0o40755 if node == 1 else 0o100755
    return struct.pack("<QQQQQQIIIIIIIIII", node, 0 if node == 1 else size, 8, 0, 0, 0, 0, 0, 0, mode,
                       1, 0, 0, 0, 4096, 0)


def answer(contents, operation, node, payload):
    """Returns (error, bytes)."""
    if operation == INIT:
        return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 0x20000, 0, 16, 12, 0x20000, 1, 32, 0,
                              *[0] * 8)[:64]
    if operation == LOOKUP:
        if payload.split(b"\0")[0] != b"program":
            return 2, b""
        return 0, struct.pack("<QQQQII", 2, 0, 0, 0, 0, 0) + attributes(2, len(contents))
    if operation == GETATTR:
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(node, len(contents))
    if operation in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 0, 0, 0)
    if operation == READ:
        _, offset, size = struct.unpack("<QQI", payload[:20])
        return 0, contents[offset:offset + size]
    if operation == STATFS:
        return 0, struct.pack("<QQQQQIIII24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
    return (0, b"") if operation in (RELEASE, FLUSH) else (38, b"")


def serve(directory, source, stop):
    with open(source, "rb") as file:
        contents = file.read()
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"test", directory.encode(), b"fuse.test", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    print("mounted", flush=True)
    while True:
        try:
            request = os.read(device, MIB)
        except InterruptedError:
            continue
        except OSError:
            return  # unmounted
        _, operation, unique, node = struct.unpack("<IIQQ", request[:24])
        if operation in (FORGET, BATCH_FORGET) or (operation in SILENT and os.path.exists(stop)):
            continue
        error, reply = answer(contents, operation, node, request[40:])
        os.write(device, struct.pack("<IiQ", 16 + len(reply), -error, unique) + reply)


def unmount(directory):
    lazily = 2  # MNT_DETACH
    ctypes.CDLL(None).umount2(str(directory).encode(), lazily)


if __name__ == "__main__":
    {"run": execute, "generate": execute_generated, "serve": serve}[sys.argv[1]](*sys.argv[2:])
