#!/usr/bin/env python3
"""Reads a session as docs/format/journal.md describes it, and verifies every byte: reader.py FOLDER, the session's,
or reader.py --export FILE. It prints one JSON object, and exits 1 when it found damage. It needs Python 3.8 and
libzstd, or Python 3.14."""
import base64, bisect, ctypes, ctypes.util, hashlib, json, os, re, struct, sys

MAX_FRAME, HEADER, CRC = 1 << 20, 72, []
SUM = re.compile(rb',"sum":"([0-9a-f]{64})"\}')
FRAME = re.compile(rb'\{"frame":1,"seq":([1-9][0-9]*)(,"more":true)?,"prev":"([0-9a-f]{64})","entry":(\{.*\})', re.S)
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CRC.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def decompress(payload, size):
    if sys.version_info >= (3, 14):
        from compression import zstd
        return zstd.decompress(payload) if payload else b""
    lib = ctypes.CDLL(ctypes.util.find_library("zstd"))
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size + 1)
    n = lib.ZSTD_decompress(out, ctypes.c_size_t(size), payload, ctypes.c_size_t(len(payload)))
    return out.raw[:n] if n <= size else b""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def whole(line):
    """The parts of a frame whose sum is right: seq, more, prev, entry, sum. None for anything else."""
    head, tail = FRAME.fullmatch(line[:-74]), SUM.fullmatch(line[-74:])
    if head and tail and len(line) < MAX_FRAME and sha256(line[:-74] + b"}") == tail[1].decode():
        return int(head[1]), bool(head[2]), head[3], json.loads(head[4].decode("utf-8", "replace")), tail[1]


class Session:
    def __init__(self):
        self.entries, self.prev, self.more = [], b"0" * 64, False
        self.damage, self.rebuilt, self.refs = [], 0, []

    def damaged(self, name, offset, cause):
        self.damage.append({"file": name, "offset": offset, "cause": cause})

    def step(self, line):
        """Takes the next line, or says why not."""
        seq, more, prev, entry, total = whole(line) or (0, False, b"", None, b"")
        if seq != len(self.entries) + 1 or prev != self.prev:
            return "it does not follow the entry before it" if seq else "not a frame"
        self.entries.append(entry)
        self.prev, self.more = total, more

    def read_entries(self, folder):
        names, done = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl")), 0
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                *lines, rest = f.read().split(b"\n")
            if name != "%012d.jsonl" % (len(self.entries) + 1):
                return self.damaged("entries/" + name, 0, "what must stand before it is missing")
            at = 0
            for line in lines:
                if cause := self.step(line):
                    return self.damaged("entries/" + name, at, cause)
                at, done = at + len(line) + 1, done if self.more else len(self.entries)
            part = rest.rstrip(b"\0")
            ended = any(whole(part[:m.end()]) for m in SUM.finditer(part) if m.end() < len(part))
            if ended or len(part) > MAX_FRAME or name != names[-1] and (rest or self.more):
                return self.damaged("entries/" + name, at, "no line end")
        del self.entries[done:]  # of an append that was interrupted

    def read_log(self, name):
        self.records, literal, at, lost = {}, 0, 0, False
        self.data = open(name, "rb").read() if os.path.exists(name) else b""
        while at < len(self.data):
            r = self.header(at)
            if r and (r["start"] == literal or lost and r["start"] > literal):
                if r["end"] > len(self.data):
                    break  # interrupted
                self.records[at], literal, at, lost = r, r["start"] + r["literal"], r["end"], False
            elif not any(self.data[at + HEADER - 1:]):
                break  # interrupted
            else:
                self.damaged("bodies/literals.log", at, "not a record")
                found = (self.header(m.start()) and m.start() for m in re.finditer(b"AMB1", self.data) if m.start() > at)
                sound = (i for i in found if i and self.header(i)["start"] >= literal and self.header(i)["end"] <= len(self.data))
                at, lost = next(sound, len(self.data)), True
        for at, r in self.records.items():
            payload = self.data[at + HEADER:r["end"]]
            text = decompress(payload, r["literal"] + r["extents"]) if crc32c(payload) == r["crc"] else b""
            r["text"] = text if len(text) == r["literal"] + r["extents"] else None
            if r["text"] is None and (at != max(self.records) or at in [ref["at"] for ref in self.refs]):
                self.damaged("bodies/literals.log", at, "the payload is not what was written")
        self.rows = list(self.records.values())
        self.starts = [r["start"] for r in self.rows]
        self.rebuilt = sum(self.rebuilds(ref) for ref in self.refs)

    def header(self, at):
        head = self.data[at:at + HEADER]
        if len(head) < HEADER or head[:4] != b"AMB1" or crc32c(head[:68]) != struct.unpack_from("<I", head, 68)[0]:
            return None
        r = dict(zip(("payload", "start", "literal", "extents", "size", "sum", "crc"), struct.unpack_from("<IQIIQ32sI", head, 4)))
        return {"end": at + HEADER + r["payload"], **r}

    def rebuilds(self, ref):
        r = self.records.get(ref["at"])
        if not r or r["text"] is None or r["size"] != ref["bytes"] or r["sum"].hex() != ref["sha256"]:
            return False
        body, at, codes = b"", r["start"], varints(r["text"][r["literal"]:])
        for delta, length in zip(codes, codes):
            at += delta >> 1 ^ -(delta & 1)
            part = self.literal(at, length)
            body, at = body + part, at + length
        return len(body) == ref["bytes"] and sha256(body) == ref["sha256"]

    def literal(self, start, length):
        out, i = b"", bisect.bisect_right(self.starts, start) - 1
        while i >= 0 and i < len(self.rows) and len(out) < length and self.rows[i]["text"] is not None:
            text = self.rows[i]["text"][:self.rows[i]["literal"]]
            skip, i = start + len(out) - self.starts[i], i + 1
            out += text[skip:skip + length - len(out)]
        return out

    def read_export(self, name):
        bodies, at = set(), 0
        for line in open(name, "rb"):
            cause = "no line end"
            if line.startswith(b'{"body":'):
                try:
                    b = json.loads(line)
                    text = base64.b64decode(b["base64"]) if "base64" in b else b.get("text", "").encode()
                    ok = len(text) == b["body"]["bytes"] and sha256(text) == b["body"]["sha256"]
                    cause = None if ok else "the body is not what its name says"
                    bodies.add(json.dumps(b["body"]))
                except (ValueError, KeyError, TypeError) as err:
                    cause = str(err)
            elif line.endswith(b"\n"):
                cause = self.step(line[:-1])
            if cause:
                return self.damaged(name, at, cause)
            at += len(line)
        self.rebuilt = sum(json.dumps(ref) in bodies for ref in self.bodies())

    def bodies(self):
        self.refs = [e["body"] for e in self.entries if e["kind"] in ("request", "response") and "body" in e]
        return self.refs


def varints(data):
    value = shift = 0
    for byte in data:
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            yield value
            value = shift = 0


def main(name, export=None):
    s = Session()
    if export:
        s.read_export(export)
    else:
        s.read_entries(os.path.join(name, "entries"))
        s.bodies()
        s.read_log(os.path.join(name, "bodies", "literals.log"))
    sound = not s.damage and s.rebuilt == len(s.refs)
    counts = {"entries": len(s.entries), "bodies": len(s.refs), "rebuilt": s.rebuilt}
    print(json.dumps({**counts, "sound": sound, "damage": s.damage}))
    sys.exit(not sound)


main(*sys.argv[1:])
