"""Just enough of ELF to see whether the dynamic loader has a say in a program."""

import struct

ELF_MAGIC = b"\x7fELF"
PT_INTERP = 3
PROGRAM_HEADERS = {
    1: struct.Struct("28xI10xHH"),  # 32 bit: offset, entry size, count
    2: struct.Struct("32xQ14xHH"),
}


def is_statically_linked(path):
    """True for an ELF program without an interpreter: nothing can be preloaded into it."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:4] != ELF_MAGIC or len(head) < 64:
                return False
            return not _has_interpreter(file, head)
    except (OSError, KeyError, struct.error):
        return False


def _has_interpreter(file, head):
    order = "<" if head[5] == 1 else ">"
    layout = struct.Struct(order + PROGRAM_HEADERS[head[4]].format)
    offset, entry_size, count = layout.unpack_from(head)
    for index in range(count):
        file.seek(offset + index * entry_size)
        (kind,) = struct.unpack(order + "I", file.read(4))
        if kind == PT_INTERP:
            return True
    return False
