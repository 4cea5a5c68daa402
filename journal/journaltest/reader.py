#!/usr/bin/env python3
"""Reads a session as docs/format/journal.md describes it, and verifies every byte: reader.py FOLDER, the session's,
beside those that it goes on from, or reader.py --export FILE. It prints one JSON object, and exits 1 when it found
damage. It needs Python 3.8 and libzstd, or Python 3.14."""
import base64, bisect, collections, ctypes, ctypes.util, hashlib, json, os, re, struct, sys

MAX_FRAME, HEADER, CRC, END = 1 << 20, 72, [], 1 << 64
Frame = collections.namedtuple("Frame", "seq more prev entry sum")
BODIES = {"request": ["body"], "response": ["body"], "imported": ["body"], "decision": ["checkpoint"], "edit": ["body"],
          "sent": ["body", "refused"], "pin": ["body"], "note": ["body"]}
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
    """A frame whose sum is right. None for anything else."""
    head, tail = FRAME.fullmatch(line[:-74]), SUM.fullmatch(line[-74:])
    if head and tail and len(line) < MAX_FRAME and sha256(line[:-74] + b"}") == tail[1].decode():
        return Frame(int(head[1]), bool(head[2]), head[3].decode(), json.loads(head[4].decode("utf-8", "replace")), tail[1].decode())


def own_frames(folder, where):
    """The frames in a session's files, the place behind them, and the damage that is there: file, offset, cause."""
    names = sorted(n for n in os.listdir(folder) if n.endswith(".jsonl")) if os.path.isdir(folder) else []
    first = int(names[0][:-6]) if names and names[0][:-6].isdigit() else 1
    frames, done, place = [], 0, (where, 0)
    for name in names:
        with open(os.path.join(folder, name), "rb") as f:
            *lines, rest = f.read().split(b"\n")
        file, at, more = where + "/" + name, 0, False
        if name != "%012d.jsonl" % (first + len(frames)):
            return frames, place, (file, 0, "what must stand before it is missing")
        place = (file, 0) if frames or first == 1 else place
        for line in lines:
            frame = whole(line)
            if not frame or frame.seq != first + len(frames) or frames and frame.prev != frames[-1].sum:
                return frames, place, (file, at, "it does not follow the entry before it" if frame else "not a frame")
            frames.append(frame)
            at, more = at + len(line) + 1, frame.more
            done, place = (done, place) if more else (len(frames), (file, at))
        part = rest.rstrip(b"\0")
        ended = any(whole(part[:m.end()]) for m in SUM.finditer(part) if m.end() < len(part))
        if ended or len(part) > MAX_FRAME or name != names[-1] and (rest or more):
            return frames, place, (file, at, "no line end")
    return frames[:done], place, None  # without an append that was interrupted


def was_purged(folder):
    """Whether the last entry that is stored in a session says so; imported ones without a body may stand behind it."""
    folder, whole_append = os.path.join(folder, "entries"), False
    names = sorted(n for n in os.listdir(folder) if n.endswith(".jsonl")) if os.path.isdir(folder) else []
    for name in reversed(names):
        with open(os.path.join(folder, name), "rb") as f:
            lines = f.read().split(b"\n")[:-1]
        for frame in map(whole, reversed(lines)):
            if frame and frame.more and not whole_append:
                continue
            whole_append = True
            if not frame or frame.entry["kind"] != "imported" or "body" in frame.entry:
                return bool(frame) and frame.entry["kind"] == "purged" and not frame.entry.get("text_of")
    return False


class Session:
    def __init__(self):
        self.frames, self.logs = [], []  # and, for each, where its bodies are
        self.damage, self.rebuilt, self.refs, self.purged = [], 0, [], 0

    def damaged(self, name, offset, cause):
        self.damage.append({"file": name, "offset": offset, "cause": cause})

    def read_entries(self, folder, where="", until=END, below=()):
        """Reads a session up to an entry, behind those that it goes on from. Damage ends the reading."""
        own, place, damage = own_frames(os.path.join(folder, "entries"), where + "entries")
        begin, prev = (own[0].seq, own[0].prev) if own else (1, "0" * 64)
        file = where + "entries/%012d.jsonl" % begin
        if begin > 1:
            fork = own[0].entry.get("from") if own[0].entry["kind"] == "session" else None
            if not fork or fork["seq"] != begin - 1 or fork["sum"] != prev:
                return self.damaged(file, 0, "what must stand before it is missing")
            name, below = fork["session"], below + (os.path.basename(os.path.abspath(folder)),)
            if len(below) > 64 or name in below or not re.fullmatch("[a-z0-9][a-z0-9-]{0,63}", name):
                return self.damaged(file, 0, "it goes on from itself, from too many sessions, or from what is none")
            self.read_entries(os.path.join(folder, "..", name), "../" + name + "/", min(until, begin - 1), below)
        if self.damage:
            return
        if begin <= until + 1 and prev != (self.frames[-1].sum if self.frames else "0" * 64):
            self.frames = []
            return self.damaged(file, 0, "it does not follow the entry before it")
        own = [frame for frame in own if frame.seq <= until]
        self.frames += own
        self.logs += [(os.path.join(folder, "bodies", "literals.log"), where)] * len(own)
        if damage and len(self.frames) < until:
            self.damaged(*damage)
        elif len(self.frames) < until < END:
            self.damaged(*place, "the session ends before the entry from which another one goes on")

    def read_bodies(self, folder):
        logs, gone = {"": Log(os.path.join(folder, "bodies", "literals.log"))}, {"": was_purged(folder)}
        for frame, (name, where) in zip(self.frames, self.logs):
            for ref in bodies([frame]):
                if where not in gone:
                    gone[where] = was_purged(os.path.dirname(os.path.dirname(name)))
                if gone[where]:
                    self.purged += 1
                    continue
                logs[where] = logs.get(where) or Log(name)
                logs[where].refs.append(ref)
        found = [(ref, log.rebuilds(ref)) for log in logs.values() for ref in log.refs]
        self.refs = [ref for ref, rebuilt in found if rebuilt != "purged"]
        self.rebuilt = sum(rebuilt is True for _, rebuilt in found)
        self.purged += len(found) - len(self.refs)
        for at, cause in [] if gone[""] else logs[""].all_damage(self.runs()):
            self.damaged("bodies/literals.log", at, cause)

    def runs(self):
        """What entries say is gone of the session's own literal text: addresses. It was another log's before an import."""
        gone = set()
        for frame, (_, where) in zip(self.frames, self.logs):
            if where == "" and frame.entry["kind"] == "purged":
                gone.update(at for run in frame.entry.get("runs", ()) for at in range(run["at"], run["at"] + run["bytes"]))
            elif frame.entry["kind"] == "imported" and "body" not in frame.entry:
                gone.clear()
        return gone

    def read_export(self, name):
        there, gone, at = set(), set(), 0
        for line in open(name, "rb"):
            cause = "no line end"
            if line.startswith(b'{"body":'):
                try:
                    b = json.loads(line)
                    text = base64.b64decode(b["base64"]) if "base64" in b else b.get("text", "").encode()
                    ok = b.get("purged") or len(text) == b["body"]["bytes"] and sha256(text) == b["body"]["sha256"]
                    cause = None if ok else "the body is not what its name says"
                    (gone if b.get("purged") else there).add(json.dumps(b["body"]))
                except (ValueError, KeyError, TypeError) as err:
                    cause = str(err)
            elif line.endswith(b"\n"):
                frame, last = whole(line[:-1]), self.frames[-1] if self.frames else Frame(0, False, "", None, "0" * 64)
                follows = frame and frame.seq == last.seq + 1 and frame.prev == last.sum
                self.frames += [frame] if follows else []
                cause = None if follows else "it does not follow the entry before it"
            if cause:
                return self.damaged(name, at, cause)
            at += len(line)
        self.refs = [ref for ref in bodies(self.frames) if json.dumps(ref) not in gone]
        self.purged = len(bodies(self.frames)) - len(self.refs)
        self.rebuilt = sum(json.dumps(ref) in there for ref in self.refs)


class Log:
    """A session's bodies."""

    def __init__(self, name):
        self.records, self.again, self.damage, self.refs, literal, at, lost = {}, {}, [], [], 0, 0, False
        self.data = open(name, "rb").read() if os.path.exists(name) else b""
        while at < len(self.data):
            r = self.header(at)
            if r and (lost or self.follows(r, literal)):
                if r["end"] > len(self.data):
                    break  # interrupted
                if r["again"]:  # it stands in the place of another
                    self.again.setdefault(r["start"], []).insert(0, (at, r))
                    at, lost = r["end"], False
                    continue
                self.records[at], literal, at, lost = r, r["start"] + r["literal"], r["end"], False
            elif not any(self.data[at + HEADER - 1:]):
                break  # interrupted
            else:
                self.damage.append((at, "not a record"))
                found = (self.header(m.start()) and m.start() for m in re.finditer(b"AMB[12]", self.data) if m.start() > at)
                heads = ((i, self.header(i)) for i in found if i)
                sound = (i for i, h in heads if (h["again"] or h["start"] >= literal) and h["end"] <= len(self.data))
                at, lost = next(sound, len(self.data)), True
        for at, r in self.records.items():
            r["text"], r["holes"] = self.text(at, r), set()
            for where, other in self.again.get(r["start"], ()) if r["literal"] else ():  # the newest that is whole
                same = all(other[k] == r[k] for k in ("literal", "size", "sum"))
                text = self.text(where, other) if same else None
                if text is not None:
                    r["text"], r["holes"] = split(text, r)
                    break
        self.rows = list(self.records.values())
        self.held = {(r["size"], r["sum"].hex()): at for at, r in reversed(self.records.items())}
        self.starts = [r["start"] for r in self.rows]

    @staticmethod
    def follows(r, literal):
        end = r["start"] + r["literal"]
        return r["literal"] > 0 and end <= literal if r["again"] else r["start"] == literal

    def text(self, at, r):
        payload = self.data[at + HEADER:r["end"]]
        text = decompress(payload, r["literal"] + r["extents"]) if crc32c(payload) == r["crc"] else b""
        return text if len(text) == r["literal"] + r["extents"] else None

    def all_damage(self, runs):
        """The damage, with that of payloads; the last one may be an append that was interrupted."""
        relied = {self.place(ref) for ref in self.refs} | set(list(self.records)[:-1])
        bad = [at for at, r in self.records.items() if r["text"] is None and at in relied]
        unsaid = [(at, "no entry says that text is gone") for at, r in self.records.items() if r["holes"] - runs]
        return self.damage + [(at, "the payload is not what was written") for at in bad] + unsaid

    def header(self, at):
        head = self.data[at:at + HEADER]
        if len(head) < HEADER or head[:4] not in (b"AMB1", b"AMB2") or crc32c(head[:68]) != struct.unpack_from("<I", head, 68)[0]:
            return None
        r = dict(zip(("payload", "start", "literal", "extents", "size", "sum", "crc"), struct.unpack_from("<IQIIQ32sI", head, 4)))
        return {"end": at + HEADER + r["payload"], "again": head[:4] == b"AMB2", **r}

    def place(self, ref):
        """Where the body's record is: at its place or, where another one's or none is, wherever one has the body."""
        r = self.records.get(ref["at"])
        what = ref["bytes"], ref["sha256"]
        return ref["at"] if r and (r["size"], r["sum"].hex()) == what else self.held.get(what)

    def rebuilds(self, ref):
        r = self.records.get(self.place(ref))
        if not r or r["text"] is None:
            return False
        body, at, codes = b"", r["start"], varints(r["text"][r["literal"]:])
        for delta, length in zip(codes, codes):
            at += delta >> 1 ^ -(delta & 1)
            part, purged = self.literal(at, length)
            if purged:
                return "purged"
            body, at = body + part, at + length
        return len(body) == ref["bytes"] and sha256(body) == ref["sha256"]

    def literal(self, start, length):
        out, i = b"", bisect.bisect_right(self.starts, start) - 1
        while i >= 0 and i < len(self.rows) and len(out) < length and self.rows[i]["text"] is not None:
            row, first = self.rows[i], start + len(out)
            skip, i = first - row["start"], i + 1
            part = row["text"][:row["literal"]][skip:skip + length - len(out)]
            if not row["holes"].isdisjoint(range(first, first + len(part))):
                return out, True
            out += part
        return out, False


def bodies(frames):
    entries = (frame.entry for frame in frames)
    return [e[member] for e in entries for member in BODIES.get(e["kind"], ()) if member in e]


def split(text, r):
    """The text of a record without what another in its place says behind it: the addresses of what is gone."""
    end, codes, size, at, holes = r["literal"], varints(text[r["literal"]:], True), 0, r["start"], set()
    while size < r["size"]:
        (_, _), (length, end) = next(codes), next(codes)
        size += length
    end = r["literal"] + (end if size else 0)
    for (delta, _), (length, _) in zip(codes, codes):
        at += delta >> 1
        holes.update(range(at, at + length))
        at += length
    return text[:end], holes


def varints(data, places=False):
    value = shift = 0
    for i, byte in enumerate(data):
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            yield (value, i + 1) if places else value
            value = shift = 0


def main(name, export=None):
    s = Session()
    if export:
        s.read_export(export)
    else:
        s.read_entries(name)
        s.read_bodies(name)
    sound = not s.damage and s.rebuilt == len(s.refs)
    counts = {"entries": len(s.frames), "bodies": len(s.refs), "rebuilt": s.rebuilt, "purged": s.purged}
    print(json.dumps({**counts, "sound": sound, "damage": s.damage}))
    sys.exit(not sound)


main(*sys.argv[1:])
