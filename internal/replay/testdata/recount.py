"""Counts again what ambit replay --dump DIR wrote, by docs/format/dump.md alone: recount.py DIR [REPLAY.json]. It prints the
first differences, what it counted before what the dump or the output of --json says, and exits 1 when there are any."""
import json, os, re, sys
from datetime import datetime

READ_LIMIT, RECALL_OUTPUT, PINS, QUOTE, PIECE = 64 << 10, 100, 5, 40, 20
MARKED, PREFIXED = ("anthropic", "openai-marked"), ("openai", "gemini", "deepseek")
BEGIN, PIN = "(The recording begins here.)", "Pinned rule "
PLACEHOLDER = re.compile(r"\[result of .* left out: \d+ bytes, recall (\S+)\]", re.S)
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def load(data):  # an object that has a name twice becomes the list of its names and values
    once = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else [x for pair in pairs for x in pair]
    return json.loads(data.decode("utf-8", "surrogateescape"), object_pairs_hook=once)


def leaves(v):  # the names and strings of a value, in order
    if isinstance(v, str):
        return [re.sub("[\ud800-\udfff]", "\ufffd", v)] if v else []
    return [s for k, x in v.items() for s in leaves(k) + leaves(x)] if isinstance(v, dict) else [s for x in v for s in leaves(x)] if isinstance(v, list) else []


def features(text):
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    words = list(re.finditer(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text))
    white = re.findall(r"[ \t\r\n]+", text)
    lines = [n for w in white if (n := w.count("\r") + w.count("\n"))]
    spaces = [n for w in white if (n := w.count(" ")) > 1]
    marks = re.findall(r"[^A-Za-z0-9 \t\r\n\u0080-\U0010ffff]+", text)
    signs = [(1 if "\ud800" <= c <= "\udfff" else len(c.encode()), c) for c in re.findall("[^\0-\x7f]", text)]
    three = sum(n == 3 and c.isalpha() for n, c in signs)
    return (len(words), sum(max(0, len(w[0]) - 4) for w in words), sum(text[w.start() - 1: w.start()] != " " for w in words),
            sum(len(w[0]) for w in words if len(w[0]) > 1 and w[0].isupper()), sum((len(d) + 2) // 3 for d in re.findall("[0-9]+", text)),
            len(marks), sum(map(len, marks)), len(lines), sum(lines) - len(lines), len(spaces), sum(spaces), text.count("\t"),
            sum(n == 2 for n, _ in signs), sum(n in (1, 3) for n, _ in signs) - three, three, sum(n == 4 for n, _ in signs))


def weigh(counting, kind, texts):  # tokens of a block
    weight = sum(int(sum((w * n for w, n in zip(counting["weights"], features(t))), 0.0) + 0.5) for t in texts)
    return int((weight + counting[{"text": "message", "tool_use": "call", "tool_result": "result"}[kind]]) * counting["scale"] + 0.5)


class Block:  # of a body; head stands for what a body leaves out
    known = {}

    def __init__(self, role, b):
        self.role, self.kind = role, b["type"]
        self.mark = (3600 if b["cache_control"].get("ttl") == "1h" else 300) if "cache_control" in b else 0
        said = {"text": lambda: b["text"], "tool_result": lambda: b["content"], "tool_use": lambda: b["name"] + json.dumps(b["input"])}[self.kind]()
        self.id = b.get("id") or b.get("tool_use_id", "")
        self.key = self.role, self.kind, self.id, said
        if self.key not in Block.known:
            Block.known[self.key] = [b["name"]] + leaves(b["input"]) if self.kind == "tool_use" else [said]
        self.texts = Block.known[self.key]

    def pinned(self):
        return self.kind == "text" and self.texts[0].startswith(PIN)


def names(text):
    words = (run.lstrip("-.0123456789").rstrip("-./") for run in re.findall(r"[A-Za-z0-9_./-]+", text))
    return {w for w in words if 8 <= len(w) <= 200 and re.search(r"[/._0-9]|[a-z][A-Z]", w)}


class Evidence:  # what was said in a conversation so far
    def __init__(self):
        self.results, self.pieces, self.named, self.used, self.said, self.taken = [], {}, {}, [], set(), set()

    def take(self, blocks, more):
        new = [b for b in blocks if b.key not in self.taken and not b.pinned() and b.texts != [BEGIN]]
        self.taken.update(b.key for b in new)
        more = more + [t for b in new if b.kind != "tool_result" for t in b.texts]
        self.used += more
        self.said.update(*map(names, more))
        for b in (b for b in new if b.kind == "tool_result"):
            n, text = len(self.results), b.texts[0]
            self.results.append((b.key, text))
            for piece in {text[i:i + PIECE] for i in range(0, len(text), PIECE)}:
                self.pieces.setdefault(piece, []).append(n)
            for name in names(text):
                self.named.setdefault(name, []).append(n)

    def quotes(self, line):
        where, at = [self.pieces.get(line[i:i + PIECE], ()) for i in range(len(line))], 0
        while at + QUOTE <= len(line):
            near = set().union(*where[at:at + PIECE])  # what holds so much of the line holds one of these pieces
            held = lambda to: any(line[at:to] in self.results[n][1] for n in near)
            to = at + QUOTE
            if near and held(to):
                while to < len(line) and held(to + 1):
                    to += 1
                yield line[at:to]
                at = to
            else:
                at += 1

    def needs(self, answer):  # (kind, text, numbers of the results that hold it)
        found = {}
        for text in (s for p in answer if p["type"] == "tool_use" for s in leaves(p.get("input"))):
            for quote in (q for line in text.split("\n") for q in self.quotes(line.strip(WHITE))):
                if quote not in found and not any(quote in s for s in self.used):
                    found[quote] = "quotes", quote, [n for n, r in enumerate(self.results) if quote in r[1]]
            for name in names(text) - self.said:
                if name in self.named and name not in found:
                    found[name] = "names", name, self.named[name]
        return list(found.values())


class Cache:  # what a provider holds of one conversation; times in nanoseconds
    def __init__(self):
        self.numbers, self.kept, self.seen = {}, {}, {}

    def put(self, held, prefix, now, life):
        begins, ends, own = held.get(prefix, (now, now, life))
        held[prefix] = (now, now + life, life) if now >= ends else (min(begins, now), now + own, own)

    def send(self, blocks, sizes, rules, head, now, model):
        """Returns how many tokens are read, written and written for an hour, and the numbers of the prefixes."""
        path, totals, family, life = [], [], rules["family"], rules["life_seconds"] * 10**9
        for b, n in zip(blocks, sizes):
            path.append(self.numbers.setdefault((path[-1] if path else model, b and b.key), len(self.numbers)))
            totals.append(n + (totals[-1] if totals else 0))
        live = lambda held, i: path[i] in held and held[path[i]][0] <= now < held[path[i]][1]
        floor = lambda n: n - n % max(1, rules["granularity"]) if n - n % max(1, rules["granularity"]) >= rules["min_tokens"] else 0
        if family in MARKED:
            return *self.marked(blocks, sizes, rules, head, now, path, totals, live), path
        common = lambda held: next((i for i in range(len(path)) if not live(held, i)), len(path))
        if family in PREFIXED:
            n = common(self.kept)
            for p in path:
                self.put(self.kept, p, now, life)
            return floor(totals[n - 1]) if n else 0, 0, 0, path
        if family != "deepseek-units":
            return 0, 0, 0, path
        n, units = common(self.seen), [i for i in range(len(path)) if live(self.kept, i)][-1:]
        for i in units + [n - 1] * (n > 0) + [len(path) - 1]:
            self.put(self.kept, path[i], now, life)
        for p in path:
            self.put(self.seen, p, now, life)
        return floor(totals[units[0]]) if units else 0, 0, 0, path

    def marked(self, blocks, sizes, rules, head, now, path, totals, live):
        asked = {i: b.mark if b else head for i, b in enumerate(blocks) if sizes[i] and (b.mark if b else head)}
        places = range(len(blocks))
        if rules["family"] != "anthropic":  # it sets a mark of its own behind what was said last, and looks only at such places
            awaited = [i for i, b in enumerate(blocks) if b and b.role == "user" and sizes[i]]
            places = set(awaited) | set(asked)
            asked = {i: 0 for i in awaited[-1:]} | asked
        marks = sorted(asked)[:4] if rules["family"] == "anthropic" else sorted(asked)[-4:]
        marks = [i for i in marks if totals[i] >= rules["min_tokens"]]
        long = lambda i: asked[i] > rules["life_seconds"] and rules["life_1h_seconds"] > 0
        found, own = -1, 0
        for mark in marks:
            left, run = rules["look_back"], ""
            for i in (i for i in range(mark, -1, -1) if sizes[i] and i in places):
                kind = blocks[i].kind if blocks[i] and blocks[i].kind != "text" else ""
                left, run = left - (not (rules["collapse_runs"] and kind and kind == run)), kind
                if left < 0 or live(self.kept, i):
                    found = max(found, i if left >= 0 else -1)
                    break
        if found >= 0:
            own = self.kept[path[found]][2]
            self.put(self.kept, path[found], now, own)
        for i in marks:
            life = rules["life_1h_seconds" if long(i) else "life_seconds"] * 10**9
            self.put(self.kept, path[i], now, min(life, own) if i <= found else life)
        read = totals[found] if found >= 0 else 0
        written = totals[marks[-1]] - read if marks and marks[-1] > found else 0
        return (read, 0, written) if marks and long(marks[-1]) else (read, written, 0)


def usd(price, fresh, read, write, hour, output=0):
    return (fresh * price["Input"] + read * price["Read"] + write * price["Write"] + hour * price["WriteHour"] + output * price["Output"]) * 1e-6


def differs(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return any(k not in b or differs(v, b[k]) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) != len(b) or any(map(differs, a, b))
    return abs(a - b) > 1e-9 * abs(b) if isinstance(b, float) and isinstance(a, (int, float)) else a != b


class Recount:
    def __init__(self, folder):
        self.folder, self.turns, self.differences = folder, 0, []

    def compare(self, where, got, told):
        for k, v in got.items():
            if k not in told or differs(v, told[k]):
                self.differences.append("%s: %s %s, not %s" % (where, k, json.dumps(v), json.dumps(told.get(k))))

    def file(self, name):
        """Counts one recording again and returns the sums of its policies. It is append_only that shows what was needed."""
        folder, sums, self.floor, self.refs, self.evidence = os.path.join(self.folder, name), {}, {}, {}, {}
        told = {p: [load(line) for line in open(os.path.join(folder, p, "turns.jsonl"), "rb")] for p in os.listdir(folder)}
        threads = {p: [line["thread"] for line in lines] for p, lines in told.items()}
        for policy, lines in sorted(told.items(), key=lambda p: (p[0] != "append_only", p[0])):
            caches, last, done, total = {}, {}, {}, {"input_tokens": 0, "prefix": [0, 0], "kept": PINS, "pins": 0}
            for line in lines:
                thread, got = line["thread"], {}
                body = load(open(os.path.join(folder, policy, line["file"]), "rb").read())
                blocks = [Block(m["role"], b) for m in body["messages"] for b in m["content"]]
                prefix = self.charge(line, blocks, caches.setdefault(thread, Cache()), last, got)
                self.show(line, blocks, got, policy == "append_only")
                done[thread] = done.get(thread, 0) + 1
                got["compared"] = done[thread] <= min(t.count(thread) for t in threads.values())
                self.compare("%s %s turn %d" % (name, policy, line["n"]), got, line)
                self.turns += 1
                if got["compared"]:
                    add(total, {"output_tokens": line["output_tokens"], "prefix": prefix, "recalled": got.get("recalls", [])} | got)
            sums[policy] = total
        return sums

    def charge(self, line, blocks, cache, last, got):
        sizes = [line["counting"]["head_tokens"]] + [self.tokens(b, line) for b in blocks]
