"""Counts the features of the text on standard input, as token.Of does: one line, in the order of its constants."""
import re
import sys

text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
words = list(re.finditer(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text))
capitals = [w for w in words if len(w[0]) > 1 and w[0].isupper()]
white = re.findall(r"[ \t\r\n]+", text)
newlines = [len(re.findall(r"[\r\n]", w)) for w in white]
spaces = [w.count(" ") for w in white if w.count(" ") > 1]
marks = re.findall(r"[^A-Za-z0-9 \t\r\n\u0080-\U0010ffff]+", text)
signs = [(1 if "\udc80" <= c <= "\udcff" else len(c.encode()), c) for c in text if c > "\x7f"]
three = sum(n == 3 and c.isalpha() for n, c in signs)
print(
    len(words), sum(max(0, len(w[0]) - 4) for w in words), sum(text[w.start() - 1: w.start()] != " " for w in words),
    sum(len(w[0]) for w in capitals), sum((len(d) + 2) // 3 for d in re.findall(r"[0-9]+", text)),
    len(marks), sum(map(len, marks)), sum(n > 0 for n in newlines), sum(max(0, n - 1) for n in newlines),
    len(spaces), sum(spaces), text.count("\t"), sum(n == 2 for n, _ in signs),
    sum(n in (1, 3) for n, _ in signs) - three, three, sum(n == 4 for n, _ in signs))
