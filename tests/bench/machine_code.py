# SPDX-License-Identifier: Apache-2.0
"""What the machine code of an x86-64 file says about call chains. Shares no code with perftape: it reads files with
pyelftools and objdump."""
import bisect
import functools
import re
import struct
import subprocess
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

# mov $__NR_rt_sigreturn, %rax; syscall: the kernel's way back from a signal handler, which nothing calls.
SIGRETURN = bytes.fromhex("48c7c00f0000000f05")
JUMP = re.compile(r"\t(?:bnd |notrack )?j\w+ +(?:0x)?([0-9a-f]+)")
INDIRECT_JUMP = re.compile(r"\t(?:bnd |notrack )?jmp +\*")
LONGEST_FUNCTION = 200_000
MOST_FUNCTIONS = 200  # that are followed for one tail call


def indirect_call_length(code, at):
    """Returns the length of `call *operand` at an index of the code, or 0."""
    if at + 1 >= len(code) or code[at] != 0xFF or (code[at + 1] >> 3) & 7 not in (2, 3):
        return 0
    mode, base = code[at + 1] >> 6, code[at + 1] & 7
    length = 2 + {0: 0, 1: 1, 2: 4, 3: 0}[mode]
    if mode != 3 and base == 4:
        length += 1
        if mode == 0 and at + 2 < len(code) and code[at + 2] & 7 == 5:
            length += 4
    elif mode == 0 and base == 5:
        length += 4
    return length


def call_before(code, end):
    """Returns the call that ends at an index of the code: the distance of its target, "indirect", or None."""
    window = code[max(0, end - 8):end].rjust(8, b"\0")
    if window[3] == 0xE8:
        return struct.unpack("<i", window[4:])[0]
    if any(indirect_call_length(window, 8 - length) == length for length in range(2, 8)):
        return "indirect"
    return None


class Binary:
    """A file of code: what is at its addresses."""

    def __init__(self, path):
        self.path = path
        self.bytes = Path(path).read_bytes()
        with open(path, "rb") as stream:
            elf = ELFFile(stream)
            self.entry = elf["e_entry"]
            self.segments = [(s["p_offset"], s["p_filesz"], s["p_vaddr"]) for s in elf.iter_segments()
                             if s["p_type"] == "PT_LOAD" and s["p_flags"] & 1]
            self.plts = [(s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in elf.iter_sections()
                         if s.name.startswith(".plt")]
            names = self.symbols_of(elf)
            self.functions = self.described_functions(elf)
            build_id = self.build_id_of(elf)
        debug_files = [Path(f"{path}.debug")]  # what it was before it was stripped
        if build_id:
            debug_files.append(Path(f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"))
        for debug in filter(Path.exists, debug_files):
            with debug.open("rb") as stream:
                names = {**self.symbols_of(ELFFile(stream)), **names}
        self.symbols = sorted((address, size, name) for address, (size, name) in names.items())

    @staticmethod
    def build_id_of(elf):
        section = elf.get_section_by_name(".note.gnu.build-id")
        for note in section.iter_notes() if section else ():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return note["n_desc"]
        return None

    @staticmethod
    def symbols_of(elf):
        """Returns the size and name of the code at each address."""
        names = {}
        for section_name in (".symtab", ".dynsym"):
            section = elf.get_section_by_name(section_name)
            for symbol in section.iter_symbols() if hasattr(section, "iter_symbols") else ():
                kind, size = symbol["st_info"]["type"], symbol["st_size"]
                is_code = kind in ("STT_FUNC", "STT_LOOS", "STT_GNU_IFUNC") or (
                    kind == "STT_NOTYPE" and (size or symbol.name.startswith("_start")))
                if is_code and symbol["st_value"] and symbol["st_shndx"] != "SHN_UNDEF":
                    names.setdefault(symbol["st_value"], (size, symbol.name))
        return names

    @staticmethod
    def described_functions(elf):
        """Returns the starts of the functions in the sorted table of .eh_frame_hdr."""
        section = elf.get_section_by_name(".eh_frame_hdr")
        if section is None:
            return []
        table = section.data()
        if len(table) < 12 or table[2] != 0x03 or table[3] != 0x3B:
            return []
        count = min(struct.unpack_from("<I", table, 8)[0], (len(table) - 12) // 8)
        return sorted(section["sh_addr"] + struct.unpack_from("<i", table, 12 + 8 * i)[0] for i in range(count))

    def address_of(self, offset):
        for start, size, address in self.segments:
            if (start & ~0xFFF) <= offset < ((start + size + 0xFFF) & ~0xFFF):
                return offset - start + address
        return None

    def offset_of(self, address):
        for start, size, begin in self.segments:
            if begin <= address < begin + size:
                return address - begin + start
        return None

    def function_at(self, address):
        index = bisect.bisect_right(self.functions, address) - 1
        return self.functions[index] if index >= 0 else None

    def symbol_at(self, address):
        last = bisect.bisect_right(self.symbols, (address, float("inf"), "")) - 1
        for index in range(last, max(-1, last - 6), -1):
            start, size, name = self.symbols[index]
            if start <= address < start + size:
                return name
        if last >= 0 and self.symbols[last][1] == 0 and address - self.symbols[last][0] < 4096:
            return self.symbols[last][2]
        if self.entry <= address < self.entry + 0x40:
            return "_start"
        return None

    def is_sigreturn(self, address):
        """Whether one of its instructions is at the address, or it ends there."""
        size, offset = len(SIGRETURN), self.offset_of(address)
        if offset is None:
            return False
        begins = (offset, offset - size + 2, offset - size)
        return any(begin >= 0 and self.bytes[begin:begin + size] == SIGRETURN for begin in begins)

    def is_plt(self, address):
        return any(begin <= address < end for begin, end in self.plts)

    @functools.lru_cache(maxsize=None)
    def jumps_from(self, start):
        """Returns where the function at an address jumps out of itself, and whether it jumps to a computed address."""
        index = bisect.bisect_right(self.functions, start)
        end = self.functions[index] if index < len(self.functions) else start + 4096
        end = min(end, start + LONGEST_FUNCTION)
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address={start:#x}",
                               f"--stop-address={end:#x}", self.path], capture_output=True, text=True).stdout
        targets = {int(found, 16) for found in JUMP.findall(text)}
        return {target for target in targets if not start <= target < end}, bool(INDIRECT_JUMP.search(text))

    def reaches_by_tail_calls(self, target, callee):
        """Whether a call of `target` can be in the function of `callee` without another frame."""
        wanted = self.function_at(callee), self.symbol_at(callee)
        seen, waiting = set(), [target]
        while waiting and len(seen) < MOST_FUNCTIONS:
            address = waiting.pop()
            if address in seen:
                continue
            seen.add(address)
            if self.function_at(address) == wanted[0] or (wanted[1] and self.symbol_at(address) == wanted[1]):
                return True
            if self.is_plt(address):
                return True
            targets, is_computed = self.jumps_from(address)
            if is_computed:
                return True
            waiting += targets
        return bool(waiting)


@functools.lru_cache(maxsize=None)
def binary(path):
    """Returns the file, or None if there is none or it is no ELF file."""
    if not path.startswith("/"):
        return None
    try:
        return Binary(path)
    except (OSError, ELFError, ValueError, KeyError):
        return None
