"""Counts again what ambit replay --dump DIR wrote, by docs/format/dump.md and nothing else: recount.py DIR [REPLAY.json].
It prints where it comes to something else than the dump, or than the output of --json, and exits 1 if it does."""
import collections, datetime, json, os, re, sys
READ_LIMIT, RECALL_OUTPUT, PINS, QUOTE, PIECE, MAX_SHOWN, PIN, BEGIN = 32 << 10, 100, 5, 40, 20, 20, "Pinned rule ", "(The recording begins here.)"
PLACEHOLDER = re.compile(r"\[result of .* left out: \d+ bytes, recall (?P<ref>\S+)\]|.*\[Ambit left out .* recall (?P<own>\S+) with .*\].*", re.S)
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
Block = collections.namedtuple("Block", "role kind id mark said key")  # of a body; None stands for what is sent before its messages
def load(data):  # an object that has a name twice becomes the list of its names and values
    once = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else [x for pair in pairs for x in pair]
    return json.loads(data.decode("utf-8", "surrogateescape"), object_pairs_hook=once)
def leaves(v):  # the names and strings of a value, in order
    if isinstance(v, str):
        return [re.sub("[\ud800-\udfff]", "\ufffd", v)] if v else []
    return [s for x in (v if isinstance(v, list) else sum(v.items(), ()) if isinstance(v, dict) else ()) for s in leaves(x)]
def flat(v, at=""):  # the members of a value that have none, by their path
    pairs = v.items() if isinstance(v, dict) else [*enumerate(v), ("length", len(v))] if isinstance(v, list) else []
    return [x for k, y in pairs for x in flat(y, f"{at}.{k}".lstrip("."))] if pairs else [(at, v)]
def block(role, b, known={}):
    call, mark = b["type"] == "tool_use", "cache_control" in b
    key = role, b["type"], b.get("id", b.get("tool_use_id")), b["name"] + json.dumps(b["input"]) if call else b.get("text", b.get("content"))
    if key not in known: known[key] = [b["name"]] + leaves(b["input"]) if call else [key[3]]
    return Block(*key[:3], mark, known[key], key)
def features(text):
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    words, white = list(re.finditer(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)), re.findall(r"[ \t\r\n]+", text)
    lines, spaces = ([n for w in white if (n := sum(map(w.count, of))) >= least] for of, least in (("\r\n", 1), (" ", 2)))
    marks = re.findall(r"[^A-Za-z0-9 \t\r\n\u0080-\U0010ffff]+", text)
    signs = [(1 if "\ud800" <= c <= "\udfff" else len(c.encode()), c) for c in re.findall("[^\0-\x7f]", text)]
    three = sum(n == 3 and c.isalpha() for n, c in signs)
    return (len(words), sum(max(0, len(w[0]) - 4) for w in words), sum(text[w.start() - 1: w.start()] != " " for w in words),
            sum(len(w[0]) for w in words if len(w[0]) > 1 and w[0].isupper()), sum((len(d) + 2) // 3 for d in re.findall("[0-9]+", text)),
            len(marks), sum(map(len, marks)), len(lines), sum(lines) - len(lines), len(spaces), sum(spaces), text.count("\t"),
            sum(n == 2 for n, _ in signs), sum(n in (1, 3) for n, _ in signs) - three, three, sum(n == 4 for n, _ in signs))
def tokens(counting, kind, said):
    weight = sum(int(sum((w * n for w, n in zip(counting["weights"], features(text))), 0.0) + 0.5) for text in said)
    return int((weight + counting[{"text": "message", "tool_use": "call", "tool_result": "result"}[kind]]) * counting["scale"] + 0.5)
def names(text):
    words = (run.lstrip("-.0123456789").rstrip("-./") for run in re.findall(r"[A-Za-z0-9_./-]+", text))
    return {w for w in words if 8 <= len(w) <= 200 and re.search(r"[/._0-9]|[a-z][A-Z]", w)}
class Evidence:  # what was said in a conversation so far
    def __init__(self): self.results, self.pieces, self.named, self.used, self.said, self.taken, self.answered = [], {}, {}, [], set(), set(), []
    def take(self, blocks, said):
        self.request, new = {b.key for b in blocks}, [b for b in blocks if b.key not in self.taken and not (b.kind == "text" and b.said[0].startswith((PIN, BEGIN)))]
        self.taken.update(b.key for b in new)
        said = said + [text for b in new if b.kind != "tool_result" for text in b.said]
        self.used += said
        self.said.update(*map(names, said))
        for id, text, key in ((b.id, b.said[0], b.key) for b in new if b.kind == "tool_result"):
            for x in {text[i:i + PIECE] for i in range(0, len(text), PIECE)}: self.pieces.setdefault(x, []).append(len(self.results))
            for x in names(text): self.named.setdefault(x, []).append(len(self.results))
            self.results.append((id, text, key))
    def sent(self, results): return [n for n in results if self.results[n][2] in self.request]
    def quotes(self, line):
        where, at = [self.pieces.get(line[i:i + PIECE], ()) for i in range(len(line))], 0
        while at + QUOTE <= len(line):
            near = self.sent(set().union(*where[at:at + PIECE]))  # in a text that holds so much of the line, one of its pieces begins there
            held = lambda to: any(line[at:to] in self.results[n][1] for n in near)
            if near and held(at + QUOTE):
                to = next((to for to in range(at + QUOTE, len(line)) if not held(to + 1)), len(line))
                yield line[at:to]
                at = to - 1
            at += 1
    def needs(self, answer):  # by text: its kind, and the numbers of the results that hold it
        found = {}
        for text in (s for p in answer if p["type"] == "tool_use" for s in leaves(p.get("input"))):
            for quote in (q for line in text.split("\n") for q in self.quotes(line.strip(WHITE))):
                if quote not in found and not any(quote in s for s in self.used):
                    found[quote] = "quotes", self.sent(n for n, r in enumerate(self.results) if quote in r[1])
            found = {x: ("names", held) for x in names(text) - self.said if (held := self.sent(self.named.get(x, ())))} | found
        return found
class Cache:  # what a provider holds of one conversation; times in nanoseconds
    def __init__(self): self.numbers, self.kept, self.seen, self.asked = {}, {}, {}, {}
    def put(self, held, i, life):
        begins, ends, own = held.get(self.path[i], (self.now, self.now, life))
        held[self.path[i]] = (self.now, self.now + life, life) if self.now >= ends else (min(begins, self.now), self.now + own, own)
    def live(self, held, i): return self.path[i] in held and held[self.path[i]][0] <= self.now < held[self.path[i]][1]
    def send(self, blocks, sizes, rules, hour, now, model, answer):  # how many tokens are read and written
        self.now, self.path, self.totals, family, all = now, [], [], rules["family"], range(len(blocks))
        for b, n in zip(blocks, sizes):
            self.path.append(self.numbers.setdefault((self.path[-1] if self.path else model, b and b.key), len(self.numbers)))
            self.totals.append(n + (self.totals[-1] if self.totals else 0))
        life = rules["life_1h_seconds" if hour else "life_seconds"] * 10**9
        if family in ("anthropic", "openai-marked"):
            return self.marked(blocks, sizes, rules, life, family != "anthropic")
        for i in (i for i in all if family.startswith("deepseek") and self.path[i] in self.asked):  # its answer was kept when it came
            then, told = self.asked[self.path[i]]
            said = [j for j in range(i + 1, len(blocks)) if [b.said for b in blocks[i + 1:j + 1]] == told[:j - i]]
            for where, j in [(self.seen, j) for j in said] if family == "deepseek" else [(self.kept, said[-1])] if len(said) == len(told) > 0 else []:
                if self.path[j] not in where: where[self.path[j]] = (then, then + life, life)
        both, self.asked[self.path[-1]] = next((i for i in all if not self.live(self.seen, i)), len(blocks)) - 1, (now, answer)  # the last that was there
        held = [i for i in all if self.live(self.kept, i)][-1:] if family == "deepseek-units" else [both] * (both >= 0)
        for where, i in [(self.kept, i) for i in {*held, both, len(blocks) - 1} - {-1}] + [(self.seen, i) for i in all]:  # units end at the first
            self.put(where, i, life)
        read = (self.totals[held[0]] if held and family in ("openai", "gemini", "deepseek", "deepseek-units") else 0) // (step := rules["granularity"] or 1) * step
        return read if read >= rules["min_tokens"] else 0, 0
    def marked(self, blocks, sizes, rules, life, implicit):
        marks, places = [i for i, b in enumerate(blocks) if sizes[i] and (not b or b.mark)], range(len(blocks))
        if implicit:  # it marks what was said last by itself, and looks only at such places
            marks, places = sorted({*marks, *(awaited := [i for i, b in enumerate(blocks) if b and b.role == "user" and sizes[i]])[-1:]}), {*awaited, *marks}
        marks, found = [i for i in (marks[-4:] if implicit else marks[:4]) if self.totals[i] >= rules["min_tokens"]], -1
        for mark in marks:
            left, run = rules["look_back"], "text"
            for i in (i for i in range(mark, -1, -1) if sizes[i] and i in places):
                kind = blocks[i].kind if blocks[i] else "text"
                left, run = left - (not rules["collapse_runs"] or kind == "text" or kind != run), kind
                if left < 0 or self.live(self.kept, i):
                    break
            found = max(found, i if left >= 0 and self.live(self.kept, i) else -1)
        own, read = (self.kept[self.path[found]][2], self.totals[found]) if found >= 0 else (0, 0)
        for i in [found] * (found >= 0) + marks: self.put(self.kept, i, min(life, own) if i <= found else life)
        return read, self.totals[marks[-1]] - read if marks and marks[-1] > found else 0
def usd(price, fresh, read=0, write=0, hour=0, output=0):
    return sum(n * price[k] for n, k in ((fresh, "input"), (read, "cache_read"), (write, "cache_write"), (hour, "cache_write_1h"), (output, "output"))) * 1e-6

class Recount:
    def __init__(self, folder): self.folder, self.turns, self.blind, self.differences = folder, 0, 0, []
    def compare(self, where, got, told):
        told = dict(flat(told))
        for k, v in flat(got):
            if k not in told or abs(v - told[k]) > 1e-9 * abs(v) * isinstance(v, float) if not isinstance(v, str) else v != told.get(k):
                self.differences.append(f"{where} {k}: {v}, not {told.get(k)}")
    def file(self, name):  # counts one recording again; returns, by policy, what the turns come to that are compared
        rows, self.floor, self.refs, self.evidence, self.sizes, read = {}, {}, {}, {}, {}, lambda *at: open(os.path.join(self.folder, name, *at), "rb")
        told = {p: [load(line) for line in read(p, "turns.jsonl")] for p in sorted(os.listdir(os.path.join(self.folder, name)))}
        spans = {t: min(sum(x["thread"] == t for x in lines) for lines in told.values()) for t in {x["thread"] for x in sum(told.values(), [])}}
        for policy in sorted(told, key=lambda p: p != "append_only"):
            caches, rows[policy] = {t: (Cache(), []) for t in spans}, []
            for line in told[policy]:
                cache, before = caches[line["thread"]]
                blocks = [block(m["role"], b) for m in load(read(policy, line["file"]).read())["messages"] for b in m["content"]]
                got, more = self.charge(line, blocks, cache, before)
                got |= self.show(line, blocks, policy == "append_only", got["input_tokens"]) | {"compared": len(before) <= spans[line["thread"]]}
                self.compare(f"{name} {policy} turn {line['n']}", got, line)
                self.turns += 1
                rows[policy] += [got | more | {"lost": got["pins"] - got["pins_held"]}] * got["compared"]
        return rows
    def charge(self, line, blocks, cache, before):
        sizes, price = self.sizes.setdefault(line["thread"], {}), line["usd_per_million_tokens"]
        sizes |= {b.key: tokens(line["counting"], b.kind, b.said) for b in blocks if b.key not in sizes}
        sizes = [line["counting"]["head_tokens"]] + [sizes[b.key] for b in blocks]
        second, rest, zone = re.fullmatch(r"(.{19})(?:\.(\d+))?(Z|[+-].*)", line["time"]).groups("")
        now = int(datetime.datetime.fromisoformat(second + zone.replace("Z", "+00:00")).timestamp()) * 10**9 + int(rest.ljust(9, "0"))
        hour = line["head_mark"] == "1h" and line["rules"]["life_1h_seconds"] > 0
        read, write = cache.send([None] + blocks, sizes, line["rules"], hour, now, line["model"], [block("assistant", {"id": ""} | p).said for p in line["answer"]])
        (path, last), fresh, parts = before[-1] if before else ([], 0), sum(sizes) - read - write, (0, write) if hour else (write, 0)
        before.append((cache.path, sum(sizes)))
        kept = sum(n for n, a, b in zip(sizes, cache.path, path) if a == b)  # a prefix's number tells all that is before
        return ({"input_tokens": sum(sizes), "fresh_tokens": fresh, "cache_read_tokens": read, "cache_write_tokens": parts[0],
                 "cache_write_1h_tokens": parts[1], "input_cost_usd": usd(price, fresh, read, *parts)},
                {"kept": kept, "before": last, "output_tokens": line["output_tokens"], "output_usd": usd(price, 0, output=line["output_tokens"])})
    def show(self, line, blocks, whole, context):  # what was needed, and what of it the request shows
        had, at, e = {b.key for b in blocks}, (t := line["thread"], line["n"]), self.evidence.setdefault(t, Evidence())
        if whole:
            e.take(blocks, line["said"] + e.answered)
            e.answered = [s for p in line["answer"] for s in leaves([p.get("text"), p.get("name"), p.get("input")])]
            self.floor[at] = e.needs(line["answer"]), had, [b.key for b in blocks if b.kind == "text" and b.said[0].startswith(PIN)]
        self.blind += at not in self.floor
        if at not in self.floor: return {k: line[k] for k in ("quotes", "names", "recalls", "pins", "pins_held")}
        needs, all, pins = self.floor[at]
        out = {b.id: m["ref"] or m["own"] for b in blocks if b.kind == "tool_result" and b.key not in all and (m := PLACEHOLDER.fullmatch(b.said[0]))}
        written = {w.rstrip("-./") for b in blocks if b.key not in all for w in re.findall(r"[A-Za-z0-9_./-]+", b.said[0])}
        self.refs |= {(t, id): ref for id, ref in out.items()}
        ref, said = lambda n: self.refs.get((t, e.results[n][0]), e.results[n][0]), "\n".join(s for b in blocks for s in b.said)
        lost, got = {}, {"recalls": []} | {k: {"needed": 0, "visible": 0, "recalled": 0} for k in ("quotes", "names")}
        for text, (kind, held) in needs.items():
            visible = any(e.results[n][2] in had for n in held) or text in said
            got[kind] = {"needed": got[kind]["needed"] + 1, "visible": got[kind]["visible"] + visible, "recalled": 0}
            if not visible:
                lost.setdefault(ref(held[-1]), (held[-1], []))[1].append((kind, text))
        for name, (_, texts) in sorted(lost.items(), key=lambda x: x[1][0]):
            reads = [r[1].encode("utf-8", "surrogatepass")[:READ_LIMIT] for n, r in enumerate(e.results) if ref(n) == name]
            found, reads = name in out.values() or name in written, [r.decode("utf-8", "ignore") for r in reads]
            for kind, text in texts: got[kind]["recalled"] += found and any(text in r for r in reads)
            excerpt = sum(tokens(line["counting"], "tool_result", [r]) for r in reads)
            got["recalls"].append({"found": found, "context_tokens": context, "excerpt_tokens": excerpt, "output_tokens": RECALL_OUTPUT, "cost_usd": usd(
                line["usd_per_million_tokens"], 0, context, excerpt, 0, RECALL_OUTPUT)} | ({"ref": name} if name in self.refs.values() else {}))
        return got | {"pins": len(pins), "pins_held": sum(p in had for p in pins)}
def total(rows):
    s, recalls = lambda *keys: sum(r[k] for r in rows for k in keys), [x["cost_usd"] for r in rows for x in r["recalls"]]
    return {"input_tokens": s("input_tokens"), "cache_read_tokens": s("cache_read_tokens"), "output_tokens": s("output_tokens"), "recalls": len(recalls),
            "cache_write_tokens": s("cache_write_tokens", "cache_write_1h_tokens"), "input_cost_usd": s("input_cost_usd"), "recall_cost_usd": sum(recalls),
            "cost_usd": s("input_cost_usd", "output_usd") + sum(recalls), "cache_hit_rate": s("cache_read_tokens") / (s("input_tokens") or 1),
            "prefix_reuse": s("kept") / (s("before") or 1),
            "evidence": {k: {w: sum(r[k][w] for r in rows) for w in ("needed", "visible", "recalled")} for k in ("quotes", "names")}}
def main(folder, replay=None):
    r, all, kept, told = Recount(folder), {}, {}, json.load(open(replay)) if replay else {"files": [], "totals": []}
    left = set(rows := {name: r.file(name) for name in sorted(os.listdir(folder))})
    for f in told["files"]:
        base = os.path.basename(f["path"])
        left.remove(name := next(n for n in [base] + [f"{base}-{n}" for n in range(2, 999)] if n in left))
        for p in f["policies"]:
            got = rows[name][p["policy"]]
            pins = {"total": PINS, "kept": PINS - max(x["lost"] for x in got)} if got else {"total": 0, "kept": 0}
            r.compare(f"{name} {p['policy']}", total(got) | {"pins": pins}, p)
            all[p["policy"]], kept[p["policy"]] = all.get(p["policy"], []) + got, kept.get(p["policy"], 0) + pins["kept"]
    for p in told["totals"]:
        r.compare(f"all {p['policy']}", total(all[p["policy"]]) | {"pins": {"kept": kept[p["policy"]]}}, p)
    print(*r.differences[:MAX_SHOWN], f"{len(rows)} files, {r.turns} turns, {r.blind} beyond append_only: {len(r.differences)} differences", sep="\n")
    return 1 if r.differences else 0

sys.exit(main(*sys.argv[1:]))
